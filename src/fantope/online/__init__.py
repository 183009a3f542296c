"""Sparse PCA on a stream: Online-T, Online-P, FTL, classical baselines, regret, and state that can be saved."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
