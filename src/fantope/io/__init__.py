"""Files: data in, results out, and results checked again. Solvers know nothing of it."""

from lazy_loader import attach_stub

# On first use: a command that writes a folder must not wait for readers to load.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
