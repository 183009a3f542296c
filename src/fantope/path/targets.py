"""The penalty that meets a target: about k variables, ‖X‖₁ ≤ s, or a share of the variance that PCA explains.

Each is a search over alpha. ‖X‖₁ falls in alpha, and so, nearly always, do the number of variables and the variance
explained; every solution on the way is certified and warm-started from the last one, and few of them need a new scan of
the data.

Ctrl-C ends a search: the best of the solutions so far is returned, with status INTERRUPTED; before the first one is
there, ``KeyboardInterrupt`` is raised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from fantope.checks import check_nonnegative, check_whole
from fantope.errors import require
from fantope.operators import Covariance
from fantope.path.walk import Walk
from fantope.penalties import L1, Concave, Penalty
from fantope.penalties.l1 import as_shape
from fantope.problem.certificate import relative_gap
from fantope.problem.decomposition import largest_alpha
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors, repair
from fantope.solvers import Solution, Status
from fantope.solvers.solve import Interrupted
from fantope.solvers.validation import check_covariance, check_n_components, check_tol, smallest_tol

MAX_SOLVES = 40
AHEAD = 0.8  # a scan is made for a somewhat smaller alpha than the one at hand: a search goes down by tenths
RESOLUTION = 1e-4  # of alpha, relative to alpha_max, at which a search ends


@dataclass(frozen=True)
class ConstrainedSolution:
    """A solution of ``max ⟨S, X⟩`` over the Fantope with ``‖X‖₁ ≤ bound``: the constrained form of DSPCA.

    Attributes
    ----------
    solution : Solution
        Of the penalised problem at the multiplier found. Its X is the answer. At the alpha where ‖X‖₁ jumps over s no
        single solution has ‖X‖₁ = s: then it is a mixture of one from each side.
    bound : float
        s.
    norm : float
        ‖X‖₁, at most s.
    objective, dual_bound : float
        ⟨S, X⟩ ≤ optimum ≤ φ_d(S − U) + alpha·s, for the constrained problem.
    """

    solution: Solution
    bound: float
    norm: float
    objective: float
    dual_bound: float

    @property
    def gap(self) -> float:
        """Certified relative gap of the constrained problem."""
        return relative_gap(self.objective, self.dual_bound)


def solve_for_size(
    S: Any, n_components: int, n_variables: int, *, penalty: Penalty | Concave | None = None, tol: float = 1e-3
) -> Solution:
    """Return the solution whose number of variables is closest to ``n_variables``; ``penalty`` is as for solve_path.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(200, 60)
    >>> len(fantope.solve_for_size(sim.Z.T @ sim.Z / 200, 2, 35).support)
    35
    """
    covariance = check_covariance(S)
    d = check_n_components(n_components, covariance.size)
    p = covariance.size
    check_whole("n_variables", n_variables, d, p, f"a whole number from {d} (n_components) to {p}")
    shape = as_shape(penalty, covariance.size)
    tried, mark = _search(covariance, d, shape, tol, lambda solution: len(solution.support) - int(n_variables))
    found = min(tried, key=lambda solution: (abs(len(solution.support) - n_variables), -solution.alpha))
    return mark(found)


def solve_for_norm(S: Any, n_components: int, norm: float, *, tol: float = 1e-3) -> ConstrainedSolution:
    """Solve ``max ⟨S, X⟩`` over the Fantope with ``‖X‖₁ ≤ norm`` (for d = 1, DSPCA as it was first written).

    ``norm`` must be at least d: tr X = d and X ⪰ 0 already give ‖X‖₁ ≥ d.
    """
    covariance = check_covariance(S)
    d = check_n_components(n_components, covariance.size)
    norm = check_nonnegative("norm", norm)
    require(not norm < d, "norm", f"be at least n_components, {d} (‖X‖₁ ≥ tr X = {d})", f"{norm:g}")
    tol = check_tol(tol, covariance.size)
    # Twice as accurate as asked for: what the resolution of alpha and a mixture add stays within tol.
    finer = max(0.5 * tol, smallest_tol(covariance.size))
    tried, mark = _search(covariance, d, L1(0.0), finer, lambda found: _norm(found) - norm)
    bound = min(solution.dual_bound + solution.alpha * norm for solution in tried)

    def constrained(solution: Solution) -> ConstrainedSolution:
        return ConstrainedSolution(mark(solution), norm, _norm(solution), _inner(solution), bound)

    # The first solution is that of alpha_max, whose norm is d.
    within = [solution for solution in tried if _norm(solution) <= norm * (1 + 1e-9)]
    beyond = [solution for solution in tried if _norm(solution) > norm]
    found = max((constrained(solution) for solution in within), key=lambda candidate: candidate.objective)
    if beyond and found.gap > 0.1 * tol and found.solution.status is not Status.INTERRUPTED:
        nearest = min(within, key=lambda solution: solution.alpha), max(beyond, key=lambda solution: solution.alpha)
        try:
            mixed = _mixture(covariance, *nearest, norm)
        except KeyboardInterrupt:
            return replace(found, solution=replace(found.solution, status=Status.INTERRUPTED))
        if mixed is not None and _norm(mixed) <= norm * (1 + 1e-9) and _inner(mixed) > found.objective:
            found = constrained(mixed)
    return found


def _norm(solution: Solution) -> float:
    return float(np.abs(solution.projection.data).sum())


def _inner(solution: Solution) -> float:
    return solution.objective + solution.alpha * _norm(solution)


def _mixture(S: Covariance, one: Solution, other: Solution, norm: float) -> Solution | None:
    """Return a mixture of two solutions as a solution at the smaller alpha: the Fantope is convex."""
    low, high = _norm(one), _norm(other)
    share = min(max((norm - low) / (high - low), 0.0), 1.0)
    rows = np.union1d(one.support, other.support)
    X = (1 - share) * one.projection[rows][:, rows] + share * other.projection[rows][:, rows]
    point = repair(X.toarray(), one.n_components, lambda _: 0.0)
    if point is None:
        return None
    base = min(one, other, key=lambda solution: solution.alpha)
    factors = point.lifted(rows)
    problem = Problem(S.block(factors.rows, factors.rows), one.n_components, base.penalty)
    everything = Factors(np.arange(len(factors.rows)), factors.vectors, factors.weights)
    return replace(base, factors=factors, objective=problem.objective(everything))


def solve_for_variance(
    S: Any, n_components: int, share: float, *, penalty: Penalty | Concave | None = None, tol: float = 1e-3
) -> Solution:
    """Return the sparsest solution found whose components explain at least ``share`` of what PCA's d explain.

    ``penalty`` is as for solve_path.
    """
    covariance = check_covariance(S)
    d = check_n_components(n_components, covariance.size)
    share = check_nonnegative("share", share, positive=True)
    require(not share >= 1, "share", "be between 0 and 1", f"{share:g}", "only alpha = 0, ordinary PCA, reaches 1")
    shape = as_shape(penalty, covariance.size)
    wanted = share * leading_variance(covariance, d)
    tried, mark = _search(covariance, d, shape, tol, lambda solution: float(solution.explained_variance.sum()) - wanted)
    # None explains enough if Ctrl-C came, or if the share is closer to 1 than tol: then the best one.
    enough = [solution for solution in tried if solution.explained_variance.sum() >= wanted] or [
        max(tried, key=lambda solution: float(solution.explained_variance.sum()))
    ]
    return mark(min(enough, key=lambda solution: (len(solution.support), -solution.alpha)))


def leading_variance(S: Covariance, n_components: int) -> float:
    """Return the sum of the d largest eigenvalues of S: the variance that ordinary PCA explains."""
    if S.size <= n_components + 2:
        return float(np.sort(np.linalg.eigvalsh(S.block(np.arange(S.size), np.arange(S.size))))[-n_components:].sum())
    operator = LinearOperator((S.size, S.size), matvec=S.matmul, matmat=S.matmul, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(S.size)
    return float(eigsh(operator, k=n_components, which="LA", v0=start, return_eigenvectors=False).sum())


def _search(
    S: Covariance, d: int, penalty: Penalty | Concave, tol: float, excess: Callable[[Solution], float]
) -> tuple[list[Solution], Callable[[Solution], Solution]]:
    """Return all solutions of a search that Ctrl-C may have ended, and a function that marks a solution if it has."""
    walk = Walk(S, d, check_tol(tol, S.size), penalty=penalty)
    tried = walk.solutions
    try:
        _bisect(walk, excess)
    except KeyboardInterrupt as stop:
        # A solution that was under way says little about its alpha; finished ones are better if there are any.
        if not tried and isinstance(stop, Interrupted):
            tried.append(stop.solution())
        if not tried:
            raise
        return tried, lambda solution: replace(solution, status=Status.INTERRUPTED)
    return tried, lambda solution: solution


def _bisect(walk: Walk, excess: Callable[[Solution], float]) -> None:
    """Bisect on alpha for a change of sign of ``excess``, which is positive for small alphas.

    Raises KeyboardInterrupt on Ctrl-C; the walk has the solutions until then.
    """
    top = largest_alpha(walk.S, walk.penalty)

    def at(alpha: float) -> float:
        return excess(walk.solve(alpha, ahead=AHEAD * alpha))

    high, low = top, top
    if at(high) >= 0 or top == 0:
        return
    # Walk down before bisecting: small alphas are the expensive ones.
    while low > RESOLUTION * top:
        high, low = low, 0.9 * low
        if at(low) >= 0:
            break
    else:
        at(0.0)
        return
    while high - low > RESOLUTION * top and len(walk.solutions) < MAX_SOLVES:
        middle = 0.5 * (low + high)
        found = at(middle)
        if found == 0:
            break
        low, high = (middle, high) if found > 0 else (low, middle)
