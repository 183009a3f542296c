"""Eigenpairs: only the leading ones, warm-started, and who may use which threads."""

from fantope.eigen.lapack import largest_eigenvalues
from fantope.eigen.partial import Eigenspace
from fantope.eigen.threads import all_blas_threads, one_blas_thread, share_out

__all__ = ["Eigenspace", "all_blas_threads", "largest_eigenvalues", "one_blas_thread", "share_out"]
