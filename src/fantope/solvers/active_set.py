"""The default: an active set of variables around ADMM, certified over all variables.

A sparse solution uses few variables. Each round solves the problem on a set A of them and extends the dual point to
all the others (docs/guarantees.md): for an outside variable b a vector u_b in the box with Vᵀu_b = Vᵀs_b keeps the
range of X invariant under S − U. Where no such u_b exists, b belongs into A. Where all exist but S − U has another
large eigenvalue, the variables on which its eigenvector is heavy do.

The cost is that of small problems, plus one pass over S and one Cholesky factorisation for each certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fantope.eigen import Eigenspace, all_blas_threads, share_out
from fantope.eigen.lapack import largest_eigenpairs, orthonormal
from fantope.eigen.rough import roughly_leading
from fantope.kernels.extension import extend_dual
from fantope.problem.dual import ExtendedDual
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors, compress
from fantope.problem.slack import SplitSlack
from fantope.problem.wide import WideProblem
from fantope.solvers.admm import Admm
from fantope.solvers.base import Candidate, Solver, Start
from fantope.solvers.centred import CentredAdmm, is_tiny
from fantope.solvers.circulant import CirculantProgramme, is_circulant
from fantope.solvers.interior import Interior
from fantope.solvers.iterate import Run, RunInterrupted, iterate
from fantope.solvers.memory import Memory
from fantope.solvers.near_admm import NearAdmm
from fantope.solvers.result import Status
from fantope.typing import Array, IntArray

WHOLE_UP_TO = 400  # variables; up to here ADMM on everything is as fast as a few rounds (measured)
LARGEST_SHARE = 0.6  # of the variables in the active set; beyond it the problem is solved whole
RIDGE = 1e-8  # in extend_dual: rows that cannot be feasible get a finite answer
EXTENDED = 1024  # outside variables whose rows of S are in memory at a time, for each thread
# Newton steps, the second for tight tolerances: a variable whose row takes more is better active.
EXTENSION_STEPS = 5, 12
HARMLESS = 1e-3  # of a coupling that counts: as good as none, even if all variables had it
USED = 1e-2  # weight from which an eigenvector of X counts as in use
FIRST_SIZE, FIRST_SIZE_EACH = 20, 20  # variables in the first round: in all, and for each component
FIRST_LOOK = 5  # block products that choose them
FIRST_TOL = 1e-2  # of the first round: enough to see which variables are missing
NEAR_UP_TO = 8000  # variables; beyond, its dozen m × m arrays would take more than 6 GB
SECOND_UP_TO, SECOND_AFTER = 100, 9000  # variables up to which, iterations after which another method is tried
INTERIOR_UP_TO = 60  # variables, for an interior-point method, whose cost grows with the fourth power and more …
INTERIOR_AFTER = 300, 0.5  # … iterations after which it is tried, and for each of the p² entries: half its time
TINY_AFTER = 200  # the same for an optimum about zero
CIRCULANT_AFTER = 500  # iterations after which a circulant S becomes a linear programme
CHECK_EVERY = 25  # iterations of the method for larger sets, where a certificate costs as much as ten of them
WIDEST, LARGEST_ROWS = 3000, 60_000_000  # of a wide problem: active variables, and entries of their rows
MAX_GROWTH = 1.0  # new variables in a round, as a multiple of the present ones
INNER_SHARE, WHOLE_SHARE = 0.6, 0.95  # of the tolerance that the inner problem may use up; the rest is the extension's
HEAVY = 0.003  # of the largest weight that eigenvectors give a variable: those above it are added (0.01: more rounds)
TIGHTEST = 30  # of a wide problem, whose bound no accuracy can bring to that of S − U: the last inner tolerance
TIGHTER = 0.005  # of the last tolerance, the next one on data that are not flat; the set is nearly complete after it
SMALL_GROWTH = 0.1  # of the present ones: the set is nearly complete
NEAR_GROWTH = 0.25  # and at most, where bending was undone (0.5: kidney normals, alpha 0.88, 1,072 active, not 893)
LEAST_GROWTH = 6  # and at least this part of the present ones: rounds cost more than variables
LOOK_SHARE = 0.65  # of the tolerance: a gap seen by a look, which misses some of it, that a certificate will accept
# Of the inner tolerance: what outside variables may seem to add to the inner bound. The second is for the last one, the
# first for those before: much of it is for want of accuracy. (0.05: 1,278 active variables at alpha 0.85, not 1,010.)
EXCESS = 0.4, 0.1
LOOK, SEARCH = 3, 8  # block products that look for such eigenvectors: in each round, and after a certificate has failed
TIGHT = 1e-5  # tolerance from which on single precision is not enough for that
CLUSTER = 15  # at most; eigenvectors of S − U beyond d from which missing variables are read: flat data have many alike
FAR = 0.05  # of the bound: with a larger excess variables are missing, below it bending the dual point may be enough
BENDS = 2  # of the dual point before variables are added; one before the inner problem is accurate
HEAVY_BENT = 0.05  # the same after bending, which leaves few (kidney normals, alpha 0.88: 739 active, not 1,342)
WORSE = 3.0  # times the gap before bending: it is undone (1.5: kidney normals, alpha 0.85, 2,150 active, not 1,154)
GUARDS = 80  # at most, the latest first (40 took four more rounds at alpha 0.87)
GUARD = 5e-4  # weight of a guard beside a vector in use, whose rows have to be met exactly: 1 gave rows that explode


@dataclass
class ActiveSetState:
    """The active variables, the start for the next round and what the last round gave."""

    active: IntArray
    start: Start | None
    tol: float  # of the next round's inner problem
    final_tol: float
    tol_outside: float  # of the certificate over all variables
    X: Factors | None = None
    dual: ExtendedDual | None = None
    leading: Array | None = None  # eigenvectors of S − U, roughly, as rows
    memory: Memory = field(default_factory=Memory)  # of dual points that are no longer needed
    guards: Array | None = None  # those that lifted the bound: the extended dual point keeps away from them
    objective: float = -np.inf
    inner_bound: float = np.inf
    promising: bool = False  # the last look saw no more than a certificate accepts
    searched: bool = False  # it took as many products as after a certificate that has failed
    bent: bool = False  # it was extended anew since the inner problem was solved
    pending: bool = False  # X and dual await their certificate over all variables
    full: bool = False  # memory holds no more active variables: the next certificate is the last
    exhausted: bool = False  # the inner problem came to rest above its tolerance: another round would bring nothing

    @property
    def fractional(self) -> int:
        """How many eigenvectors of X there are beyond d: S − U has at least as many leading eigenvalues alike."""
        assert self.X is not None
        return len(self.X.weights) - round(float(self.X.weights.sum()))

    def visible(self, n_components: int) -> float:
        """Return the coupling from which a variable counts: c lifts the bound by about c²/λ."""
        return float(np.sqrt(0.02 * self.final_tol) * abs(self.inner_bound) / n_components)

    @property
    def step_size(self) -> float | None:
        """The step size of the inner solver."""
        return None if self.start is None else self.start.step_size


@dataclass(frozen=True)
class ActiveSet:
    """Grow a set of variables until the solution on it is certified to be the solution on all of them.

    Parameters
    ----------
    step_size : float, optional
        Of the inner ADMM. Given, it stays fixed; by default it adapts.
    """

    step_size: float | None = None
    name: str = "auto"
    max_iter: int = 20_000
    check_every: int = 1

    def init(self, problem: Problem, start: Start | None, tol: float) -> ActiveSetState:
        """Begin with the variables of ``start``, or with those that lead a thresholded PCA."""
        m = problem.size
        wide = isinstance(problem, WideProblem)
        if m <= WHOLE_UP_TO and not wide:
            active = np.arange(m)
        elif start is not None and len(start.rows):
            active = start.rows
        else:
            active = self._leading_variables(problem)
        state = ActiveSetState(active, None, max(FIRST_TOL, INNER_SHARE * tol), INNER_SHARE * tol, tol)
        if len(active) > LARGEST_SHARE * m and not wide:
            state.active = active = np.arange(m)
        if len(active) == m:
            state.tol = state.final_tol = WHOLE_SHARE * tol
        if start is not None and len(start.rows):
            state.start = Start(np.arange(len(active)), start.X, start.U, start.step_size)
            if len(active) == m and not wide:
                X, U = start.spread(problem)
                state.start = Start(active, X, U, start.step_size)
        return state

    @staticmethod
    def _leading_variables(problem: Problem) -> IntArray:
        d, m = problem.n_components, problem.size
        M = problem.rough_slack(ExtendedDual.empty(m, problem.box), single=True)
        start = np.random.default_rng(0).standard_normal((d + 3, m))
        if isinstance(M, SplitSlack):
            _, rows = roughly_leading(M, d, start, FIRST_LOOK, single=True)
        else:
            _, rows = Eigenspace(start).leading(M, lambda _: d, relative=0.05)
        leverage = (rows**2).sum(axis=0)
        return np.sort(np.argsort(-leverage, kind="stable")[: FIRST_SIZE + FIRST_SIZE_EACH * d])

    def step(self, problem: Problem, state: ActiveSetState, budget: int) -> int:
        """Solve on the active variables, extend the dual point, grow the set if it has to grow."""
        if state.pending:
            dual, new = state.dual, self._heavy(problem, state, SEARCH)
            if len(new):
                self._grow(problem, state, new)
            elif state.dual is not dual and state.promising and not state.bent:
                state.bent = True  # to be certified as it is: that costs less than another round
                return 1
            else:
                self._tighten(state)
                state.full = isinstance(problem, WideProblem) and state.final_tol < state.tol_outside / TIGHTEST
        if problem.alpha == 0.0 and not len(problem.box.rows) and state.X is None:
            self._plain_pca(problem, state)
            return 1
        active, state.bent = state.active, False
        S = problem.block(active, active)
        inner = Problem(S, problem.n_components, problem.box.restrict(active))
        try:
            run = self._inner(inner, state, budget)
        except RunInterrupted as stop:
            raise RunInterrupted(_lifted(stop.run, active, problem.size)) from None
        if run.X is None or run.dual is None:
            raise FloatingPointError
        # The certificate of the inner run may pair different iterations; the warm start needs the last one.
        X, U = run.state.split(inner)
        state.start = Start(np.arange(len(active)), X, U, run.state.step_size)
        state.objective, state.inner_bound = run.objective, run.dual_bound
        U_inner = run.dual.over(inner.S.copy(), np.arange(len(active)), np.arange(len(active)))
        state.X = run.X.lifted(active)
        state.memory.give_back(state.dual)
        state.dual, coupling, outside = self._extend(problem, state, U_inner)
        if run.status is Status.NON_FINITE:
            raise FloatingPointError
        state.exhausted = run.status is Status.STALLED or state.full
        visible = state.visible(problem.n_components)
        violators = outside[np.argsort(-coupling, kind="stable")][: int((coupling > visible).sum())]
        settled = len(violators) < 0.2 * len(active)
        new = violators[: max(20, int(MAX_GROWTH * len(active)))]
        # Before the inner problem is accurate, a certificate over all variables would cost more than it is worth …
        accurate = run.gap <= state.final_tol or state.tol == state.final_tol
        if settled and (state.tol <= 10 * state.final_tol or problem.graph is not None or state.fractional):
            heavy = self._heavy(problem, state, LOOK)
            # A look sees what violators lift the bound by: where that is little, they are not missed.
            certain = accurate or state.promising
            new = new[:0] if certain and len(heavy) == 0 else np.union1d(new, heavy)
            if certain and len(new) == 0 and state.fractional and not state.searched:
                new = self._heavy(problem, state, SEARCH)  # from where the last look ended: a certificate costs more
            accurate |= state.promising
        state.pending = (accurate and len(new) == 0) or state.full
        if len(new) and not state.full:
            self._grow(problem, state, new)
        # … and before the set is nearly complete, so would accuracy.
        if settled and not state.pending and len(new) < SMALL_GROWTH * len(active):
            # On flat data the set may have to grow before that pays.
            state.tol = max((0.1 if state.fractional else TIGHTER) * state.tol, state.final_tol)
        return max(run.n_iter, 1)

    def _inner(self, inner: Problem, state: ActiveSetState, budget: int) -> Run:
        """Solve the problem on the active variables, by another method where one does not get there."""
        run, start = Run(), state.start
        for method, most in self._methods(inner, budget):
            try:
                again = iterate(method, inner, tol=state.tol, max_iter=min(most, budget - run.n_iter), start=start)
            except RunInterrupted as stop:
                stop.run.adopt(inner, run)
                raise
            again.adopt(inner, run)
            run = again
            lost = run.status is Status.NON_FINITE and not isinstance(method, CirculantProgramme)
            if run.status is Status.SOLVED or run.n_iter >= budget or lost:
                break
            close = run.gap <= 10.0 * state.tol  # else it goes round in circles somewhere else
            start = Start(np.arange(inner.size), *run.state.split(inner)) if close else None
        return run

    def _methods(self, inner: Problem, whole: int) -> list[tuple[Solver, int]]:
        """Return what to solve it with, one after the other, and the most iterations of each, at most ``whole``."""
        near = NearAdmm(self.step_size)
        if inner.size > NEAR_UP_TO:
            return [(Admm(self.step_size, check_every=CHECK_EVERY), whole)]
        if self.step_size is not None:
            return [(near, whole)]
        interior = Interior()
        if is_tiny(inner):
            first: list[tuple[Solver, int]] = [(CentredAdmm(), TINY_AFTER), (interior, interior.max_iter)]
            return [*first, (CentredAdmm(), whole)] if inner.size <= INTERIOR_UP_TO else [(CentredAdmm(), whole)]
        if inner.size > SECOND_UP_TO:
            return [(near, whole)]
        if is_circulant(inner):
            return [(near, CIRCULANT_AFTER), (CirculantProgramme(), 1), (near, SECOND_AFTER), (CentredAdmm(), whole)]
        if inner.size > INTERIOR_UP_TO:
            return [(near, SECOND_AFTER), (CentredAdmm(), whole)]
        some = max(INTERIOR_AFTER[0], int(INTERIOR_AFTER[1] * inner.size**2))
        return [(near, some), (interior, interior.max_iter), (near, SECOND_AFTER), (CentredAdmm(), whole)]

    @staticmethod
    def _plain_pca(problem: Problem, state: ActiveSetState) -> None:
        """Without a penalty the leading eigenvectors are the answer, and U = 0 its proof."""
        m, d = problem.size, problem.n_components
        with all_blas_threads(m):
            _, rows = largest_eigenpairs(problem.S, d)
        state.X = compress(Factors(np.arange(m), np.ascontiguousarray(rows), np.ones(d)))
        state.dual = ExtendedDual.empty(m, problem.box)
        state.pending = True

    @staticmethod
    def _extend(problem: Problem, state: ActiveSetState, U_inner: Array) -> tuple[ExtendedDual, Array, IntArray]:
        """Return U on the rows of the active set, the coupling of each outside variable in reach, and these."""
        assert state.X is not None
        active, X = state.active, state.X
        columns = problem.reach(active)
        outside = np.setdiff1d(columns, active, assume_unique=True)
        place, every = np.searchsorted(columns, outside), len(columns) == problem.size
        U = state.memory.taken((len(active), len(columns)), np.float64)
        U[:, np.searchsorted(columns, active)] = U_inner
        coupling = np.empty(len(outside))
        used = X.weights > USED
        V = np.zeros((len(active), int(used.sum())))
        V[np.searchsorted(active, X.rows)] = X.vectors[used].T
        if state.guards is not None:
            V = np.hstack([V, GUARD * _beside(V, state.guards[:, active].T)])
        visible, steps = state.visible(problem.n_components), EXTENSION_STEPS[state.tol_outside <= TIGHT]
        looked_at = every and state.tol_outside > TIGHT
        rough = state.memory.taken((len(outside), len(active)), np.float32) if looked_at else None

        def extend(start: int) -> None:
            strip = slice(start, start + EXTENDED)
            S_rows, limits = problem.block(outside[strip], active), problem.box.limits(outside[strip], active)
            u, harmless = np.empty_like(S_rows), HARMLESS * visible
            coupling[strip] = extend_dual(S_rows, V, limits, RIDGE, u, steps, harmless, visible)
            U[:, place[strip]] = u.T
            if rough is not None:
                np.subtract(S_rows, u, out=rough[strip], casting="same_kind")

        strips = range(0, len(outside), EXTENDED)
        if isinstance(problem, WideProblem):  # whose blocks of S are computed, on all threads
            for start in strips:
                extend(start)
        else:
            share_out(extend, strips)
        return ExtendedDual(problem.box, active, U, None if every else columns, rough), coupling, outside

    def _heavy(self, problem: Problem, state: ActiveSetState, steps: int) -> IntArray:
        """Return the outside variables, if any, on which eigenvectors of S − U that lift the bound are heavy.

        On flat data S − U has a cluster of leading eigenvalues, far more than X uses, and coupling to outside variables
        lifts some of them. Before these variables are added, the dual point is bent: extended anew, away from the
        eigenvectors that were lifted.
        """
        assert state.X is not None and state.dual is not None
        d, outside = problem.n_components, np.setdiff1d(np.arange(problem.size), state.active, assume_unique=True)
        if len(outside) == 0:
            return outside
        values, within = self._look(problem, state, steps)
        if within:
            return outside[:0]
        # Where the range of X alone has its d-th eigenvalue, the bound is lifted by every other one above it.
        V, rows = state.X.vectors, state.X.rows
        S = problem.block(rows, rows)
        inside = min(np.linalg.eigvalsh(V @ (S - state.dual.over(S.copy(), rows, rows)) @ V.T)[-d], values[d - 1])
        assert state.leading is not None
        least, share, most = len(state.active) // LEAST_GROWTH, HEAVY, len(state.active) // 2
        if values[:d].sum() - state.objective <= FAR * abs(state.inner_bound):
            before = state.dual, state.guards, state.leading, values
            S = problem.block(state.active, state.active)
            for _ in range(BENDS if state.fractional and state.tol <= 10 * state.final_tol else 1):
                lifted = state.leading[values > inside]
                state.guards = lifted if state.guards is None else np.vstack([lifted, state.guards])[:GUARDS]
                last, U_inner = state.dual, state.dual.over(S.copy(), state.active, state.active)
                state.dual = self._extend(problem, state, U_inner)[0]
                if last is not before[0]:
                    state.memory.give_back(last)
                values, within = self._look(problem, state, SEARCH)
                if within:
                    state.memory.give_back(before[0])
                    return outside[:0]
            # The second look sees more than the first: more excess may be none.
            if values[:d].sum() - state.objective <= WORSE * (before[3][:d].sum() - state.objective):
                least, share = 0, HEAVY_BENT
                state.memory.give_back(before[0])
            else:
                state.memory.give_back(state.dual)
                state.dual, state.guards, state.leading, values = before
                most = int(len(state.active) * NEAR_GROWTH)
        weight = np.maximum(values - inside, 0.0) @ state.leading[:, outside] ** 2
        weight += 1e-3 * (state.leading[:d, outside] ** 2).sum(axis=0)
        order = np.argsort(-weight, kind="stable")[: max(20, most)]
        heavy: IntArray = outside[np.union1d(order[: max(20, least)], order[weight[order] > share * weight[order[0]]])]
        return heavy

    @staticmethod
    def _look(problem: Problem, state: ActiveSetState, steps: int) -> tuple[Array, bool]:
        """Find the leading eigenvectors of S − U, roughly; return their values and whether they will be accepted."""
        assert state.X is not None and state.dual is not None
        d = problem.n_components
        start = np.zeros((len(state.X.weights), problem.size))
        start[:, state.X.rows] = state.X.vectors
        if state.leading is not None:  # of the last round: what a few steps from X's range would not find
            start = np.vstack([start[state.X.weights > USED], state.leading])
        single = state.tol_outside > TIGHT
        M = problem.rough_slack(state.dual, single)
        count = d + min(max(state.fractional, 3), CLUSTER)
        values, state.leading = roughly_leading(M, count, start, steps, single)
        state.searched = steps >= SEARCH
        total, scale = float(values[:d].sum()), abs(state.inner_bound)
        state.promising = total - state.objective <= LOOK_SHARE * state.tol_outside * scale
        excess = EXCESS[state.tol <= state.final_tol] * max(state.tol, state.final_tol)
        within = total - state.inner_bound <= excess * scale
        return values, within or state.promising

    @staticmethod
    def _tighten(state: ActiveSetState) -> None:
        """Solve the inner problem more accurately: it is what keeps the certificate from its goal."""
        state.pending = False
        if state.tol == state.final_tol:
            state.final_tol *= 0.5
        state.tol = max(0.1 * state.tol, state.final_tol)

    @staticmethod
    def _grow(problem: Problem, state: ActiveSetState, new: IntArray) -> None:
        """Add variables; the start for the next round is the last state, padded with the extended dual."""
        assert state.dual is not None and state.start is not None
        merged = np.union1d(state.active, new)
        if isinstance(problem, WideProblem):
            state.full = len(merged) > WIDEST or len(merged) * len(problem.reach(merged)) > LARGEST_ROWS
            if state.full:
                return
        elif len(merged) > LARGEST_SHARE * problem.size:
            merged = np.arange(problem.size)
            state.tol = state.final_tol = WHOLE_SHARE * state.tol_outside
        X = np.zeros((len(merged), len(merged)))
        inside = np.searchsorted(merged, state.active)
        X[np.ix_(inside, inside)] = state.start.X
        U = state.dual.over(problem.block(merged, merged), merged, merged)
        assert state.start.U is not None
        U[np.ix_(inside, inside)] = state.start.U
        state.active = merged
        state.start = Start(np.arange(len(merged)), X, U, state.start.step_size)
        state.pending = False

    def candidate(self, problem: Problem, state: ActiveSetState) -> Candidate:
        """X padded with zeros and the extended dual, once no outside variable is infeasible."""
        if not state.pending:
            return Candidate(None, None, len(state.active))
        state.memory.lent = state.dual
        return Candidate(state.X, state.dual, len(state.active), state.leading)


def _lifted(run: Run, active: IntArray, size: int) -> Run:
    """Return what a run on the active variables has proved for all of them: X, and its bound if they are all."""
    found = Run(X=None if run.X is None else run.X.lifted(active), n_iter=run.n_iter)
    if len(active) == size:
        found.dual, found.dual_bound = run.dual, run.dual_bound
    return found


def _beside(V: Array, W: Array) -> Array:
    """Return an orthonormal basis of what W has beside the range of V."""
    basis = orthonormal(V)
    rest = W - basis @ (basis.T @ W)
    Q, size, _ = np.linalg.svd(rest, full_matrices=False)
    return np.asarray(Q[:, size > 1e-3])
