# The public names: __init__.py loads each from the module given here when it is first used.
from .analysis.correlation import rewrite as rewrite
from .analysis.cross_table import cross_table as cross_table
from .analysis.expression import Prepared as Prepared
from .analysis.expression import prepare as prepare
from .analysis.modules import find_modules as find_modules
from .analysis.pipeline import analyse as analyse
from .analysis.result import Coexpression as Coexpression
from .analysis.result import CrossTable as CrossTable
from .analysis.result import Differential as Differential
from .analysis.result import GroupResult as GroupResult
from .analysis.store import Store as Store
from .analysis.two_sample import leading_difference as leading_difference
