"""Co-expression: modules of genes, what they share with other labellings, what differs between groups of samples."""

from fantope.coexpression.analysis import analyse
from fantope.coexpression.correlation import rewrite
from fantope.coexpression.cross_table import cross_table
from fantope.coexpression.expression import Prepared, prepare
from fantope.coexpression.modules import find_modules
from fantope.coexpression.result import Coexpression, CrossTable, Differential, GroupResult
from fantope.coexpression.store import Store
from fantope.coexpression.two_sample import leading_difference

__all__ = [
    "Coexpression",
    "CrossTable",
    "Differential",
    "GroupResult",
    "Prepared",
    "Store",
    "analyse",
    "cross_table",
    "find_modules",
    "leading_difference",
    "prepare",
    "rewrite",
]
