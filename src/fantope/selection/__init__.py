"""Which penalty and how many components: rules that say why they choose what they choose."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
