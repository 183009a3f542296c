"""The ℓ₁ norm plus the squared ℓ_{r,r} norm, Online-P's penalty; its prox by one scalar unknown.

With 1/r + 1/q = 1 and W = D − clip(D, ±alpha),

    Ω(X) = alpha‖X‖₁ + ‖X‖²_{r,r}/(2√t),   Ω*(D) = (√t/2)‖W‖²_{q,q}:

⟨W, X⟩ ≤ ‖W‖_q‖X‖_r ≤ (√t/2)‖W‖²_q + ‖X‖²_r/(2√t).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from fantope.errors import require
from fantope.kernels.squared_lr import (
    dual_power_sum,
    dual_powers,
    dual_row_sums,
    entry_table,
    lr_move,
    lr_power_sum,
    lr_sweep_in_two,
    trace_shift,
)
from fantope.kernels.triangle import diagonal, pack, unpack
from fantope.penalties.base import Penalty
from fantope.typing import Array, IntArray

MAX_ROUNDS = 100  # norm evaluations; Newton takes three to six, bisection alone would take fifty
CURVED = 10.0  # times the square of the relative change of the norm: what a step to first order leaves of it


def conjugate_exponent(p: int) -> float:
    """Return the q of Online-P for p variables, log p, and 2 below p = e²; r = q/(q − 1).

    With log p below 2, r would leave (1, 2], where ‖·‖²_r is strongly convex; r = 2 keeps its constant β there, since
    then ‖X‖₁ ≤ p‖X‖₂ ≤ e²‖X‖₂.

    Examples
    --------
    >>> round(conjugate_exponent(400), 4), conjugate_exponent(5)
    (5.9915, 2.0)
    """
    return max(math.log(p), 2.0)


def lr_norm(X: Array, r: float) -> float:
    """Return ‖X‖_{r,r} = (Σ|x_ij|^r)^{1/r} of a symmetric X, safe against overflow.

    Examples
    --------
    >>> lr_norm(np.full((2, 2), 1e200), 2.0)
    2e+200
    """
    scale = float(np.abs(X).max(initial=0.0))
    if scale == 0.0 or not math.isfinite(scale):
        return scale
    if 1e-100 < scale < 1e100:
        return float(lr_power_sum(X, r)[0] ** (1.0 / r))
    return scale * float(lr_power_sum(X / scale, r)[0] ** (1.0 / r))


@dataclass(frozen=True)
class L1SquaredLr(Penalty):
    """Ω(X) = alpha‖X‖₁ + ‖X‖²_{r,r}/(2√t).

    Parameters
    ----------
    alpha : float
    t : float
        The (effective) number of samples.
    q : float
        The conjugate exponent, 2 or larger: 1/r + 1/q = 1. :func:`conjugate_exponent` is the paper's.

    Examples
    --------
    >>> penalty = L1SquaredLr(0.5, 4.0, 2.0)
    >>> penalty.value(np.array([[1.0, -1.0], [-1.0, 1.0]])), round(penalty.dual_value(np.eye(2)), 9)
    (3.0, 0.5)
    """

    alpha: float
    t: float
    q: float

    @property
    def r(self) -> float:
        """Exponent of the norm."""
        return self.q / (self.q - 1.0)

    @property
    def strong_convexity(self) -> float:
        """The β of the paper: ‖·‖²_{r,r}/2 is β-strongly convex in the ℓ₁ norm."""
        return math.exp(-4.0) / (self.q - 1.0)

    def restrict(self, rows: IntArray) -> Self:
        """Return the penalty itself: it is the same for any variables."""
        return self

    def check(self, size: int) -> None:
        """Accept any number of variables."""

    def value(self, X: Array) -> float:
        """Return Ω(X) of a symmetric X."""
        power, norm = lr_power_sum(X, self.r)
        return float(self.alpha * norm + power ** (2.0 / self.r) / (2.0 * math.sqrt(self.t)))

    def prox(self, A: Array, step: float) -> Array:
        """Return the X that minimises ``step``·Ω(X) + ½‖X − A‖²."""
        return prox_squared_lr(A, step / math.sqrt(self.t), self.r, threshold=step * self.alpha).Y

    def clip(self, U: Array, rows: IntArray | None = None, cols: IntArray | None = None) -> Array:
        """Return ``U``: Ω* is finite everywhere."""
        return U

    def excess(self, U: Array, rows: IntArray | None = None, cols: IntArray | None = None) -> float:
        """Return −∞, or NaN if U is not finite: Ω* is finite everywhere."""
        return -math.inf if np.isfinite(U).all() else math.nan

    def dual_value(self, D: Array) -> float:
        """Return an upper bound of Ω*(D), by no more than rounding, of a symmetric D."""
        return self.dual_value_of(D, np.zeros_like(D))

    def dual_value_of(self, S: Array, M: Array) -> float:
        """Return the same for D = S − M; M is replaced by S − D, from which it differs by rounding."""
        total = dual_power_sum(S, M, self.alpha, self.q)
        # The sum of p² powers is exact to p²·u relatively, the square root's share of it far less.
        return float(0.5 * math.sqrt(self.t) * total ** (2.0 / self.q) * (1.0 + 1e-12))

    def dual_slope(self, D: Array) -> Array:
        """Return the X with Ω(X) + Ω*(D) = ⟨D, X⟩."""
        slope = np.empty_like(D)
        dual_powers(D, self.alpha, self.q - 1.0, self._slope_factor(dual_row_sums(D, self.alpha, self.q)), slope)
        return slope

    def dual_shares(self, D: Array) -> Array:
        """Return for each row i of D what row and column i have of ⟨W, X⟩, X the slope, counted twice."""
        sums = dual_row_sums(D, self.alpha, self.q)
        return np.asarray(2.0 * self._slope_factor(sums) * sums)

    def _slope_factor(self, sums: Array) -> float:
        total = float(sums.sum())
        return math.sqrt(self.t) * total ** (2.0 / self.q - 1.0) if total > 0.0 else 0.0


@dataclass(frozen=True)
class SquaredLr:
    """The result of :func:`prox_squared_lr`."""

    Y: Array  # (p, p)
    norm: float  # ‖Y‖_{r,r}


def prox_squared_lr(
    V: Array, weight: float, r: float, *, threshold: float = 0.0, start: float | None = None, tol: float = 1e-14
) -> SquaredLr:
    """Minimise ``threshold·‖Y‖₁ + weight·‖Y‖²_{r,r}/2 + ½‖Y − V‖²_F``.

    Entry by entry, y = sign(v)·u with ``u + weight·N^{2−r}·u^{r−1} = |v| − threshold`` where positive, else 0. The
    right-hand sides fix u once the norm N is known, and ``‖u(N)‖_r − N`` falls in N: a safeguarded Newton iteration
    finds it, from the guess ``start``, to the relative accuracy ``tol``. The map is positively homogeneous in (V,
    threshold), so that everything is scaled to order 1 first. V is symmetric and left unchanged, 1 < r ≤ 2, and in
    Online-P ``weight`` is the step size divided by √t.

    Examples
    --------
    >>> V = np.array([[3.0, -1.0], [-1.0, 0.5]])
    >>> prox_squared_lr(V, 1.0, 2.0).Y
    array([[ 1.5 , -0.5 ],
           [-0.5 ,  0.25]])
    """
    scale = float(np.abs(V).max(initial=0.0))
    require(math.isfinite(scale), "V", "be finite", "NaN or infinity", "check the values that the prox is applied to")
    if scale <= threshold:
        return SquaredLr(np.zeros_like(V), 0.0)
    unit = 1.0 if 1e-3 <= scale <= 1e3 else scale
    scaled = V if unit == 1.0 else V / unit
    guess = None if start is None else start / unit
    packed = pack(scaled)
    found = np.empty_like(packed)
    norm, _, _ = solve_norm(
        packed, found, np.ones(len(V)), weight=weight, r=r, threshold=threshold / unit, start=guess, tol=tol
    )
    return SquaredLr(unit * unpack(found, len(V)), norm * unit)


@lru_cache(maxsize=16)
def _table(m: float) -> Array:
    return entry_table(m)


def solve_norm(
    V: Array,
    Y: Array,
    scale: Array,
    *,
    weight: float,
    r: float,
    threshold: float,
    start: float | None,
    tol: float,
    trace: float | None = None,
    shift: float = 0.0,
) -> tuple[float, float, int]:
    """Find N, write Y(N) in place, return N, the shift of the diagonal and the number of sweeps; V and Y are packed.

    Newton's method for log ‖u(N)‖_r − log N in log N, which is nearly straight; a bracket guards it. In the metric that
    ``scale`` gives (:func:`fantope.kernels.squared_lr.lr_sweep`), and with the diagonal shifted until the trace is
    ``trace``, if that is given; ``shift`` is then where to start.
    """
    m = 1.0 / (r - 1.0)
    table = _table(m)
    on_diagonal = diagonal(V, len(scale))
    low, high = 0.0, math.inf
    N = start if start is not None and start > 0.0 else 0.0
    if N == 0.0:
        # With c = 0 the entries are as large as they can be, and so is their norm.
        total, _ = lr_sweep_in_two(scale, V, Y, threshold, 0.0, 0.0, m, table)
        high = total ** (1.0 / r)
        if high == 0.0 or weight == 0.0:
            return high, 0.0, 1
        N = high / (1.0 + weight)
    found, rounds = N, 0
    while rounds < MAX_ROUNDS:
        rounds += 1
        c = weight * N ** (2.0 - r)
        if trace is not None:
            shift = trace_shift(on_diagonal, scale, threshold, trace, shift, c, m, table)
        total, slope = lr_sweep_in_two(scale, V, Y, threshold, shift, c, m, table)
        found = total ** (1.0 / r)
        if abs(found - N) <= tol * N or found == 0.0:
            break
        low, high = (N, high) if found > N else (low, min(high, N))
        # d log‖u‖_r / d log N, from d(Σu^r)/dc and c = weight·N^{2−r}.
        steepness = slope / total * weight * (2.0 - r) * N ** (2.0 - r)
        new = N * math.exp(math.log(found / N) / (1.0 - steepness))
        if not low < new < high:
            new = 0.5 * (low + high) if math.isfinite(high) else 2.0 * N
        if new == N:
            break
        if CURVED * (new / N - 1.0) ** 2 <= tol:  # half the time of another sweep, or less
            before, c, found = c, weight * new ** (2.0 - r), new
            if trace is not None:
                shift = trace_shift(on_diagonal, scale, threshold, trace, shift, c, m, table)
            lr_move(scale, V, Y, threshold, shift, before, c, m, table)
            break
        N = new
    return found, shift, rounds
