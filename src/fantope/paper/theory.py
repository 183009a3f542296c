"""Every explicit constant and bound of the paper, as functions: numbers in, numbers out.

Names and letters are the paper's (Qiu, Lei and Roeder, "Gradient-based Sparse Principal Component Analysis with
Extensions to Online Learning"): p variables, d components, λ the penalty (``alpha`` elsewhere in this library),
δ the eigengap θ_d(Σ) − θ_{d+1}(Σ), s the number of variables in use. Functions whose theorem has hypotheses return a
:class:`Bound`, which computes outside of them too and then says which do not hold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fantope.errors import require
from fantope.typing import Array

__all__ = [
    "Bound",
    "FpsConstants",
    "OnlineTConstants",
    "SubExponential",
    "certified_error",
    "convergence_constant",
    "distance_bound",
    "estimation_error",
    "fps_constants",
    "gradient_bound",
    "online_p_error",
    "online_p_parameters",
    "online_p_regret",
    "online_t_basic",
    "online_t_constants",
    "online_t_error",
    "online_t_regret",
    "start_distance",
]


@dataclass(frozen=True)
class Bound:
    """A number with the hypotheses under which it is a bound.

    Attributes
    ----------
    value : float
    unmet : tuple of str
        Hypotheses of the theorem that do not hold; empty if the bound is one.
    """

    value: float
    unmet: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every hypothesis that can be checked holds."""
        return not self.unmet


@dataclass(frozen=True)
class FpsConstants:
    """Constants of Corollary 1: L, ρ₁, ρ₂ of its assumptions, μ, r₁, r₂ of the unconstrained objective."""

    L: float
    rho1: float
    rho2: float
    mu: float
    r1: float
    r2: float
    unmet: tuple[str, ...]


def _geometry(p: int, d: int) -> tuple[str, ...]:
    """Return what of 3 ≤ d ≤ (p − 1)/2 (Theorem 2) does not hold."""
    unmet = []
    if d < 3:
        unmet.append(f"d ≥ 3 (d = {d})")
    if d > (p - 1) / 2:
        unmet.append(f"d ≤ (p − 1)/2 = {(p - 1) / 2:g} (d = {d})")
    return tuple(unmet)


def _gap(delta: float) -> tuple[str, ...]:
    """Return what of δ > 0 does not hold: without an eigengap there is no Π to be near to, and a bound is infinite."""
    return () if delta > 0 else (f"δ > 0 (δ = {delta:g})",)


def fps_constants(p: int, d: int, lam: float, norm_S: float) -> FpsConstants:
    """Return the constants of Corollary 1; ``norm_S`` is ‖S‖_F.

    L = ‖S‖_F + λp, ρ₁ = 1/√d, ρ₂ = 1/√p, μ = (L + 1)√(p/(d + 1)), r₁ = √(d(d + 1)), r₂ = √(p(d + 1)).

    Examples
    --------
    >>> c = fps_constants(p=100, d=3, lam=0.1, norm_S=14.0)
    >>> c.L, c.mu, round(c.r1, 4), c.r2
    (24.0, 125.0, 3.4641, 20.0)
    """
    L = norm_S + lam * p
    return FpsConstants(
        L=L,
        rho1=1 / np.sqrt(d),
        rho2=1 / np.sqrt(p),
        mu=float((L + 1) * np.sqrt(p / (d + 1))),
        r1=float(np.sqrt(d * (d + 1))),
        r2=float(np.sqrt(p * (d + 1))),
        unmet=_geometry(p, d),
    )


def distance_bound(p: int, d: int, distance_trace: float, distance_spectrum: float) -> Bound:
    """Bound the distance to the Fantope by those to its parts (Theorem 2).

    d_F(X) ≤ √(p/(d + 1))·d_{tr X = d}(X) + √p·d_{0 ⪯ X ⪯ I}(X).
    """
    return Bound(float(np.sqrt(p / (d + 1)) * distance_trace + np.sqrt(p) * distance_spectrum), _geometry(p, d))


def convergence_constant(p: int, d: int, lam: float, norm_S: float, step_size: float, C0: float) -> Bound:
    """Return C of Theorem 3: ℒ(X̂) ≤ min ℒ + C/T and d_F(X̂) ≤ C/T after T iterations of GradFPS.

    C = max{(C₀² + 4C₀L_g)/α, 2C₀L_g} + 2C₀L_g. C₀ = ‖Z₀ − Z_*‖_F depends on the unknown optimum; after the fact
    :func:`start_distance` bounds it from a certified solution.
    """
    Lg = gradient_bound(p, d, lam, norm_S)
    return Bound(float(max((C0**2 + 4 * C0 * Lg) / step_size, 2 * C0 * Lg) + 2 * C0 * Lg), _geometry(p, d))


def gradient_bound(p: int, d: int, lam: float, norm_S: float) -> float:
    """Return L_g = √((λp)² + {‖S‖_F + μ(1 + √((p + d)(d + 1)))}²) of Theorem 3."""
    mu = fps_constants(p, d, lam, norm_S).mu
    return float(np.hypot(lam * p, norm_S + mu * (1 + np.sqrt((p + d) * (d + 1)))))


