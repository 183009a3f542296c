"""The public entry: check, decompose, solve, certify."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fantope.checks import check_nonnegative
from fantope.eigen import one_blas_thread
from fantope.errors import check_choice, require
from fantope.operators import Covariance, DenseCovariance
from fantope.penalties import Concave, Entrywise, Penalty, Structured
from fantope.penalties.l1 import as_penalty, as_shape
from fantope.problem.certificate import relative_gap, row_sum_bound
from fantope.problem.decomposition import Decomposition, component_labels, decompose, largest_alpha
from fantope.problem.dual import DenseDual, ExtendedDual, ReducedDual, StructuredDual
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors, assemble, pinch
from fantope.solvers.active_set import ActiveSet
from fantope.solvers.admm import Admm
from fantope.solvers.base import Candidate, Solver, Start
from fantope.solvers.concave import concave_steps, steps_graph
from fantope.solvers.gradfps import GradFps
from fantope.solvers.iterate import MARGIN, Run, RunInterrupted, iterate
from fantope.solvers.projected_subgradient import ProjectedSubgradient
from fantope.solvers.result import Interrupted as Interrupted
from fantope.solvers.result import Record, Solution, Status
from fantope.solvers.structured import StructuredAdmm
from fantope.solvers.subgradient import Subgradient
from fantope.solvers.validation import check_covariance, check_max_iter, check_n_components, check_tol
from fantope.typing import Array, IntArray

# By the name that each class has; "auto" is the active set.
SOLVERS: dict[str, Callable[..., Solver]] = {
    each.name: each for each in (ActiveSet, GradFps, Admm, Subgradient, ProjectedSubgradient)
}

# Times what may be lost: where the loss without some rows, judged by the entries of X between the others, is larger,
# they are not tried without. On noise and the paper's model that was 0.5 to 1.3 times the loss.
HOPELESS = 2.0
LEVERAGES = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6)  # X_ii below which a row is tried to be left out, sparsest first


def solve(
    S: Any,
    n_components: int,
    alpha: float | Penalty | Concave,
    *,
    solver: str | Solver = "auto",
    tol: float = 1e-4,
    max_iter: int | None = None,
    step_size: float | None = None,
    init: Any = None,
    callback: Callable[[Record], object] | None = None,
) -> Solution:
    """Solve ``max ⟨S, X⟩ − Ω(X)`` over ``0 ⪯ X ⪯ I, tr X = d`` to a certified relative gap.

    Parameters
    ----------
    S : (p, p) array or covariance operator
        Symmetric; it may be indefinite or singular.
    n_components : int
        d, 1 ≤ d < p.
    alpha : float or penalty
        A number is the λ of the paper, 0 or larger: Ω(X) = alpha‖X‖₁, and 0 is ordinary PCA. Or any Ω of
        :mod:`fantope.penalties`. The folded concave ones, MCP and SCAD, are not convex: they are solved by convex
        steps, each certified, and ``steps`` of the solution has a record of each.
    solver : str or solver object, default "auto"
        "auto" (active set around ADMM, the fastest), "admm", "gradfps", "subgradient" or
        "projected-subgradient"; or an object of :mod:`fantope.solvers` with options of its own.
    tol : float, default 1e-4
        Relative duality gap at which to stop.
    max_iter : int, optional
        Default: the solver's own.
    step_size : float, optional
        The paper's α. Default: each solver chooses and adapts its own.
    init : Solution or (p, p) array, optional
        Where to start. A solution brings its dual point along.
    callback : callable, optional
        Called with a :class:`Record` at every recorded iteration.

    Returns
    -------
    Solution
        Certified whatever the status. Ctrl-C returns the best answer so far with status INTERRUPTED, and raises
        ``KeyboardInterrupt`` before the first iteration.

    Examples
    --------
    >>> import numpy as np, fantope
    >>> S = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 0.95]])
    >>> sol = fantope.solve(S, 2, 0.1)
    >>> round(sol.objective, 6), sol.status.name, sol.support.tolist()
    (2.55, 'SOLVED', [0, 1, 2])
    >>> sol.verify(S).gap < 1e-4
    True
    """
    try:
        return solve_to_the_end(
            S, n_components, alpha, solver=solver, tol=tol, max_iter=max_iter, step_size=step_size, init=init,
            callback=callback,
        )  # fmt: skip
    except Interrupted as stop:
        return stop.solution()


def solve_to_the_end(
    S: Any,
    n_components: int,
    alpha: float | Penalty | Concave,
    *,
    solver: str | Solver = "auto",
    tol: float = 1e-4,
    max_iter: int | None = None,
    step_size: float | None = None,
    init: Any = None,
    callback: Callable[[Record], object] | None = None,
) -> Solution:
    """Do what :func:`solve` does for code whose result depends on it: Ctrl-C raises :class:`Interrupted`."""
    covariance = check_covariance(S)
    d = check_n_components(n_components, covariance.size)
    shape = alpha if isinstance(alpha, Concave) else as_penalty(alpha, covariance.size)
    tol = check_tol(tol, covariance.size)
    max_iter = check_max_iter(max_iter)
    require(callback is None or callable(callback), "callback", "be a function of one record", repr(callback))
    if step_size is not None:
        step_size = check_nonnegative("step_size", step_size, positive=True)
    chosen = choose_solver(solver, step_size, shape)
    if not isinstance(shape, Concave):
        return solve_parts(covariance, decompose(covariance, d, shape), chosen, tol, max_iter, init, callback)
    graph = None if isinstance(covariance, DenseCovariance) else steps_graph(covariance, shape)

    def convex(penalty: Entrywise, init: Any, enough: float = 0.0) -> Solution:
        labels = component_labels(covariance, penalty, graph)
        parts = decompose(covariance, d, penalty, labels)
        return solve_parts(covariance, parts, chosen, tol, max_iter, init, callback, enough)

    return concave_steps(covariance, shape, convex, init)


def solve_parts(
    covariance: Covariance,
    parts: Decomposition,
    solver: Solver,
    tol: float,
    max_iter: int | None = None,
    init: Any = None,
    callback: Callable[[Record], object] | None = None,
    enough: float = 0.0,
) -> Solution:
    """Solve a decomposed problem; arguments are checked already.

    A gap of ``enough`` is enough, but no more than ``tol`` of the objective is given up to leave out rows. Raises
    Interrupted on Ctrl-C.
    """
    run, goal = Run(), max(tol, enough)
    with one_blas_thread():  # also for what comes before and after the loop: beside a busy core threads wait
        start, known = _start(init, covariance, parts), _known(init, covariance, parts)
        try:
            run = iterate(
                solver, parts.problem, tol=goal, max_iter=max_iter, start=start, known=known, callback=callback
            )
            if run.X is None or run.dual is None:
                run.update(parts.problem, _trivial(parts.problem), tol)
            if run.status is Status.SOLVED:
                _sparsify(run, parts.problem, tol)
            return _solution(run, solver, covariance, parts)
        except KeyboardInterrupt as stop:
            best = stop.run if isinstance(stop, RunInterrupted) else run
            raise Interrupted(lambda: _best_so_far(best, solver, covariance, parts)) from None


def choose_solver(
    solver: str | Solver, step_size: float | None = None, penalty: Penalty | Concave | None = None
) -> Solver:
    """Return the solver that a name or an object stands for; penalties that couple entries have one of their own."""
    if isinstance(penalty, Structured) and not isinstance(solver, StructuredAdmm):
        if solver not in ("auto", "admm"):
            raise ValueError(
                f"solver must be 'auto' or 'admm' for a penalty that couples entries, {type(penalty).__name__}, got "
                f"{solver!r}."
            )
        return StructuredAdmm(step_size=step_size)
    if not isinstance(solver, str):
        if not hasattr(solver, "candidate"):
            raise ValueError(f"solver must be a name or an object of fantope.solvers, got {type(solver).__name__}.")
        require(step_size is None, "step_size", "be given to the solver object itself when solver is one")
        return solver
    check_choice("solver", solver, SOLVERS)
    return SOLVERS[solver](step_size=step_size) if step_size is not None else SOLVERS[solver]()


def _start(init: Any, S: Covariance, parts: Decomposition) -> Start | None:
    """Turn what the user brings into a start over the kept variables."""
    if init is None:
        return None
    kept = parts.kept
    shape = (init.n_features,) * 2 if isinstance(init, Solution) else np.shape(init)
    if shape != (S.size, S.size):
        raise ValueError(f"init must be a Solution or array for the same {S.size} variables, got shape {shape}.")
    if isinstance(init, Solution):
        rows = np.flatnonzero(np.isin(kept, init.support))
        X = init.factors.over(kept[rows])
        if isinstance(parts.posed.own, Structured) or isinstance(init.dual.penalty, Structured):
            return _structured_start(init, rows, X, parts)
        # Clipped into the new box, not scaled: entries inside it stay where they are.
        U = parts.posed.own.clip(init.dual.block(kept[rows], kept[rows]), kept[rows], kept[rows])
        start = Start(rows, X, U, init.step_size)
    else:
        dense = init.toarray() if hasattr(init, "toarray") else np.asarray(init, dtype=np.float64)
        require(np.isfinite(dense).all(), "init", "be finite", "NaN or infinity", "leave init out to start afresh")
        dense = dense[np.ix_(kept, kept)]
        rows = np.flatnonzero(np.abs(dense).max(axis=1) > 0.0)
        start = Start(rows, np.ascontiguousarray(0.5 * (dense + dense.T)[np.ix_(rows, rows)]))
    labels = parts.labels[kept[rows]]
    apart = labels[:, None] != labels
    for block in (start.X, start.U):
        if block is not None:
            block[apart] = 0.0
    return start


def _structured_start(init: Solution, rows: IntArray, X: Array, parts: Decomposition) -> Start:
    """Return X, and the parts of the dual point if they are parts of the same kind of penalty."""
    own, reduced = parts.posed.own, init.dual.reduced
    if type(init.dual.penalty) is not type(own) or not isinstance(own, Structured):
        return Start(rows, X)
    assert isinstance(reduced, StructuredDual)
    shapes = [P.shape for P in own.parts(np.zeros_like(parts.problem.S))]
    fits = [P.shape for P in reduced.parts] == shapes
    return Start(rows, X, None, init.step_size, reduced.parts if fits else None)


def _known(init: Any, S: Covariance, parts: Decomposition) -> Candidate | None:
    """Return the points of an earlier solution of the same problem: what was certified once is not given up."""
    if not isinstance(init, Solution) or init.penalty != parts.posed.penalty:
        return None
    if init.n_components != parts.problem.n_components or not same_covariance(init.covariance, S):
        return None
    rows = np.searchsorted(parts.kept, init.support)
    dual: ReducedDual = init.dual.reduced
    if not isinstance(dual, StructuredDual | ExtendedDual):
        dual = DenseDual(init.dual.block(parts.kept, parts.kept), parts.problem.box)
    return Candidate(Factors(rows, init.factors.vectors, init.factors.weights), dual, len(rows))


def same_covariance(one: Covariance, other: Covariance) -> bool:
    """Whether both are known to be the same matrix."""
    if isinstance(one, DenseCovariance) and isinstance(other, DenseCovariance):
        return one.S is other.S or np.array_equal(one.S, other.S)
    return one is other


def _sparsify(run: Run, problem: Problem, tol: float) -> None:
    """Among the points that the bracket certifies, prefer one without rows that hardly matter.

    An iterate that is optimal up to the tolerance usually has rows of tiny leverage X_ii that the optimum has not.
    Leaving them out often raises the objective, and is done as long as the gap stays within ``tol``. Without a penalty
    no row counts as superfluous.
    """
    assert run.X is not None
    if problem.alpha == 0.0:
        return
    leverage = run.X.weights @ run.X.vectors**2
    own = problem.penalty.restrict(run.X.rows)
    share = _shares(run.X, problem)
    allowed = HOPELESS * max(run.dual_bound - run.objective, tol * abs(run.dual_bound))
    before = 0
    for threshold in LEVERAGES:
        rows = own.together(leverage > threshold)
        if rows.all():
            return
        number, before = before, int(rows.sum())
        scale = problem.n_components / max(float(leverage[rows].sum()), 1e-300)
        if before == number or (share is not None and run.dual_bound - scale * share(rows) > allowed):
            continue
        point = problem.narrowed(run.X, rows)
        if point is None:
            continue
        point = pinch(point, problem.labels)
        objective = problem.objective(point)
        # Where the optimum is about zero a relative gap says nothing: there no more is given up than was lost already.
        within = relative_gap(objective, run.dual_bound) <= MARGIN * tol
        same_size = problem.size_of_terms(point) >= MARGIN * problem.size_of_terms(run.X)
        if within or (objective >= run.objective and same_size):
            run.X, run.objective = point, objective
            return


def _shares(X: Factors, problem: Problem) -> Callable[[Array], float] | None:
    """Return a function from rows of X to what the entries between them add to the objective."""
    if not isinstance(problem.penalty, Entrywise) or problem.forbids:
        return None
    block = assemble(X.vectors.T, X.weights)
    terms = problem.block(X.rows, X.rows) * block - problem.penalty.limits(X.rows, X.rows) * np.abs(block)
    return lambda rows: float(rows @ (terms @ rows))


def _trivial(problem: Problem) -> Candidate:
    """Return the d variables with the largest diagonal: what can be certified where a run has left nothing."""
    m, d = problem.size, problem.n_components
    if isinstance(problem.penalty, Structured):
        gain, zero = problem.S.diagonal(), problem.penalty.parts(np.zeros_like(problem.S))
        dual: ReducedDual = StructuredDual(zero, problem.penalty)
    else:
        gain = problem.diagonal() - problem.box.diagonal(np.arange(m))
        dual = ExtendedDual.empty(m, problem.box)
    rows = np.sort(np.argsort(-gain, kind="stable")[:d])
    return Candidate(Factors(rows, np.eye(d), np.ones(d)), dual, m)


def _best_so_far(run: Run, solver: Solver, S: Covariance, parts: Decomposition) -> Solution:
    """Return the answer to Ctrl-C, for which somebody waits: where a side of the bracket is missing, a cheap one."""
    trivial = _trivial(parts.problem)
    assert trivial.X is not None and trivial.dual is not None
    if run.X is None:
        run.offer(parts.problem, trivial.X)
    if run.dual is None:
        run.dual, run.dual_bound = trivial.dual, row_sum_bound(parts.problem, trivial.dual)
    run.status = Status.INTERRUPTED
    return _solution(run, solver, S, parts)


def _solution(run: Run, solver: Solver, S: Covariance, parts: Decomposition) -> Solution:
    assert run.X is not None and run.dual is not None
    return Solution(
        objective=run.objective,
        dual_bound=run.dual_bound,
        status=run.status,
        n_iter=run.n_iter,
        solver=solver.name,
        penalty=parts.posed.penalty,
        n_components=parts.problem.n_components,
        n_features=S.size,
        factors=run.X.lifted(parts.kept),
        dual=parts.lift_dual(run.dual),
        covariance=S,
        step_size=getattr(run.state, "step_size", None),
        history=tuple(run.history),
    )


def alpha_max(S: Any, n_components: int, penalty: Penalty | Concave | None = None) -> float:
    """Return the smallest alpha from which on the support holds only isolated variables.

    That is the largest |S_ij| off the diagonal, whatever ``n_components`` is; for a penalty with weights the largest
    |S_ij|/weight, over the pairs whose weight is not zero (which no alpha keeps apart). MCP and SCAD start from an ℓ₁
    problem at a smaller alpha, and their own is larger by as much.

    Examples
    --------
    >>> import numpy as np
    >>> alpha_max(np.array([[1.0, -0.4], [-0.4, 1.0]]), 1)
    0.4
    """
    covariance = check_covariance(S)
    check_n_components(n_components, covariance.size)
    return largest_alpha(covariance, as_shape(penalty, covariance.size))
