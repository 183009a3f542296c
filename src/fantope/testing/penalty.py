"""Whether a penalty is one: value, prox and dual set belong together."""

from __future__ import annotations

import numpy as np

from fantope.penalties import Concave, Entrywise, Penalty
from fantope.testing.expect import expect, expect_close
from fantope.typing import Array


def check_penalty(penalty: Penalty | Concave, p: int = 12, random_state: int = 0) -> None:
    """Check a penalty on ``p`` variables.

    The value is a norm, or like one; the prox is one (its residual is a subgradient, by which the value is attained);
    ``clip`` ends in the dual set, on which ⟨U, X⟩ ≤ Ω(X); ``restrict``, ``scaled`` and blocks agree with the whole.
    Of a folded concave penalty, each step is such a penalty, touches it at the last X, and is nowhere below it.

    Parameters
    ----------
    penalty : Penalty or Concave
    p : int
        Number of variables, 4 or more.
    random_state : int

    Examples
    --------
    >>> from fantope.penalties import L1
    >>> check_penalty(L1(0.5))
    """
    rng = np.random.default_rng(random_state)
    if isinstance(penalty, Concave):
        _check_concave(penalty, p, rng)
        return
    penalty.check(p)
    whole = penalty.restrict(np.arange(p))
    for _ in range(5):
        A, B = _allowed(whole, _symmetric(rng, p)), _allowed(whole, _symmetric(rng, p))
        _check_value(whole, A, B)
        _check_dual_set(whole, A, _symmetric(rng, p))
        _check_prox(whole, _symmetric(rng, p), float(rng.uniform(0.1, 2.0)), rng)
        _check_parts(penalty, whole, A, _symmetric(rng, p), rng)


def _check_concave(penalty: Concave, p: int, rng: np.random.Generator) -> None:
    V = np.linalg.qr(rng.standard_normal((p, 2)))[0]
    X = V @ V.T
    widths = penalty.widths(X, np.arange(p), p)
    step = penalty.step(X, np.arange(p), widths)
    check_penalty(step, p)
    above = penalty.value(X, widths) - step.value(X)
    for size in (1e-3, 0.05, 1.0):
        other = X + size * _symmetric(rng, p)
        expect(
            penalty.value(other, widths) <= above + step.value(other) + 1e-10 * (1.0 + penalty.alpha * p * p),
            "slope must be that of a concave height: a step lies below the penalty that it touches.",
        )


def _symmetric(rng: np.random.Generator, p: int) -> Array:
    A = 3.0 * rng.standard_normal((p, p))
    A[rng.uniform(size=(p, p)) < 0.3] = 0.0
    return A + A.T


def _allowed(penalty: Penalty, A: Array) -> Array:
    """Return A where its value is finite: a penalty may forbid entries."""
    return A if np.isfinite(penalty.value(A)) else penalty.prox(A, 0.1)


def _check_value(penalty: Penalty, A: Array, B: Array) -> None:
    a, b = penalty.value(A), penalty.value(B)
    expect(
        penalty.value(A @ A) >= 0.0 and penalty.value(np.zeros_like(A)) == 0.0,
        "value must be 0 at X = 0 and nowhere negative for X ⪰ 0.",
    )
    expect_close(penalty.value(2.5 * A), 2.5 * a, "value must be homogeneous, Ω(2.5 X) = 2.5 Ω(X)", 1.0 + abs(a))
    expect(
        penalty.value(0.5 * (A + B)) <= 0.5 * (a + b) + 1e-10 * (1.0 + abs(a) + abs(b)),
        "value must be convex, Ω((X + Y)/2) ≤ (Ω(X) + Ω(Y))/2.",
    )