def start_distance(X0: Array, X: Array, U: Array, step_size: float) -> float:
    """Return C₀ = ‖Z₀ − Z_*‖_F for Z₀ = (X₀, X₀) and the fixed point Z_* = (X − αU, X + αU) of a solution (X, U).

    With X and U of a certified solution this is exact up to their accuracy, which is the gap.
    """
    difference = X0 - X
    return float(np.hypot(np.linalg.norm(difference + step_size * U), np.linalg.norm(difference - step_size * U)))


def estimation_error(sigma: float, s: int, p: int, n: int, delta: float, C: Bound, T: int) -> Bound:
    """Bound ‖X̂ − Π‖_F for GradFPS (Corollary 2), with probability at least 1 − 2/p².

    4σs√(log p)/(δ√n) + √(2C/δ)/√T + C/T, for λ = σ√(log p/n). C comes from :func:`convergence_constant`, and what it
    needs is needed here.
    """
    if not delta > 0:
        return Bound(np.inf, (*C.unmet, *_gap(delta)))
    statistical = 4 * sigma * s * np.sqrt(np.log(p)) / (delta * np.sqrt(n))
    return Bound(float(statistical + np.sqrt(2 * C.value / (delta * T)) + C.value / T), C.unmet)


def certified_error(lam: float, s: int, delta: float, gap: float, deviation: float | None = None) -> Bound:
    """Bound ‖X̂ − Π‖_F for a feasible X̂ with a *measured* absolute gap, in place of C/T.

    (δ/2)‖Δ‖² ≤ 2λs‖Δ‖ + gap, hence ‖Δ‖ ≤ {2λs + √((2λs)² + 2δ·gap)}/δ, whenever λ ≥ ‖S − Σ‖_∞ (``deviation``,
    which only a simulation knows). There is no feasibility term: certified solutions are feasible.

    Examples
    --------
    >>> certified_error(lam=0.1, s=5, delta=4.0, gap=0.0).value
    0.5
    """
    value = (2 * lam * s + np.sqrt((2 * lam * s) ** 2 + 2 * delta * gap)) / delta if delta > 0 else np.inf
    unmet = list(_gap(delta))
    if deviation is not None and lam < deviation:
        unmet.append(f"λ ≥ ‖S − Σ‖_∞ = {deviation:.3g} (λ = {lam:.3g})")
    return Bound(float(value), tuple(unmet))


@dataclass(frozen=True)
class OnlineTConstants:
    """C₁ … C₄ and D₁ … D₃ of Theorem 4."""

    C1: float
    C2: float
    C3: float
    C4: float
    D1: float
    D2: float
    D3: float


@dataclass(frozen=True)
class SubExponential:
    """Moments of Assumption 6: ξ = ‖S_t − Σ‖_F has mean μ₁ and parameters (σ₁, b₁), ζ = ‖S_t‖_F² has (μ₂, σ₂, b₂)."""

    mu1: float
    sigma1: float
    b1: float
    mu2: float
    sigma2: float
    b2: float


def online_t_basic(p: int, d: int, lam: float, nu: float) -> tuple[float, float]:
    """Return C₁ and C₂ of Theorem 4, which need no knowledge of the distribution.

    C₁ = λp + ν√(p(p + d)) + ν√(p/(d + 1)),
    C₂ = ν²p(p + d) + 2(λp)² + 2λpν√(p(p + d)) + 2ν√(p/(d + 1))C₁.
    """
    root, trace = nu * np.sqrt(p * (p + d)), nu * np.sqrt(p / (d + 1))
    C1 = lam * p + root + trace
    return float(C1), float(root**2 + 2 * (lam * p) ** 2 + 2 * lam * p * root + 2 * trace * C1)


def online_t_constants(
    p: int, d: int, lam: float, nu: float, alpha0: float, norm_Sigma: float, moments: SubExponential, epsilon: float
) -> OnlineTConstants:
    """Return all constants of Theorem 4, for an error probability ``epsilon``.

    C₁ and C₂ as in :func:`online_t_basic`; with ℓ = log(3/ε)
    D₁ = max{2b₁ℓ, 2σ₁√(2dℓ)}, D₂ = max{2b₁ℓ, σ₁√(2ℓ)}, D₃ = max{2b₂ℓ, σ₂√(2ℓ)},
    C₃ = 2d/α₀ + D₁ + α₀(C₂ + C₁(μ₁ + ‖Σ‖_F) + μ₂), C₄ = α₀(C₁D₂ + D₃)/2.
    """
    require(0 < epsilon < 1, "epsilon", "be a probability between 0 and 1", repr(epsilon))
    C1, C2 = online_t_basic(p, d, lam, nu)
    log = float(np.log(3 / epsilon))
    D1 = max(2 * moments.b1 * log, 2 * moments.sigma1 * np.sqrt(2 * d * log))
    D2 = max(2 * moments.b1 * log, moments.sigma1 * np.sqrt(2 * log))
    D3 = max(2 * moments.b2 * log, moments.sigma2 * np.sqrt(2 * log))
    C3 = 2 * d / alpha0 + D1 + alpha0 * (C2 + C1 * (moments.mu1 + norm_Sigma) + moments.mu2)
    return OnlineTConstants(C1, C2, float(C3), float(alpha0 * (C1 * D2 + D3) / 2), float(D1), float(D2), float(D3))


