"""Online-P (Algorithm 3): few samples, many variables, an optimisation problem for each sample."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from fantope.eigen import one_blas_thread
from fantope.online.base import State
from fantope.online.leader import Leader
from fantope.online.subproblem import Certified, Subproblem, Warm, solve_subproblem
from fantope.typing import Array

RECORDS = 1000  # how many of the latest records are kept: storage must not grow with t


@dataclass(frozen=True)
class SubproblemRecord:
    """How well one subproblem was solved.

    Attributes
    ----------
    sample : int
        t.
    gap : float
        Certified distance of X_t's objective from the optimum.
    tolerance : float
        What was asked for.
    n_iter : int
    """

    sample: int
    gap: float
    tolerance: float
    n_iter: int

    @property
    def met(self) -> bool:
        """Whether the tolerance was met."""
        return self.gap <= self.tolerance


class OnlineP(Leader):
    """Generalised mirror descent: X_t maximises ⟨S_{1:t}, X⟩ − λ‖X‖₁ − ‖X‖²_{r,r}/(2√t) over the Fantope.

    Parameters
    ----------
    n_features, n_components : int
    alpha : float
        λ.
    loosen : float, default 1
        Factor on the theorem's tolerance β√t ε_t²/2, ε_t = 1/√t. 1 is what the theorem needs; larger values save
        iterations at the price of the guarantee (the bound grows with ε_t, the square root of this factor).
    forgetting : float, default 1
        A sample k steps back weighs forgetting^k; t becomes the effective number of samples.
    max_iter : int, default 5000
        Iterations after which a subproblem is given up on; its record then says that the tolerance was not met.
    """

    name = "online-p"

    def __init__(
        self,
        n_features: int,
        n_components: int,
        alpha: float,
        *,
        loosen: float = 1.0,
        forgetting: float = 1.0,
        max_iter: int = 5000,
    ) -> None:
        if not (math.isfinite(loosen) and loosen > 0.0):
            raise ValueError(f"loosen must be a finite number above 0 (1 is the theorem's tolerance), got {loosen}.")
        super().__init__(n_features, n_components, alpha, forgetting)
        self.loosen, self.max_iter = float(loosen), max_iter
        self.warm = Warm(np.zeros_like(self.S), 0.0, 0.0)
        self.records: deque[SubproblemRecord] = deque(maxlen=RECORDS)

    def update_many(self, Z: Array) -> None:
        """Learn from the rows of ``Z``, one after the other."""
        with one_blas_thread():
            for z in Z:
                self._update(z)

    def _update(self, z: Array) -> None:
        self._see(z)
        trace = float(self.S.trace())
        if trace <= 0.0:
            return  # nothing has varied yet, every X is as good
        if not trace <= self.warm.rho <= 4.0 * trace:
            # tr S is the scale of S − D over that of X; at p = 400 twice that needs fewest iterations. A stream whose
            # scale has drifted starts afresh, which costs little: a sample moves the optimum far.
            self.warm = Warm(np.zeros_like(self.S), 2.0 * trace, 0.0)
        problem = Subproblem(self.S, self.n_components, self.alpha, self.count.effective)
        found = solve_subproblem(problem, self.warm, self.loosen * problem.tolerance, max_iter=self.max_iter)
        self._take(found)

    def _take(self, found: Certified) -> None:
        self._vectors, self._weights = found.vectors.copy(), found.weights.copy()
        record = SubproblemRecord(self.n_samples, found.gap, found.tolerance, found.n_iter)
        self.records.append(record)
        self.n_unmet += not record.met

    def state(self) -> State:
        """Return everything that later results depend on."""
        basis = self.warm.basis
        return {
            **super().state(),
            "z": self.warm.z,
            "rho": self.warm.rho,
            "norm": self.warm.norm,
            "basis": np.zeros((0, self.n_features)) if basis is None else basis,
            "records": np.array([[r.sample, r.gap, r.tolerance, r.n_iter] for r in self.records]).reshape(-1, 4),
        }

    def restore(self, state: State) -> None:
        """Take over a saved state."""
        super().restore(state)
        basis = np.array(state["basis"])
        self.warm = Warm(np.array(state["z"]), float(state["rho"]), float(state["norm"]), basis if len(basis) else None)
        self.records = deque(
            (SubproblemRecord(int(s), float(g), float(t), int(n)) for s, g, t, n in state["records"]), maxlen=RECORDS
        )
