# The public names: __init__.py loads each from the module given here when it is first used.
import typing

from .cardinality import Bracket as Bracket
from .cardinality import BracketCurve as BracketCurve
from .cardinality import cardinality_bracket as cardinality_bracket
from .estimators import OnlineSparsePCA as OnlineSparsePCA
from .estimators import OnlineSparsePrecision as OnlineSparsePrecision
from .estimators import SparsePCA as SparsePCA
from .estimators import SparsePCACV as SparsePCACV
from .estimators import SparsePrecision as SparsePrecision
from .estimators.online_states import load as load
from .graphical import PrecisionSolution as PrecisionSolution
from .graphical import graphical_lasso as graphical_lasso
from .operators import covariance as covariance
from .path import Path as Path
from .path import solve_for_norm as solve_for_norm
from .path import solve_for_size as solve_for_size
from .path import solve_for_variance as solve_for_variance
from .path import solve_path as solve_path
from .problem.certificate import Certificate as Certificate
from .problem.certificate import CertificateError as CertificateError
from .simulation import Simulation as Simulation
from .simulation import simulate as simulate
from .solvers import Record as Record
from .solvers import Solution as Solution
from .solvers import Status as Status
from .solvers import alpha_max as alpha_max
from .solvers import solve as solve

__version__: str

def __getattr__(name: str) -> typing.Any: ...  # the modules, those of applications among them
