"""What is minimised over what: an objective, sets given one by one, and the penalty that joins them.

A set is known by its projection (:class:`ProjectionSet`) or by a convex function (:class:`LevelSet`). Each carries a
weight w_i such that, for all x in the ball 𝒳,

    d_K(x) ≤ Σ w_i·r_i(x),   r_i = distance to C_i, or [g_i]₊.

These are γ, h and ρ of the paper's Assumptions 3 and 4 with h a weighted sum: w_i is γ times h's weight, divided by
ρ_i. Theorem 1 then reads, with ℒ(x; μ) = f(x) + μ Σ w_i r_i(x) and L the Lipschitz constant of f: (a) for μ ≥ L the
minimum of ℒ over 𝒳 is that of f over K; (b) for μ ≥ L + 1 a point of 𝒳 within ε of it is within ε of K.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fantope.typing import Array

Map = Callable[[Array], Array]


@dataclass(frozen=True)
class Objective:
    """A convex f.

    Attributes
    ----------
    value : callable
        f(x).
    prox : callable
        ``prox(x, t)`` = argmin_u f(u) + ‖u − x‖²/(2t).
    lipschitz : float
        L on the ball.
    """

    value: Callable[[Array], float]
    prox: Callable[[Array, float], Array]
    lipschitz: float


@dataclass(frozen=True)
class Ball:
    """𝒳 = {‖x − centre‖ ≤ radius}, which must contain K."""

    radius: float
    centre: Array | float = 0.0

    def project(self, x: Array) -> Array:
        """Return the nearest point of the ball."""
        offset = x - self.centre
        norm = float(np.linalg.norm(offset))
        return x if norm <= self.radius else np.asarray(self.centre + offset * (self.radius / norm))

    def farthest(self, x: Array) -> float:
        """Return a bound on the distance from ``x`` to any point of the ball."""
        return self.radius + float(np.linalg.norm(x - self.centre))


@dataclass(frozen=True)
class ProjectionSet:
    """A closed convex C whose projection is easy."""

    name: str
    project: Map
    weight: float

    def residual(self, x: Array) -> float:
        """Return d_C(x)."""
        return float(np.linalg.norm(x - self.project(x)))

    def prox(self, x: Array, t: float) -> Array:
        """Return the prox of t·d_C: towards the projection, by at most t."""
        move = self.project(x) - x
        distance = float(np.linalg.norm(move))
        return x + move * (min(1.0, t / distance) if distance > 0.0 else 0.0)


@dataclass(frozen=True)
class LevelSet:
    """G = {g ≤ 0} with g convex.

    Attributes
    ----------
    value, subgradient : callable
        g(x), and any element of ∂g(x).
    prox_positive_part : callable, optional
        ``prox(x, t)`` of t·[g]₊, which :func:`splitting` needs. Without it :func:`incremental` is the method to use.
    lipschitz : float
        Of g; used by :func:`slater_weights` only.
    """

    name: str
    value: Callable[[Array], float]
    subgradient: Map
    weight: float
    prox_positive_part: Callable[[Array, float], Array] | None = None
    lipschitz: float = 1.0

    def residual(self, x: Array) -> float:
        """Return [g(x)]₊."""
        return max(self.value(x), 0.0)

    def step(self, x: Array, t: float) -> Array:
        """Take a subgradient step for t·[g]₊ that stops where the linearised g vanishes."""
        excess = self.value(x)
        if excess <= 0.0:
            return x
        v = self.subgradient(x)
        return x - min(t, excess / float(np.vdot(v, v))) * v


@dataclass(frozen=True)
class Interior:
    """A Slater point: in every C, with g ≤ −margin < 0 for every g."""

    point: Array
    margin: float


@dataclass(frozen=True)
class Intersection:
    """minimise ``objective`` over the intersection of ``sets``, all inside ``ball``.

    Attributes
    ----------
    interior : Interior, optional
        Makes :meth:`feasible` possible where there is at most one projection set.
    """

    objective: Objective
    sets: tuple[ProjectionSet | LevelSet, ...]
    ball: Ball
    interior: Interior | None = None

    @property
    def exact_mu(self) -> float:
        """μ = L + 1, from which on the penalty is exact and near-optimal points are nearly feasible."""
        return self.objective.lipschitz + 1.0

    def penalty(self, x: Array) -> float:
        """Return Σ w_i r_i(x), an upper bound of the distance to K for x in the ball."""
        return float(sum(part.weight * part.residual(x) for part in self.sets))

    def penalised(self, x: Array, mu: float | None = None) -> float:
        """Return ℒ(x; μ), μ = L + 1 by default."""
        return self.objective.value(x) + (self.exact_mu if mu is None else mu) * self.penalty(x)

    def feasible(self, x: Array) -> Array:
        """Return a point of K near ``x``: its projection on C, drawn towards the Slater point until every g ≤ 0.

        f there is an upper bound of the optimum.

        Raises
        ------
        ValueError
            If there is no Slater point, or more than one projection set.
        """
        projections = [part for part in self.sets if isinstance(part, ProjectionSet)]
        if self.interior is None or len(projections) > 1:
            raise ValueError(
                "feasible needs an interior point and at most one ProjectionSet; give interior=Interior(…)."
            )
        for part in projections:
            x = part.project(x)
        excess = max((part.residual(x) for part in self.sets if isinstance(part, LevelSet)), default=0.0)
        # g at the mixture is at most (1 − t)·excess − t·margin by convexity.
        t = excess / (excess + self.interior.margin)
        return x + t * (self.interior.point - x)


def slater_weights(ball: Ball, interior: Interior, lipschitz: float = 1.0) -> tuple[float, float]:
    """Return weights for one projection set C and for each level set, from a Slater point.

    Let y = P_C(x), D a bound on ‖x − x̃‖ over the ball, τ the margin at x̃, and Λ the largest Lipschitz constant of the
    g_i. Drawing y towards x̃ by t = g(y)₊/(g(y)₊ + τ) makes it feasible, so d_K(y) ≤ (D/τ)·max_i [g_i(y)]₊ (projections
    do not expand, and x̃ ∈ C: ‖y − x̃‖ ≤ D), and max_i [g_i(y)]₊ ≤ Σ[g_i(x)]₊ + Λd_C(x). Together

        d_K(x) ≤ (1 + ΛD/τ)·d_C(x) + (D/τ)·Σ[g_i(x)]₊.

    Examples
    --------
    >>> slater_weights(Ball(1.0), Interior(np.zeros(2), 0.5))
    (3.0, 2.0)
    """
    ratio = ball.farthest(interior.point) / interior.margin
    return 1.0 + lipschitz * ratio, ratio
