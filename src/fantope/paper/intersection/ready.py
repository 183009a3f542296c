"""Problems and pieces that are ready: bounds on extreme eigenvalues, FPS, the nearest correlation matrix."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.linalg
from scipy.optimize import brentq

from fantope.errors import require
from fantope.paper.intersection.problem import (
    Ball,
    Interior,
    Intersection,
    LevelSet,
    Objective,
    ProjectionSet,
    slater_weights,
)
from fantope.penalties import L1, Entrywise, NonNegative, Penalty, Smooth, Structured
from fantope.typing import Array


def largest_at_most(bound: float, weight: float) -> LevelSet:
    """Return {X symmetric: θ₁(X) ≤ bound}."""

    def value(X: Array) -> float:
        p = len(X)
        return float(scipy.linalg.eigvalsh(X, subset_by_index=(p - 1, p - 1))[0]) - bound

    def subgradient(X: Array) -> Array:
        p = len(X)
        v = scipy.linalg.eigh(X, subset_by_index=(p - 1, p - 1))[1][:, 0]
        return np.outer(v, v)

    def prox(X: Array, t: float) -> Array:
        # The largest eigenvalues come down to a common level ≥ bound, by t in all.
        values, vectors = scipy.linalg.eigh(X)
        descending = values[::-1]
        levels = (np.cumsum(descending) - t) / np.arange(1, len(descending) + 1)
        level = max(float(levels.max()), bound)
        above = values > level
        if not above.any():
            return X
        V = vectors[:, above]
        return np.asarray(X - (V * (values[above] - level)) @ V.T)

    return LevelSet(f"largest eigenvalue ≤ {bound:g}", value, subgradient, weight, prox)


def smallest_at_least(bound: float, weight: float) -> LevelSet:
    """Return {X symmetric: θ_p(X) ≥ bound}: the mirror image of :func:`largest_at_most`."""
    mirror = largest_at_most(-bound, weight)
    prox = mirror.prox_positive_part
    assert prox is not None
    return LevelSet(
        f"smallest eigenvalue ≥ {bound:g}",
        lambda X: mirror.value(-X),
        lambda X: -mirror.subgradient(-X),
        weight,
        lambda X, t: -prox(-X, t),
    )


def fps(
    S: Array,
    n_components: int,
    alpha: float | Entrywise | Smooth | Structured,
    *,
    constants: Literal["paper", "interior"] = "paper",
) -> Intersection:
    """Return sparse PCA as in section 3.3: −⟨S, X⟩ + Ω(X) over tr X = d, θ₁ ≤ 1, θ_p ≥ 0.

    Parameters
    ----------
    S : (p, p) array
    n_components : int
        d, 1 ≤ d < p.
    alpha : float or penalty
        λ of Ω(X) = λ‖X‖₁, or Ω. What it forbids, X_ij < 0 say, is a set like the others.
    constants : "paper" or "interior"
        Weights of Corollary 1, proved for 3 ≤ d ≤ (p − 1)/2, or those of :func:`slater_weights` around (d/p)·I, which
        hold for every d.

    Examples
    --------
    >>> import fantope
    >>> from fantope.paper.intersection import fps, splitting
    >>> sim = fantope.simulate(60, 20, sizes=(6, 5))
    >>> S = sim.Z.T @ sim.Z / 60
    >>> found = splitting(fps(S, 2, 0.2, constants="interior"), np.eye(20) / 10)
    >>> abs(found.objective + fantope.solve(S, 2, 0.2, tol=1e-8).objective) < 1e-4
    True
    """
    p, d = len(S), n_components
    ball = Ball(float(np.sqrt(d)))
    identity = np.eye(p)
    interior = Interior(d / p * identity, min(d / p, 1.0 - d / p))
    if constants == "paper" and isinstance(alpha, NonNegative):
        raise ValueError("constants must be 'interior' for NonNegative: Corollary 1 does not cover X ≥ 0.")
    if constants == "paper":
        weights = float(np.sqrt(p / (d + 1))), float(np.sqrt(p * d)), float(p)
    elif constants == "interior":
        on_set, on_level = slater_weights(ball, interior)
        weights = on_set, on_level, on_level
    else:
        raise ValueError(f"constants must be 'paper' or 'interior', got {constants!r}.")

    penalty = (alpha if isinstance(alpha, Penalty) else L1(alpha)).restrict(np.arange(p))
    signed = isinstance(penalty, NonNegative)
    finite = L1(penalty.alpha) if signed else penalty

    def value(X: Array) -> float:
        return finite.value(X) - float(np.vdot(S, X))

    def prox(X: Array, t: float) -> Array:
        return finite.prox(X + t * S, t)

    def set_trace(X: Array) -> Array:
        if not signed:
            return np.asarray(X + (d - X.trace()) / p * identity)
        diagonal = X.diagonal()
        shift = brentq(lambda t: float(np.maximum(diagonal - t, 0.0).sum()) - d, diagonal.min() - d, diagonal.max())
        return np.where(identity > 0.0, np.maximum(X - shift, 0.0), np.maximum(X, 0.0))

    return Intersection(
        Objective(value, prox, float(np.linalg.norm(S)) + finite.norm(p)),
        (
            ProjectionSet(f"trace = {d}" + (", entries ≥ 0" if signed else ""), set_trace, weights[0]),
            largest_at_most(1.0, weights[1]),
            smallest_at_least(0.0, weights[2]),
        ),
        ball,
        interior,
    )


def nearest_correlation(
    A: Array, *, lower: Array | float = -1.0, upper: Array | float = 1.0, interior: Array | None = None
) -> Intersection:
    """Return the correlation matrix nearest to A whose entries stay within bounds.

    minimise ‖X − A‖_F over {X_ii = 1, lower ≤ X_ij ≤ upper} ∩ {θ_p(X) ≥ 0}.

    Parameters
    ----------
    A : (p, p) symmetric array
        Correlations from pairwise complete data, say, or after entries were edited.
    lower, upper : float or (p, p) symmetric array
        Bounds off the diagonal.
    interior : (p, p) array, optional
        A positive definite correlation matrix within the bounds. Default: 0 off the diagonal, moved into the bounds.

    Raises
    ------
    ValueError
        If the bounds cross, or the interior point is not positive definite.
    """
    p = len(A)
    low, high = np.broadcast_to(np.asarray(lower, float), (p, p)), np.broadcast_to(np.asarray(upper, float), (p, p))
    require(not (low > high).any(), "lower", "be at most upper everywhere", remedy="mend the bounds that cross")
    diagonal = np.eye(p, dtype=bool)

    def into_bounds(X: Array) -> Array:
        return np.where(diagonal, 1.0, np.clip(X, low, high))

    point = into_bounds(np.zeros((p, p)) if interior is None else interior)
    margin = float(np.linalg.eigvalsh(point)[0])
    if margin <= 0.0:
        raise ValueError(
            f"interior must be positive definite within the bounds, its smallest eigenvalue is {margin:.3g}; pass "
            "another, or loosen the bounds."
        )
    ball, inside = Ball(float(p)), Interior(point, margin)
    on_set, on_level = slater_weights(ball, inside)

    def value(X: Array) -> float:
        return float(np.linalg.norm(X - A))

    def prox(X: Array, t: float) -> Array:
        distance = float(np.linalg.norm(X - A))
        return X + (A - X) * (min(1.0, t / distance) if distance > 0.0 else 0.0)

    return Intersection(
        Objective(value, prox, 1.0),
        (ProjectionSet("unit diagonal, bounds", into_bounds, on_set), smallest_at_least(0.0, on_level)),
        ball,
        inside,
    )
