"""What makes an estimator a step of river's pipelines, whether or not river is installed."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, ClassVar, Self

from sklearn.base import clone


class RiverStep:
    """A transformer of samples that are mappings from feature name to number, as river has them.

    river asks ``isinstance(step, river.base.Transformer)``: the class that inherits from this registers there where
    river is installed (0.13 s of its import). Inheriting from river's class would change what scikit-learn prints.
    """

    _supervised = False
    _is_stochastic = False
    _tags: ClassVar[set[str]] = set()
    _mutable_attributes: ClassVar[set[str]] = set()  # a parameter that changes within a stream has no meaning here

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        try:
            from river.base import Transformer
        except ImportError:
            return
        Transformer.register(cls)

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """Return a copy with the same parameters but for ``new_params``, and what was learnt if it is asked for."""
        copied: Self = deepcopy(self) if include_attributes else clone(self)
        copied.set_params(**(new_params or {}))  # type: ignore[attr-defined]
        return copied

    def _get_params(self) -> dict[str, Any]:
        found: dict[str, Any] = self.get_params()  # type: ignore[attr-defined]
        return found

    def mutate(self, new_attrs: dict[str, Any]) -> None:
        """Refuse, as river's steps do, to change a parameter within a stream."""
        _of_river("mutate", self, new_attrs)

    @property
    def _raw_memory_usage(self) -> int:
        return int(_of_river("_raw_memory_usage", self))

    @property
    def _memory_usage(self) -> str:
        return str(_of_river("_memory_usage", self))

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}

    def _unit_test_skips(self) -> set[str]:
        """Features that come or go are refused, as the state has a fixed size; their first order decides digits."""
        features = {f"check_{what}_features" for what in ("emerging", "disappearing", "radically_disappearing")}
        return {*features, "check_shuffle_features_no_impact"}

    def __or__(self, other: Any) -> Any:
        return _of_river("__or__", self, other)

    def __ror__(self, other: Any) -> Any:
        return _of_river("__ror__", self, other)

    def __add__(self, other: Any) -> Any:
        return _of_river("__add__", self, other)

    def __mul__(self, other: Any) -> Any:
        return _of_river("__mul__", self, other)


def _of_river(name: str, step: RiverStep, *arguments: Any) -> Any:
    """Return what river's own transformers do under that name; an operator is not implemented where there is none."""
    try:
        from river.base import Transformer
    except ImportError:
        return NotImplemented
    found: Any = getattr(Transformer, name)
    return found.__get__(step) if isinstance(found, property) else found(step, *arguments)
