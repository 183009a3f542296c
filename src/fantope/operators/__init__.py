"""What S is: an array, or a rule over data. Solvers and certificates see one small interface."""

from fantope.operators.base import Covariance
from fantope.operators.data import DataCovariance
from fantope.operators.dense import DenseCovariance
from fantope.operators.factory import covariance
from fantope.operators.pairwise import PairwiseCovariance

__all__ = ["Covariance", "DataCovariance", "DenseCovariance", "PairwiseCovariance", "covariance"]
