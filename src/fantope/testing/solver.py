"""Whether a solver is one: what it returns is certified, by arithmetic that it has no part in."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from fantope.penalties import L1, Entrywise, WeightedL1
from fantope.simulation import simulate
from fantope.solvers import Record, Solution, Status, solve
from fantope.solvers.base import Solver
from fantope.testing.expect import expect
from fantope.typing import Array


def check_solver(
    solver: str | Solver, tol: float = 1e-3, max_iter: int | None = None, reach: float | None = None
) -> None:
    """Check a solver on a handful of problems, for every penalty it has to know.

    Parameters
    ----------
    solver : str or Solver
    tol : float
        Relative gap that it is asked for.
    max_iter : int, optional
        For each problem; by default the solver's own.
    reach : float, optional
        Relative gap that it has to reach, by default ``tol``. A slow baseline may be given a larger one.

    Examples
    --------
    >>> check_solver("admm")
    """
    for name, S, d, penalty in _problems():
        before = S.copy()
        records: list[Record] = []
        sol = solve(S, d, penalty, solver=solver, tol=tol, max_iter=max_iter, callback=records.append)
        expect(np.array_equal(S, before), f"{name}: the solver must not change S.")
        _check_certificate(name, S, sol)
        expect(sol.gap <= (tol if reach is None else reach), f"{name}: the gap is {sol.gap:.3g} ({sol.status.name}).")
        expect(sol.status is not Status.SOLVED or sol.gap <= tol, f"{name}: SOLVED with a gap above tol.")
        _check_records(name, records, sol)
        again = solve(S, d, penalty, solver=solver, tol=tol, max_iter=max_iter, init=sol)
        expect(again.gap <= max(tol, sol.gap), f"{name}: a warm start from its own answer must not be worse.")
        short = solve(S, d, penalty, solver=solver, tol=1e-9, max_iter=3)
        expect(short.n_iter <= 3, f"{name}: {short.n_iter} iterations where max_iter was 3.")
        _check_certificate(name, S, short)


def _problems() -> list[tuple[str, Array, int, Entrywise]]:
    rng = np.random.default_rng(0)
    Z = simulate(60, 50, sizes=(8, 6)).Z
    S = Z.T @ Z / len(Z)
    small = S[np.ix_(range(4, 14), range(4, 14))]
    apart = S.copy()
    apart[:20, 20:] = apart[20:, :20] = 0.0
    weights = rng.uniform(0.0, 2.0, (10, 10))
    weights[rng.uniform(size=(10, 10)) < 0.2] = 0.0
    weights = np.triu(weights) + np.triu(weights, 1).T
    forbidden = weights.copy()
    forbidden[0, 5:] = forbidden[5:, 0] = np.inf
    return [
        ("the paper's model", S, 2, L1(0.4)),
        ("separate components", apart, 3, L1(0.4)),
        ("indefinite S", small - 3.0 * np.eye(10), 2, L1(0.2)),
        ("no penalty", small, 2, L1(0.0)),
        ("isolated variables", small, 2, L1(100.0)),
        ("weights", small, 3, WeightedL1(0.4, weights)),
        ("infinite weights", small, 1, WeightedL1(0.4, forbidden)),
    ]


def _check_certificate(name: str, S: Array, sol: Solution) -> None:
    """Recompute the bracket with nothing but NumPy."""
    p, d = len(S), sol.n_components
    X, U = sol.projection.toarray(), sol.dual.block(np.arange(p), np.arange(p))
    own = sol.penalty.restrict(np.arange(p))
    assert isinstance(own, Entrywise)
    limits = np.broadcast_to(own.limits(), (p, p))
    values = np.linalg.eigvalsh(X)
    inside = values[0] >= -1e-9 and values[-1] <= 1 + 1e-9 and abs(X.trace() - d) <= 1e-9 * d
    expect(bool(inside), f"{name}: X is not in the Fantope.")
    expect(not X[np.isinf(limits)].any(), f"{name}: X has entries that the penalty forbids.")
    expect(bool((np.abs(U) <= limits * (1 + 1e-12)).all()), f"{name}: U is not in the dual set.")
    used = X != 0.0
    objective = float((S * X).sum() - (limits[used] * np.abs(X[used])).sum())
    bound = float(np.linalg.eigvalsh(S - U)[-d:].sum())
    scale = 1e-9 * (float(np.abs(S).max()) + sol.alpha) * p
    expect(abs(sol.objective - objective) <= scale, f"{name}: the objective is {objective}, not {sol.objective}.")
    expect(bound <= sol.dual_bound + scale, f"{name}: φ_d(S − U) is {bound}, above the bound {sol.dual_bound}.")


def _check_records(name: str, records: list[Record], sol: Solution) -> None:
    expect(len(records) > 0, f"{name}: the callback was never called.")
    expect(tuple(records) == sol.history, f"{name}: the callback must see the records of the history.")
    descending = all(after.gap <= before.gap for before, after in pairwise(records))
    expect(descending, f"{name}: the best gap so far must not grow.")
