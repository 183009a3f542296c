# The public names: __init__.py loads each from the module given here when it is first used.
import typing

from .choice import plot_cardinality as plot_cardinality
from .choice import plot_cross_validation as plot_cross_validation
from .choice import plot_scree as plot_scree
from .choice import plot_stability as plot_stability
from .components import plot_biplot as plot_biplot
from .components import plot_loadings_heatmap as plot_loadings_heatmap
from .displays import BiplotDisplay as BiplotDisplay
from .displays import CardinalityDisplay as CardinalityDisplay
from .displays import ConvergenceDisplay as ConvergenceDisplay
from .displays import CrossValidationDisplay as CrossValidationDisplay
from .displays import LeverageDisplay as LeverageDisplay
from .displays import LoadingsDisplay as LoadingsDisplay
from .displays import ScreeDisplay as ScreeDisplay
from .displays import StabilityDisplay as StabilityDisplay
from .path import plot_explained_variance as plot_explained_variance
from .path import plot_leverages as plot_leverages
from .path import plot_path_gaps as plot_path_gaps
from .path import plot_top_loadings as plot_top_loadings
from .solution import plot_convergence as plot_convergence
from .solution import plot_loadings as plot_loadings
from .solution import plot_projection as plot_projection
from .solution import plot_setting as plot_setting

def __getattr__(name: str) -> typing.Any: ...  # the figures of applications
