"""Co-expression: modules of genes, what they share with other labellings, what differs between groups of samples.

An application of the library, whole in this folder: ``analysis`` computes, ``io`` reads and writes, ``view``,
``figures`` and ``report`` show, ``tl`` and ``pp`` work on AnnData, ``command`` is ``fantope coexpress``. Nothing in the
library imports it.
"""

from lazy_loader import attach_stub

# On first use: the command's help must not wait for solvers to load.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