def _check_dual_set(penalty: Penalty, X: Array, U: Array) -> None:
    before = U.copy()
    U = penalty.clip(U)
    expect(U is not None, "clip must return the array that it changes in place.")
    expect(np.array_equal(U, U.T), "clip must keep a symmetric matrix symmetric.")
    # A dual set that is known by its parts only may need an iteration.
    accuracy = 1e-12 if isinstance(penalty, Entrywise) else 1e-9
    expect(
        penalty.excess(U) <= accuracy * (1.0 + penalty.alpha + float(np.abs(U).max())),
        "clip must end in the dual set, where excess is 0 or less.",
    )
    expect_close(
        penalty.clip(U.copy()),
        U,
        "clip must leave a point of the dual set where it is",
        1.0 + penalty.alpha + float(np.abs(U).max()),
        max(accuracy, 1e-10),
    )
    for point in (X, before, np.eye(len(X))):
        value = penalty.value(point)
        expect(
            float((U * point).sum()) <= value + 1e-9 * (1.0 + abs(value)),
            "the dual set must hold no U with ⟨U, X⟩ > Ω(X): it is too large, or the value too small.",
        )


def _check_prox(penalty: Penalty, A: Array, step: float, rng: np.random.Generator) -> None:
    before = A.copy()
    Y = penalty.prox(A, step)
    expect(np.array_equal(A, before), "prox must leave its argument as it is.")
    U = (A - Y) / step
    value = penalty.value(Y)
    expect(
        penalty.excess(U) <= 1e-9 * (1.0 + float(np.abs(U).max())),
        "prox must be one: (A − prox(A, step))/step has to be in the dual set.",
    )
    expect_close(
        float((U * Y).sum()),
        value,
        "prox must be one: its residual U has to attain the value, ⟨U, prox(A)⟩ = Ω(prox(A))",
        1.0 + abs(value),
        1e-9,
    )
    best = step * value + 0.5 * float(((Y - A) ** 2).sum())
    for size in (1e-3, 1e-1, 1.0):
        near = Y + size * _symmetric(rng, len(A))
        other = step * penalty.value(near) + 0.5 * float(((near - A) ** 2).sum())
        expect(
            best <= other + 1e-9 * (1.0 + abs(best)),
            "prox must minimise step·Ω(X) + ½‖X − A‖²; a point nearby is better.",
        )


def _check_parts(penalty: Penalty, whole: Penalty, X: Array, U: Array, rng: np.random.Generator) -> None:
    p = len(X)
    rows = np.sort(rng.choice(p, size=max(2, p // 2), replace=False)).astype(np.intp)
    cols = np.sort(rng.choice(p, size=max(2, p // 3), replace=False)).astype(np.intp)
    inside, scale = np.ix_(rows, rows), 1.0 + penalty.alpha
    padded = np.zeros_like(X)
    padded[inside] = X[inside]
    part, value = whole.restrict(rows), whole.value(padded)
    expect_close(
        part.value(X[inside]), value, "restrict(rows) must give the value of X padded with zeros", 1.0 + abs(value)
    )
    if isinstance(penalty, Entrywise):  # blocks of a box are boxes
        clipped = whole.clip(U.copy())
        expect_close(
            part.clip(U[inside]), clipped[inside], "restrict(rows) must have the dual set of that block", scale
        )
        block = np.ix_(rows, cols)
        expect_close(
            penalty.clip(U[block], rows, cols), clipped[block], "clip(U, rows, cols) must agree with the whole", scale
        )
        limits = np.broadcast_to(penalty.restrict(np.arange(p)).limits(), X.shape)
        expect_close(penalty.diagonal(rows), limits.diagonal()[rows], "diagonal must be that of limits", scale)
    again, none = (penalty.scaled(factor * penalty.alpha).restrict(np.arange(p)) for factor in (2.0, 0.0))
    expect(again.alpha == 2.0 * penalty.alpha, "scaled(alpha) must return a penalty with that alpha.")
    value, rest = whole.value(X), none.value(X)  # what does not depend on alpha, as a linear part, stays
    expect_close(again.value(X) - rest, 2.0 * (value - rest), "scaled(2 alpha) must double the value", 1.0 + abs(value))
