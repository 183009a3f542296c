"""Folded concave penalties: what a large entry of X costs does not grow with it, so it is not shrunk.

Ω(X) = alpha·Σ h(|X_ij|), h concave with slope 1 at zero and slope 0 from some size on. That is no convex problem. It is
solved by convex steps: at the last X each h is replaced by its tangent, which lies above it, so that

    w_ij = alpha·h'(|X_ij|)

is a weighted ℓ₁ penalty, and a step that does not lower its objective does not lower ⟨S, X⟩ − Ω(X) either.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from fantope.checks import check_nonnegative, check_whole
from fantope.errors import InputError
from fantope.penalties.weighted import WeightedL1
from fantope.typing import Array, IntArray

HALF = 0.5  # of the typical leverage: entries from there on are not shrunk. 0.25 kept noise, 1 lost variables.
START = 0.4  # of alpha, up to FEW variables. A start that is too sparse is never mended; 0.3 to 0.5 are as good.
FEW, SLOPE = 200, 0.185  # per unit of log p beyond: noise on more entries would win from START (p = 20,000)
SCAD_A = 3.7  # Fan and Li (2001)


def start_share(size: int) -> float:
    """Return the share of alpha at which to start with ``size`` variables."""
    return START + SLOPE * max(0.0, float(np.log(size / FEW)))


class Concave(ABC):
    """A folded concave penalty, its convex steps and where they start.

    Parameters
    ----------
    alpha : float
        0 or larger: the slope at zero.
    b : float, optional
        |X_ij| from which on an entry is not shrunk at all. By default half of the leverage that is typical of the
        component: see :meth:`widths`.
    steps : int, default 3
        Convex steps after the start.
    start : float, optional
        alpha of the ℓ₁ problem to start from. By default 0.4·alpha, and more with more than 200 variables, up to alpha.
    between : float, default 0
        A relative gap that is enough for all steps but the last, if it is above the tolerance. They set nothing but the
        weights of the next step.
    """

    def __init__(
        self, alpha: float, b: float | None = None, steps: int = 3, start: float | None = None, *, between: float = 0.0
    ) -> None:
        self.alpha = check_nonnegative("alpha", alpha)
        self.b = None if b is None else check_nonnegative("b", b, positive=True)
        self.start = None if start is None else check_nonnegative("start", start)
        self.steps = check_whole("steps", steps, 1)
        self.between = check_nonnegative("between", between)

    @abstractmethod
    def slope(self, ratio: Array) -> Array:
        """Return h' of entries that are ``ratio`` times b: from 1 at zero to 0 at 1."""

    @abstractmethod
    def height(self, ratio: Array) -> Array:
        """Return h/b of entries that are ``ratio`` times b."""

    def scaled(self, alpha: float) -> Self:
        """Return the same penalty with another alpha."""
        new = type(self).__new__(type(self))
        vars(new).update(vars(self), alpha=check_nonnegative("alpha", alpha))
        return new

    def started(self, start: float) -> Self:
        """Return the same penalty with another start."""
        new = self.scaled(self.alpha)
        new.start = check_nonnegative("start", start)
        return new

    def start_alpha(self, size: int) -> float:
        """Return alpha of the ℓ₁ problem to start from, for ``size`` variables."""
        if self.start is not None:
            return self.start
        return self.alpha * min(1.0, start_share(size))

    def widths(self, X: Array, rows: IntArray, size: int) -> Array:
        """Return b_i for each variable, of which b_ij = √(b_i b_j) follow; ``X`` is zero but on ``rows``.

        With ℓ the leverages X_ii, Σ_j X_ij² ℓ_j / Σ_j X_ij² is the leverage that is typical of the component that i
        takes part in: for a single one Σℓ²/Σℓ, 1/k if it has k equal loadings. Half of it is b_i.
        """
        if self.b is not None:
            return np.full(size, self.b)
        leverage, squares = X.diagonal(), X**2
        found = np.full(size, HALF * float(leverage @ leverage) / float(leverage.sum()))
        found[rows] = HALF * (squares @ leverage) / squares.sum(axis=1)
        return found

    def step(self, X: Array, rows: IntArray, widths: Array) -> WeightedL1:
        """Return the weighted ℓ₁ penalty that touches this one at X, zero but on ``rows``."""
        return WeightedL1.on_block(self.alpha, rows, self.slope(self._ratio(X, widths[rows])[0]))

    def value(self, X: Array, widths: Array) -> float:
        """Return Ω(X), with the widths of the variables of X."""
        ratio, b = self._ratio(X, widths)
        return self.alpha * float((b * self.height(ratio)).sum())

    @staticmethod
    def _ratio(X: Array, widths: Array) -> tuple[Array, Array]:
        root = np.sqrt(widths)
        b = np.outer(root, root)
        return np.minimum(np.abs(X) / b, 1.0), b

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = "".join(f", {name}={value:g}" for name, value in vars(self).items() if value and name != "alpha")
        return f"{type(self).__name__}(alpha={self.alpha:g}{given})"


