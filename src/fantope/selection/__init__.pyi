# The public names: __init__.py loads each from the module given here when it is first used.
from .components import ParallelAnalysis as ParallelAnalysis
from .components import parallel_analysis as parallel_analysis
from .cross_validation import CrossValidation as CrossValidation
from .cross_validation import cross_validate as cross_validate
from .dimension import ComponentNumber as ComponentNumber
from .dimension import select_n_components as select_n_components
from .integrated import IntegratedStability as IntegratedStability
from .integrated import integrated_stability as integrated_stability
from .overlap import Overlap as Overlap
from .overlap import select_by_overlap as select_by_overlap
from .refitting import Refit as Refit
from .refitting import refit as refit
from .shrinkage import shrink_loadings as shrink_loadings
from .stability import Stability as Stability
from .stability import stability_selection as stability_selection
