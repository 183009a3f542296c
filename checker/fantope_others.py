"""Penalties beside the weighted ℓ₁ norm, for fantope_check.py, which imports this file where a certificate has one.

Smooth: Ω(X) = ⟨L, X⟩ + α‖X‖₁, L = ρDᵀD of differences or ρ times a given matrix: the problem for S − L and the ℓ₁ norm.
Non-negative: Ω(X) = αΣX_ij where X ≥ 0, infinite elsewhere; U = sym(P) with P_ij ≤ α.
Trends: Ω(X) = α(‖KX‖₁ + l‖X‖₁), K differences of neighbouring variables; U = sym(KᵀP + Q) with |P_ij| ≤ α, |Q_ij| ≤ αl.
Groups: Ω(X) = α(l‖X‖₁ + (1 − l)Σ s_gh‖X_gh‖) over the blocks between groups, s_gh = √(|g||h|); U = sym(P), and what of
P is beyond ±αl has norms of at most α(1 − l)s_gh. Standard library and NumPy only, no fantope.
"""
import math
from fractions import Fraction
import numpy as np

UNIT, fractions = 2.0**-53, np.frompyfunc(Fraction, 1, 1)
roots = np.frompyfunc(lambda q: Fraction(math.sqrt(q) * (1 + 2e-15)), 1, 1)  # rounded upwards

class Rougher:
    """S − L by blocks; |L_ij| ≤ √(L_ii L_jj), so that with σ_i² = |S_ii| + L_ii its rounding is within error·σ_iσ_j."""
    def __init__(self, S, stored):
        D = None if "laplacian" in stored else np.diff(np.eye(S.size), n=int(stored["order"]), axis=0)
        self.given, self.size, rho = S, S.size, float(stored["rho"])
        self.L = rho * (stored["laplacian"] if D is None else D.T @ D)
        size = self.L.diagonal()
        bounded = np.abs(self.L) <= np.sqrt(np.multiply.outer(size, size)) * (1 + 1e-9)
        if not bounded.all() or not np.array_equal(self.L, self.L.T):
            raise ValueError("the roughness is no positive semidefinite matrix")
        self.diagonal, self.error, self.sigma = S.diagonal - size, S.error + 4 * UNIT, np.sqrt(S.sigma**2 + size)
    def block(self, rows, cols):
        block = self.given.block(rows, cols) - self.L[np.ix_(rows, cols)]
        return np.where(rows[:, None] == cols, self.diagonal[rows][:, None], block)
    def exact(self, rows): return self.given.exact(rows) - fractions(self.L[np.ix_(rows, rows)])

class Coupled:
    """One of the other Ω, and U from its parts.

    ``inside`` says whether all parts are in their sets, up to a rounding that moves U by no more than ``off`` in norm;
    Ω(E) ≤ Σ W_ij|E_ij| for all E.
    """
    def __init__(self, stored, kind, alpha, p):
        self.kind, self.alpha, P = kind, alpha, stored["part0"]
        self.share = float(stored.get("l1", stored.get("l1_share", 0.0)))
        if kind == "non-negative":
            most = alpha * (1 + 8 * UNIT)
            within, U, self.W = np.isfinite(P).all() and P.max() <= most, P, np.full((p, p), alpha)
        elif kind == "trend":
            order, Q = int(stored["order"]), stored.get("part1", np.zeros((p, p)))
            self.K, edge = np.diff(np.eye(p), n=order, axis=0), alpha * (1 + 8 * UNIT)
            within = (np.abs(P) <= edge).all() and (np.abs(Q) <= edge * self.share).all() and 1 <= order <= 16
            U, self.W = self.K.T @ P + Q, np.full((p, p), alpha * (2.0**order + self.share))
        else:
            self.K = (np.unique(stored["groups"])[:, None] == stored["groups"]) * 1.0
            n, B = self.K.sum(axis=1), np.clip(P, -alpha * self.share, alpha * self.share)
            self.s = np.sqrt(np.multiply.outer(n, n))
            limits, norms = alpha * (1 - self.share) * self.s, np.sqrt(self.K @ (P - B) ** 2 @ self.K.T)
            within = (norms <= limits * (1 + 4 * (p + 8) * UNIT) + 16 * UNIT * alpha).all() and self.share <= 1
            U, self.W = P, alpha * self.share + self.K.T @ limits @ self.K
        self.inside, self.U = within and U.shape == (p, p) and self.share >= 0, 0.5 * (U + U.T)
        self.off = UNIT * (8 * (p + 8) * np.linalg.norm(U) + 32 * p * self.W.max())

    def cost(self, x, rows):
        """Return Ω of x, which is X on ``rows``, in the numbers that x has."""
        number = fractions if x.dtype == object else np.float64
        alpha, share = number(self.alpha), number(self.share)
        if self.kind == "non-negative": return alpha * abs(x).sum()
        K = number(self.K[:, rows])
        more = abs(K @ x) if self.kind == "trend" else (1 - share) * number(self.s) * number(roots(K @ (x * x) @ K.T))
        return alpha * (share * abs(x).sum() + more.sum())