class MCP(Concave):
    """The minimax concave penalty: the slope falls from alpha at zero to nothing at b.

    Ω(X) = alpha·Σ h(|X_ij|), h(x) = x − x²/(2b) up to b, and b/2 from there on.

    Parameters
    ----------
    alpha : float
        0 or larger.
    b : float, optional
        By default from the data: half of the leverage that is typical of each component.
    steps : int, default 3
        Convex steps after the start, each certified over all variables.
    start : float, optional
        alpha of the ℓ₁ problem to start from. By default 0.4·alpha; more with more than 200 variables, up to alpha.
    between : float, default 0
        A relative gap that is enough for all steps but the last, if it is above the tolerance.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(100, 80)
    >>> S = sim.Z.T @ sim.Z / 100
    >>> sol = fantope.solve(S, 2, fantope.penalties.MCP(0.3))
    >>> len(sol.support), len(fantope.solve(S, 2, 0.1).support) > 35
    (35, True)
    >>> [step.gap <= 1e-4 for step in sol.steps]
    [True, True, True]
    """

    def slope(self, ratio: Array) -> Array:
        """Return 1 − ratio."""
        return 1.0 - ratio

    def height(self, ratio: Array) -> Array:
        """Return ratio − ratio²/2."""
        return ratio * (1.0 - 0.5 * ratio)


class SCAD(Concave):
    """Smoothly clipped absolute deviation: slope alpha up to b/a, then falling, and nothing from b on.

    Parameters
    ----------
    alpha : float
        0 or larger.
    a : float, optional
        Above 2; by default 3.7. In a regression the slope begins to fall at |x| = alpha; here, where X has no unit, at
        b/a.
    steps : int, default 3
    b, start, between : float, optional
        As for :class:`MCP`.
    """

    def __init__(
        self, alpha: float, a: float | None = None, steps: int = 3, *, b: float | None = None,
        start: float | None = None, between: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(alpha, b, steps, start, between=between)
        self.a = SCAD_A if a is None else check_nonnegative("a", a)
        if self.a <= 2.0:
            raise InputError(argument="a", expected="a number above 2", got=f"{self.a:g}", remedy="3.7 is usual")

    def slope(self, ratio: Array) -> Array:
        """Return 1 up to 1/a, then a straight line down to 0 at 1."""
        return np.minimum(1.0, (1.0 - ratio) * (self.a / (self.a - 1.0)))

    def height(self, ratio: Array) -> Array:
        """Return the integral of the slope."""
        knot, flat = 1.0 / self.a, 1.0 - 1.0 / self.a
        beyond = 0.5 * (flat - (1.0 - np.maximum(ratio, knot)) ** 2 / flat)
        return np.minimum(ratio, knot) + beyond
