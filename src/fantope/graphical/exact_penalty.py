"""The paper's scheme on the graphical lasso: an unconstrained sum of two functions, each by its prox.

Every eigenvalue of the optimum is at least ε = 1/(‖S‖ + Σ-norm of the weights): W = Θ⁻¹ is in the box, so its largest
eigenvalue is at most 1/ε. Continue −log θ below ε by its tangent, h(θ) = −log ε − (θ − ε)/ε. The sum

    ⟨S, Θ⟩ + Σ h(λ_i(Θ))  +  Σ w_ij|Θ_ij|

is finite for every symmetric Θ, so that nothing constrains it. It is not above the objective, equal to it where
Θ ⪰ εI, and has the same gradient there, hence the same minimiser: the tangent is an exact penalty for the cone, and
unlike a multiple of a distance it needs no weight.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from fantope.graphical.problem import Block
from fantope.typing import Array

RELAXATION = 1.6
# Differences that are mixed, and how far F may grow before they are forgotten. 5 and 20, 1.2 and 10 take as many
# iterations on all but the hardest data; on duplicated columns with alpha = 0.001 it is 985 and 260 in place of 350.
MEMORY, LARGER = 10, 2.0
SETTLE = 40  # iterations with one ρ, after the first hundred: 350 there, 950 without
CHECK_EVERY = 5  # iterations: a certificate is two factorisations, a third of an eigendecomposition


def prox_spectral(G: Array, step: float, floor: float) -> Array:
    """Return the prox of step·Σ h(λ_i), h = −log continued by its tangent below ``floor``."""
    values, vectors = scipy.linalg.eigh(G, driver="evd", check_finite=False)
    inside = 0.5 * (values + np.sqrt(values * values + 4.0 * step))
    moved = np.where(inside >= floor, inside, values + step / floor)
    return np.asarray((vectors * moved) @ vectors.T)


def solve_block(block: Block, tol: float, max_iter: int) -> int:
    """Improve ``block`` until its gap is at most ``tol``; return the number of iterations.

    Y = soft(Z, w/ρ), U = Z − Y, P = prox_{h/ρ}(Y − U − S/ρ), Z += 1.6(P − Y): each function moves a copy by its prox,
    and the two come to agree. ρ keeps both residuals, relative to what they are residuals of, of one size. An iteration
    is an eigendecomposition, and Anderson's mixing of the last steps makes them few: where S is nearly singular and
    alpha small, 50 in place of 1,700 (a variable and a copy of it, alpha = 0.01), 150 in place of more than 2,000 (60
    variables, 30 samples, alpha = 0.001). Newton steps by coordinate descent over the entries in use took ten times as
    long on stocks, whose common factor makes coordinates depend on each other.
    """
    S, rho = block.S, 1.0
    floor = 1.0 / float(np.linalg.norm(S, 2) + np.linalg.norm(block.limits))
    Y = block.Theta
    Z = Y + np.clip(np.linalg.inv(Y) - S, -block.limits, block.limits) / rho
    mixing, changed = Mixing(), 0
    for iteration in range(1, max_iter + 1):
        before, Y = Y, block.soft(Z, 1.0 / rho)
        U = Z - Y
        P = prox_spectral(Y - U - S / rho, 1.0 / rho, floor)
        if iteration % CHECK_EVERY == 0:
            # S + ρU is the dual point, and the inverse of P where the two copies agree.
            W = S + rho * U
            if block.offer(Y, W) <= tol:
                return iteration
            primal = np.linalg.norm(P - Y) / np.linalg.norm(P)
            dual = rho * np.linalg.norm(Y - before) / np.linalg.norm(W)
            change = 2.0 if primal > 3.0 * dual else 0.5 if dual > 3.0 * primal else 1.0
            if change != 1.0 and iteration >= changed + SETTLE * (iteration > 100):
                rho, Z, changed = rho * change, Y + U / change, iteration
                mixing.forget()
                continue
        Z = mixing.next(Z, RELAXATION * (P - Y))
    return max_iter


class Mixing:
    """Anderson's acceleration of Z ← Z + F(Z): the combination of the last steps whose F is smallest."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin afresh: F is another one."""
        self.Z: list[Array] = []
        self.F: list[Array] = []
        self.best, self.least = np.zeros(0), np.inf

    def next(self, Z: Array, F: Array) -> Array:
        """Return where to go from Z: the plain step from the best Z so far if F has become much larger than there."""
        size = float(np.linalg.norm(F))
        if size > LARGER * self.least:
            best = self.best
            self.forget()
            return best
        if size < self.least:
            self.best, self.least = Z + F, size
        self.Z, self.F = [*self.Z[-MEMORY:], Z], [*self.F[-MEMORY:], F]
        if len(self.Z) < 3:
            return Z + F
        dZ, dF = (np.diff(np.reshape(kept, (len(kept), -1)), axis=0) for kept in (self.Z, self.F))
        gram = dF @ dF.T
        gram.flat[:: len(gram) + 1] *= 1.0 + 1e-10  # steps in one direction leave it singular
        shares = scipy.linalg.lstsq(gram, dF @ F.ravel(), check_finite=False)[0]
        return np.asarray(Z + F - (shares @ (dZ + dF)).reshape(Z.shape))
