"""Convex sparse principal component analysis with duality-gap certificates.

Names load when they are first used, so that ``import fantope`` itself stays light; ``__init__.pyi`` lists them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from lazy_loader import attach_stub

__version__ = "0.2.0"
_load, _, __all__ = attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:  # not Any: typing would take half of the time of `import fantope`
    if name in __all__:
        return _load(name)
    if name in _modules():
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_modules(), "__version__"])


@cache  # a look at the folder takes milliseconds, and every name that is a module asks
def _modules() -> list[str]:
    from pkgutil import iter_modules  # a sixth of what `import fantope` would take

    return [module.name for module in iter_modules(__path__)]
