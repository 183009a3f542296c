"""Figures of the model, of solutions and of their certificates, and by name those that applications add.

Importing this package does not import matplotlib; calling one of its functions does.
"""

from functools import cache
from typing import Any

from lazy_loader import attach_stub

from fantope import extensions

_load, _, __all__ = attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    for module in _applications() if name.startswith("plot_") and name not in __all__ else ():
        if name in module.__all__:
            return getattr(module, name)
    return _load(name)


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for module in _applications() for name in module.__all__)])


@cache
def _applications() -> list[Any]:
    found = (extensions.find("figures", name) for name in extensions.names("figures"))
    return [module for module in found if module is not None]
