"""Checks of numbers that every layer makes, and the sentences if they do not hold."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse

from fantope.errors import InputError
from fantope.typing import AnyArray

LARGEST = 1e140  # in magnitude: norms square the entries of S, and safe bounds need norms
VANISHED = 1e-305  # a largest variance below this has lost digits: near 1e-308 numbers have fewer and fewer
IMPUTE = "remove or impute missing values first"


def is_sparse(A: object) -> bool:
    """Return whether A is a scipy.sparse matrix or array."""
    # Not scipy's own function at each place: the type that it narrows to has no methods.
    return bool(scipy.sparse.issparse(A))


def unmasked(argument: str, A: Any) -> Any:
    """Return A without a mask that hides nothing; refuse one that hides values, which NumPy would bring back."""
    if not isinstance(A, np.ma.MaskedArray):
        return A
    hidden = int(np.ma.getmaskarray(A).sum())
    if hidden:
        raise InputError(
            argument=argument, expected="an array without masked values", got=f"{hidden} of them",
            remedy=f"fill them in, for example with {argument}.filled(numpy.nan) for values that are missing",
        )  # fmt: skip
    return A.data


def first_not_finite(A: AnyArray) -> tuple[int, int] | None:
    """Return the row and column of the first entry that is not finite; None if all are."""
    finite = np.isfinite(A)
    if finite.all():
        return None
    row, column = np.argwhere(~finite)[0]
    return int(row), int(column)


def check_finite(
    A: AnyArray, argument: str, names: list[str] | None = None, *, first_row: int = 0, remedy: str = IMPUTE
) -> None:
    """Raise a sentence that names the place of the first entry of a slab, from ``first_row`` on, that is not finite."""
    place = first_not_finite(A)
    if place is not None:
        raise not_finite(argument, float(A[place]), first_row + place[0], place[1], names, remedy)


def not_finite(
    argument: str, value: float, row: int, column: int, names: list[str] | None = None, remedy: str = IMPUTE
) -> InputError:
    """Return the error for one entry."""
    called = f" ({names[column]!r})" if names else ""
    got = f"{value} in row {row}, column {column}{called}"
    return InputError(argument=argument, expected="finite", got=got, remedy=remedy)


def check_whole(argument: str, value: Any, least: int, most: float = np.inf, expected: str = "") -> int:
    """Return a whole number from ``least`` to ``most``; ``expected`` is what the sentence says, if not just that."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or not least <= int(value) <= most:
        expected = expected or f"a whole number, {least} or larger"
        raise InputError(argument=argument, expected=expected, got=repr(value))
    return int(value)


def check_nonnegative(name: str, value: Any, *, positive: bool = False) -> float:
    """Return a finite number ≥ 0 (> 0 if ``positive``)."""
    wanted = "a finite number above 0" if positive else "a finite number, 0 or larger"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputError(argument=name, expected=wanted, got=f"{value!r} ({type(value).__name__})")
    try:
        number = float(value)
    except OverflowError:  # a whole number or fraction beyond double precision
        number = np.inf
    if not np.isfinite(number) or number < 0 or (positive and number == 0):
        raise InputError(argument=name, expected=wanted, got=str(number))
    return number
