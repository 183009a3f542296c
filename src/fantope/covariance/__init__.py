"""What S is: solvers and certificates see one small interface."""

from fantope.covariance.base import Covariance
from fantope.covariance.dense import DenseCovariance

__all__ = ["Covariance", "DenseCovariance"]