def online_t_regret(p: int, d: int, lam: float, nu: float, alpha0: float, norms: Array) -> Bound:
    """Bound the average regret of Online-T after T = len(norms) steps (Theorem 4, first part).

    (2d/α₀ + α₀C₂)/√T + α₀/(2T)·Σ_t (‖S_{t+1}‖² + C₁‖S_{t+1}‖)/√t, with ``norms`` = ‖S_{t+1}‖_F, t = 1 … T.

    This is the printed bound. The inequalities of its proof add up to 2C₁‖S_{t+1}‖ where it has C₁‖S_{t+1}‖, and so for
    C₃ and C₄; measured regret is so far below that the factor does not decide anything.
    """
    C1, C2 = online_t_basic(p, d, lam, nu)
    T = len(norms)
    t = np.arange(1, T + 1)
    stream = float(((norms**2 + C1 * norms) / np.sqrt(t)).sum())
    return Bound((2 * d / alpha0 + alpha0 * C2) / np.sqrt(T) + alpha0 / (2 * T) * stream, _geometry(p, d))


def online_t_error(
    constants: OnlineTConstants, T: int, p: int, d: int, lam: float, s: int, delta: float, nu: float, norm_Sigma: float
) -> Bound:
    """Bound ‖X̂_T − Π‖_F for Online-T (Theorem 4, second part), with the probability that ``constants`` are made for.

    C(T) + √(2/δ)·√(C(T) + λs√d) with C(T) = C₃/√T + C₄(log T + 1)/T, for ν ≥ λp + ‖Σ‖_F + 1.
    """
    C = constants.C3 / np.sqrt(T) + constants.C4 * (np.log(T) + 1) / T
    unmet = [*_geometry(p, d), *_gap(delta)]
    if nu < lam * p + norm_Sigma + 1:
        unmet.append(f"ν ≥ λp + ‖Σ‖_F + 1 = {lam * p + norm_Sigma + 1:.3g} (ν = {nu:.3g})")
    value = C + np.sqrt(2 / delta) * np.sqrt(C + lam * s * np.sqrt(d)) if delta > 0 else np.inf
    return Bound(float(value), tuple(unmet))


def online_p_parameters(p: int) -> tuple[float, float]:
    """Return r = log p/(log p − 1) and β = e⁻⁴/(log p − 1) of Online-P; p must be at least 3.

    Examples
    --------
    >>> r, beta = online_p_parameters(400)
    >>> round(r, 4), round(beta, 6)
    (1.2003, 0.003669)
    """
    require(p >= 3, "p", "be at least 3, for log p > 1", repr(p))
    log = float(np.log(p))
    return log / (log - 1), float(np.exp(-4)) / (log - 1)


def online_p_regret(p: int, d: int, lam: float, nu: float, norm_Pi: float, psi: Array, epsilon: Array) -> Bound:
    """Bound the average regret of Online-P after T = len(psi) steps (Theorem 5, first part).

    ‖Π‖²_{r,r}/(2√T) + T⁻¹Σ{(ψ_{t+1} + λ)ε_t + βν√t ε_t²/2} + (2βT)⁻¹Σψ²_{t+1}/√t, with ``norm_Pi`` = ‖Π‖_{r,r},
    ``psi`` = ‖S_{t+1}‖_∞ and ``epsilon`` = ε_t, t = 1 … T.
    """
    _, beta = online_p_parameters(p)
    T = len(psi)
    t = np.arange(1, T + 1)
    inexact = ((psi + lam) * epsilon + beta * nu * np.sqrt(t) * epsilon**2 / 2).sum() / T
    stream = (psi**2 / np.sqrt(t)).sum() / (2 * beta * T)
    return Bound(float(norm_Pi**2 / (2 * np.sqrt(T)) + inexact + stream), _geometry(p, d))


def online_p_error(sigma: float, s: int, p: int, d: int, delta: float, T: int) -> Bound:
    """Bound ‖X̂_T − Π‖_F for Online-P (Theorem 5, second part), with probability at least 1 − 2/p².

    {4σs√(log p) + 2s^(2−4/log p)√d}/(δ√T + β) + β/(2√T) + √(β/(δ + β/√T))/T^(3/4), for λ = σ√(log p/T), ε_t = 1/√t.
    """
    _, beta = online_p_parameters(p)
    if not delta > 0:
        return Bound(np.inf, (*_geometry(p, d), *_gap(delta)))
    log = np.log(p)
    root = np.sqrt(T)
    statistical = (4 * sigma * s * np.sqrt(log) + 2 * s ** (2 - 4 / log) * np.sqrt(d)) / (delta * root + beta)
    value = statistical + beta / (2 * root) + np.sqrt(beta / (delta + beta / root)) / T**0.75
    return Bound(float(value), _geometry(p, d))
