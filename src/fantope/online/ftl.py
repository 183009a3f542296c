"""Follow the leader, the batch problem after each sample; and a tracker, the same now and then."""

from __future__ import annotations

import numpy as np

from fantope.online.base import State
from fantope.online.leader import Leader
from fantope.online.saved import saved_number
from fantope.solvers import Status
from fantope.solvers.solve import solve_to_the_end
from fantope.typing import Array


class FollowTheLeader(Leader):
    """X_t maximises ⟨S_{1:t}, X⟩ − λ‖X‖₁ over the Fantope.

    The natural method, and the one to compare with: it trusts the first samples too much, and its regret suffers.

    Parameters
    ----------
    n_features, n_components : int
    alpha : float
        λ.
    tol : float, default 1e-3
        Relative duality gap of each solve; :attr:`gap` is the last one's.
    forgetting : float, default 1
        A sample k steps back weighs forgetting^k.
    window : int, optional
        Number of latest samples to learn from.
    every : int, optional
        Number of samples between two solves, 1 by default.
    """

    name = "ftl"
    every = 1

    def __init__(
        self,
        n_features: int,
        n_components: int,
        alpha: float,
        *,
        tol: float = 1e-3,
        forgetting: float = 1.0,
        window: int | None = None,
        every: int | None = None,
    ) -> None:
        super().__init__(n_features, n_components, alpha, forgetting, window)
        self.tol, self.every = tol, self.every if every is None else every
        self.gap = float("nan")

    def _learn(self, z: Array) -> None:
        if self._due():
            self.resolve()

    def _due(self) -> bool:
        return self.n_samples % self.every == 0 or self.n_samples == 1

    def resolve(self) -> None:
        """Solve for S, from the last X."""
        if not self.S.any():
            return
        # The start is the last X alone: what it is must not depend on whether the run was interrupted and resumed.
        init = self.iterate() if len(self._weights) else None
        found = solve_to_the_end(self.S, self.n_components, self.penalty, tol=self.tol, init=init)
        self._weights = found.factors.weights.copy()
        self._vectors = np.zeros((len(self._weights), self.n_features))
        self._vectors[:, found.factors.rows] = found.factors.vectors
        self.gap = found.gap
        self.n_unmet += found.status is not Status.SOLVED

    def state(self) -> State:
        """Return everything that later results depend on."""
        return {**super().state(), "gap": self.gap}

    def restore(self, state: State) -> None:
        """Take over a saved state."""
        super().restore(state)
        self.gap = saved_number(state, "gap", finite=False)


class Tracker(FollowTheLeader):
    """The certified batch solution of the moments that are remembered, brought up to date every so many samples.

    Between Online-T and following the leader in cost, and with a gap. Before sample ``every`` it solves at 2, 4, 8, …

    Parameters
    ----------
    n_features, n_components, alpha, tol, forgetting, window
        As of :class:`FollowTheLeader`.
    every : int, optional
        Number of samples between two solves, 100 by default.
    """

    name = "tracker"
    every = 100

    def _due(self) -> bool:
        n = self.n_samples
        return n % self.every == 0 or (n < self.every and n.bit_count() == 1)
