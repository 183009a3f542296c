"""ADMM-FPS with few decompositions: between them the projection is taken by its derivative.

    X ← P_F(Y − W + S/ρ),   Y ← prox_{Ω/ρ}(X + W),   W ← W + X − Y.

On flat data (noise, many weak factors) hundreds of iterations are needed and successive matrices hardly differ.
One of them in ten or twenty is decomposed, in full; the others cost four products with the eigenvectors in use
(:mod:`fantope.problem.near_projection`). How long a decomposition serves follows from how
wrong the derivative has been. A run that crawls although X uses few variables goes on in a metric that follows them
(:mod:`fantope.solvers.row_metric`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from fantope.eigen.lapack import orthonormal
from fantope.eigen.rough import roughly_leading
from fantope.kernels.near import near_pass, rescale, target
from fantope.problem.bounds import DENSE_UP_TO, leading_eigenvalue_bounds
from fantope.problem.dual import DenseDual
from fantope.problem.near_projection import NearProjection
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors, compress
from fantope.solvers.base import Candidate, Start
from fantope.solvers.near_state import PROMISE, Means, NearAdmmState, Schedule, Workspace
from fantope.solvers.row_metric import RowMetric, uneven
from fantope.solvers.spectral import primal_candidate, rough_start
from fantope.typing import AnyArray, Array

CHEAP_BELOW = 300  # variables; a certificate costs less than a decomposition
FIRST_LOOK = 40  # iterations before a certificate that no estimate has promised; it costs as much as ten of them
UNLIKELY = 3.0  # times the tolerance: with a larger estimate, and rank, it is put off until the run is slow
SLOW_FROM = 150  # iterations; a run that needs no more does not crawl, and ends sooner by itself
AGAIN_AFTER = 1.2  # times the iterations: a certificate that was promised and failed is tried again
SURE = 0.93  # of the tolerance, after a certificate of completed points has failed: it had added 0.07 for rounding
ANEW_AFTER = 1.5  # times the iterations since that failed: it says little about how it ends from here
# Iterations after which a metric follows the rows of X (150: some runs took half as long again): the first if the
# estimate is still as many times the tolerance. A run that was nearer to its end took up to three times as long there.
ROWS_FROM, ROWS_ANYHOW, ROWS_ABOVE = 200, 600, 15.0
UNUSED = 0.1  # of the tolerance: a row of X with a smaller X_ii is left out where X is completed
SETTLED = 6  # iterations after which a dual point that is being completed is looked at
ROWS_PROMISE = 15.0  # there: times the tolerance, an estimate from which both points are completed, …
ROWS_AGAIN, ROWS_ANYWAY = 1.25, 4.0  # … and, times the iterations there, when that may, and will be tried again
# Times ρ, to complete X and U from there. With 300 one run of thirty took twice the iterations to a gap of 1e-6.
ROWS_PRIMAL_RHO, ROWS_DUAL_RHO = 1000.0, 0.2
ROWS_STUCK = 300  # iterations there in which the estimate must halve
MEANS_FROM = 500  # iterations; where iterates go round in circles their mean over the later half is far better
WARM_SERVES = 6  # iterations of the first decomposition, where a start has both points
# Iterations before ρ changes, and one that an earlier run has found: the first residuals say nothing. (1 in place of 5
# halved it on the paper's model, which then took up to half as many iterations again.)
COLD_BALANCE, WARM_BALANCE = 5, 20
EARLY_ABOVE = 1e-2  # estimated relative gap: before it is reached X need not be as accurate
FEW = 6  # times d: up to that rank X may be about to become a projection of rank d, which estimates do not foresee
LOOSEST = 1e-3  # relative gap that such a projection is held to if the tolerance is larger: it takes little more
ALMOST = 1.3  # times the tolerance: if X is as far short the nearest point, which is better by a tenth, may be enough
# Tolerance from which on flat data a certificate is tried whenever X, repaired, seems to be good enough: for the first
# rounds of an active set. Where it is tight, what is a little better than it brings the next round further.
TRY_ABOVE = 5e-3
LIKELY = 6.0  # times the tolerance: the estimate up to which that may be, …
FLAT_SHARE = 8  # … if X has at most one eigenvector for that many variables
CLOSER = 0.8  # if it was not: of what X was held to the next one is held to
LOOK_STEPS = 3  # block products for the d leading eigenvalues of S − U, roughly
NEAR_EDGE = 0.9  # of the box: where a start has X and U as near the edge, on X's side, U is taken to be at it


@dataclass(frozen=True)
class NearAdmm:
    """Alternating direction method of multipliers, with projections to first order between few decompositions.

    Parameters
    ----------
    step_size : float, optional
        The paper's α = 1/ρ. Given, it stays fixed; by default it starts at 1/(2 λ₁) and adapts.
    relax : float
        Over-relaxation, 1 to 1.9. 1.6 took the fewest iterations on the paper's model, 1.9 a tenth fewer on noise.
    """

    step_size: float | None = None
    relax: float = 1.6
    schedule: Schedule = field(default_factory=Schedule)
    name: str = "near-admm"
    max_iter: int = 20_000
    check_every: int = 1

    def init(self, problem: Problem, start: Start | None, tol: float) -> NearAdmmState:
        """Start from ``start``, or from the thresholded PCA of :func:`rough_start`."""
        step_size = self.step_size or (start and start.step_size)
        if start is not None and start.U is not None and step_size:
            X, given = start.spread(problem)
            assert given is not None
            U, scale = problem.box.clip(given.copy()), 0.0
        else:
            scale, X, U = rough_start(problem, start)
        # Where S is zero its scale says nothing, and U/ρ must stay finite.
        rho = max(1.0 / step_size if step_size else 2.0 * scale, 1e-12 * problem.alpha)
        U /= rho
        # Z = Y + W stores both; it can hold Y where W is at the edge of the box, which is where Y may be non-zero.
        side, edge = np.sign(X), np.where(np.isfinite(problem.limits), problem.limits, 0.0) / rho
        at_edge = (side != 0.0) & np.isfinite(problem.limits) & (U * side >= NEAR_EDGE * edge)
        Z = np.where(at_edge, X + side * edge, U)
        serves = 2 if start is None or start.U is None else WARM_SERVES
        projection = NearProjection(problem.n_components)
        # Without the size of U the first ρ that is balanced would be a tenth of what it was, whatever that is.
        size, known = float(np.linalg.norm(U)), start is not None and start.step_size is not None
        return NearAdmmState(
            Z,
            np.empty_like(Z),
            rho,
            projection,
            tol,
            Workspace(problem),
            serves=serves,
            multiplier=size,
            look_at=FIRST_LOOK,
            balance_at=WARM_BALANCE if known else COLD_BALANCE,
        )

    def step(self, problem: Problem, state: NearAdmmState, budget: int) -> int:
        """One decomposition and the iterations that it serves, then if that promises to be enough the last ones."""
        if state.rows is None and not state.plain:
            far = state.lowest > ROWS_ABOVE * state.tol * abs(state.bound)
            if state.iteration >= (ROWS_FROM if far else ROWS_ANYHOW):
                self._enter_rows(problem, state)
        if state.rows is not None:
            n = self._serve_rows(state, budget)
        else:
            self._balance(problem, state)
            n = self._drift(problem, state, budget)
        if problem.size < CHEAP_BELOW and state.iteration >= MEANS_FROM:
            if state.means is None:
                state.means = Means(state.iteration, np.zeros_like(state.Z), np.zeros_like(state.Z))
            state.means.add(*state.split(problem), state.iteration)
        if n >= budget:
            state.look_at = state.iteration  # there is no other chance
            return n
        if len(state.projection.weights) <= FEW * problem.n_components:
            self._look(problem, state)
        if state.offer is None and state.rows is None and state.tol >= TRY_ABOVE:
            self._try(problem, state)
        if state.offer is not None:
            return n
        if self._promising(state):
            n += self._complete(problem, state, budget - n)
        elif state.iteration < SLOW_FROM and state.estimate > UNLIKELY * state.tol * abs(state.bound):
            state.look_at = max(state.look_at, state.iteration + 1)
        return n

    def _drift(self, problem: Problem, state: NearAdmmState, budget: int) -> int:
        """Decompose and iterate, from further along the line on which the run drifts if that is nearer to its end."""
        drift = state.drift
        # On noise the first phase, of high rank, was nearly straight too, but of nine jumps there one led anywhere.
        if state.iteration == 0 or len(state.projection.weights) > FEW * problem.n_components:
            drift.forget()
            return self._serve(problem, state, budget)
        begin = state.Z.copy()
        if drift.move is None or drift.ahead == 0.0:
            n = self._serve(problem, state, budget)
        else:
            before = state.primal, state.dual, state.estimate, state.bound
            state.Z += drift.ahead * drift.move
            landed, state.change = state.Z.copy(), None
            n = self._serve(problem, state, budget)
            if np.hypot(state.primal, state.dual) > np.hypot(*before[:2]):
                state.Z, state.change = begin, None
                state.primal, state.dual, state.estimate, state.bound = before
                drift.refuse()
                return n
            drift.forget()
            begin = landed
        drift.see(begin, state.Z, n, state.iteration)
        return n

    def _serve(self, problem: Problem, state: NearAdmmState, budget: int) -> int:
        self._decompose(problem, state)
        first = state.primal, state.dual
        n = 1
        while n < min(state.serves, budget) and self._worthwhile(state, *first):
            assert state.change is not None
            self._advance(state, state.projection.near(state.change))
            n += 1
        return n

    def _enter_rows(self, problem: Problem, state: NearAdmmState) -> None:
        """Go on in a metric that follows the rows of X, if it uses few of them and is not noise (twice as long)."""
        Y, U = state.split(problem)
        noise = FLAT_SHARE * len(state.projection.weights) > problem.size
        state.plain = self.step_size is not None or problem.forbids or noise or not uneven(Y.diagonal())
        if not state.plain:
            state.rows = RowMetric.begin(problem, Y, U, state.rho, state.projection.vectors.astype(np.float64))
            state.promise, state.estimate, state.tried_at = ROWS_PROMISE, np.inf, 0

    @staticmethod
    def _serve_rows(state: NearAdmmState, budget: int) -> int:
        """Decompose in that metric and iterate; return to the plain one where nothing is gained by it."""
        rows = state.rows
        assert rows is not None
        n = rows.serve(budget)
        state.iteration += n
        if rows.lost or rows.stuck(ROWS_STUCK):
            state.rows, state.plain, state.promise, state.tried_at = None, True, PROMISE, state.iteration
            state.change = None
            state.drift.forget()
        if not rows.lost:
            Y, U = rows.split()
            state.Z, state.estimate = Y + U / state.rho, min(rows.estimate, state.estimate)
        return n

    def _promising(self, state: NearAdmmState) -> bool:
        short, goal, k = state.estimate, state.tol * abs(state.bound), state.iteration
        if state.rows is not None:
            tried = max(state.tried_at, 1)
            enough = short <= state.promise * goal
            waited = state.rows.iteration / tried
            return (enough and waited >= ROWS_AGAIN) or (state.tried_at > 0 and waited >= ROWS_ANYWAY)
        slow, waited = k >= SLOW_FROM, k / max(state.tried_at, 1)
        return (
            short <= (state.promise if slow else min(state.promise, 1.0)) * goal
            or (short <= goal and waited >= AGAIN_AFTER)
            or (short <= PROMISE * goal and slow and waited >= ANEW_AFTER)
        )

    def _look(self, problem: Problem, state: NearAdmmState) -> None:
        """Offer the projection of rank d next to Y, and U, for a certificate if they seem to be good enough.

        Where the optimum is such a projection, as in the later steps of a concave penalty, its error is the square of
        Y's: estimates, which are about X, were 10 to 1,000 times the gap there.
        """
        if problem.forbids:
            return
        d, (Y, U) = problem.n_components, state.split(problem)
        leading = state.projection.vectors[: d + 3].astype(np.float64)
        V = leading[:d].T
        for _ in range(2):
            V = orthonormal(Y @ V)
        X: Factors | None = compress(Factors(np.arange(problem.size), np.ascontiguousarray(V.T), np.ones(d)))
        assert X is not None
        enough = problem.objective(X) + state.nearly * min(state.tol, LOOSEST) * abs(state.bound)
        M = problem.S - U
        if float(np.vdot(V, M @ V)) > enough:  # no bound is below that
            return
        if float(roughly_leading(M, d, leading, LOOK_STEPS)[0].sum()) <= enough:
            if 2 * len(X.rows) <= problem.size:  # then a repair, which keeps components of Y apart, costs little
                X = problem.repair(Y)
            state.offer = Candidate(X, DenseDual(U, problem.box), problem.size)
            state.nearly *= 0.5  # if that is refused the next one has to look better

    def _try(self, problem: Problem, state: NearAdmmState) -> None:
        """Offer Y, repaired by a product, and U for a certificate if that X seems to be good enough.

        On flat data it is far nearer to the optimum than the estimate, which is about the X that is projected: by the
        factor LIKELY at most on kidney normals.
        """
        goal = state.tol * abs(state.bound)
        narrow = CHEAP_BELOW <= problem.size >= FLAT_SHARE * len(state.projection.weights)
        if not narrow or state.estimate > LIKELY * goal:
            return
        X = problem.within(state.split(problem)[0], state.projection.vectors)
        if X is not None and state.bound - problem.objective(X) <= state.close * goal:
            state.offer = Candidate(X, DenseDual(state.mean(), problem.box), problem.size)
            state.close *= CLOSER

    def _worthwhile(self, state: NearAdmmState, primal: float, dual: float) -> bool:
        """Whether to go on without a decomposition: neither lost nor as far as the derivative can lead."""
        fall = self.schedule.fall
        return state.primal <= self.schedule.growth * primal and (
            state.primal > fall * primal or state.dual > fall * dual
        )

    def _decompose(self, problem: Problem, state: NearAdmmState) -> None:
        """Project by a decomposition, and go on; learn from how far off the derivative was."""
        schedule = self.schedule
        predicted = None if state.change is None else state.projection.near(state.change)
        many = problem.size >= schedule.single_from
        single = many and state.estimate > schedule.single_above * abs(state.bound)
        work = state.work
        slack = target(state.Z, problem.S, state.G, work.limits, 1 / state.rho, work.scratch, work.lower)
        # The dual scale lies between ‖U‖ and ‖S − U‖: with the first alone ρ is far too large for correlations
        # and a large alpha (U is then nearly S), with the second it is somewhat too small on the paper's model.
        state.dual_scale = np.sqrt(max(state.multiplier, 1e-300) * max(np.sqrt(slack), 1e-300))
        X = state.projection.renewed(state.G, single, schedule.renewal * state.primal)
        if predicted is not None:
            off = float(np.linalg.norm(predicted - X))
            moved = state.primal / np.sqrt(2.0)
            early = schedule.early if state.estimate > EARLY_ABOVE * abs(state.bound) else 1.0
            if off > early * schedule.bad * moved:
                if state.serves == 2:  # it looked good from afar and was not: next time it has to look good for longer
                    state.patience = state.doubts = 2 * state.patience
                state.serves = max(state.serves // 2, 1)
            elif off < early * schedule.good * moved:
                state.doubts -= 1
                if state.serves > 1 or state.doubts <= 0:
                    state.serves = min(state.serves + 1 + state.serves // 2, schedule.most)
        state.bound = state.rho * state.projection.support_value
        np.subtract(np.multiply(problem.S, 1 / state.rho, out=work.scratch[1]), state.G, out=state.G)
        state.served, state.total[:] = 0, 0.0
        if state.change is None or state.change.dtype != X.dtype:
            state.change = np.zeros(X.shape, X.dtype)
        state.estimate = self._advance(state, X)
        state.lowest = min(state.estimate, state.lowest)

    def _advance(self, state: NearAdmmState, X: AnyArray) -> float:
        """Go on from X; return how far it is below the bound of the dual point that it is best for."""
        assert state.change is not None
        limits = state.work.limits
        sums = near_pass(state.Z, state.G, X, limits, 1 / state.rho, self.relax, state.change, state.total)
        state.primal, state.dual, state.multiplier = np.sqrt(sums[:3]).tolist()
        state.iteration += 1
        state.served += 1
        return state.rho * float(sums[3])

    def _balance(self, problem: Problem, state: NearAdmmState) -> None:
        """Keep the relative residuals near each other by changing ρ, which takes a new decomposition anyway."""
        if self.step_size is not None or min(state.primal, state.dual) <= 0.0 or state.iteration < state.balance_at:
            return
        # More and more rarely: a method whose step size never comes to rest can go round in circles.
        k = state.iteration
        state.balance_at = k + (1 if k < 20 else 5 if k < 200 else 50 if k < 1000 else k // 4)
        ratio = state.primal / np.sqrt(problem.n_components) * state.dual_scale / state.dual
        if 1 / self.schedule.balance <= ratio <= self.schedule.balance:
            return
        most = 2.0 if 1e-3 < ratio < 1e3 else 10.0  # at first ρ may be off by many orders of magnitude
        factor = min(max(np.sqrt(ratio), 1 / most), most)
        rescale(state.Z, state.work.limits, 1 / state.rho, factor)
        state.rho *= factor
        state.drift.forget()
        state.change = None  # the derivative is judged by where it leads; with another ρ it would have led elsewhere

    def _complete(self, problem: Problem, state: NearAdmmState, budget: int) -> int:
        """Try to end the run: some iterations with a far larger ρ for X, with a smaller one for U; return how many.

        In the long last phase the two sides crawl, and a ρ that suits both suits neither. A large ρ brings X within
        twenty iterations to a tenth of its distance from the optimum, at the cost of U, and the other way round. The
        run itself goes on from where it is: mixing what the two lead to brought nothing.
        """
        schedule, goal, best = self.schedule, state.share * state.tol * abs(state.bound), state.best
        state.tried_at = state.iteration if state.rows is None else state.rows.iteration
        best.take_dual(*self._dual(problem, state))
        n = 0
        if state.estimate <= goal:  # X may be good enough as it is
            best.take_primal(problem, self._repaired(problem, state, state.split(problem)[0], best.bound - goal))
        if best.short > goal and state.iteration >= SLOW_FROM:
            n += self._complete_primal(problem, state, best.bound - goal, budget)
        hopeless = state.rows is None and best.short >= 2.0 * state.promise * goal
        if best.short > goal and not hopeless and 0 < n < budget:
            factor = schedule.dual_rho if state.rows is None else ROWS_DUAL_RHO
            for below in self._towards(problem, *state.split(problem), factor * state.rho, budget - n):
                if below.iteration >= SETTLED:
                    best.take_dual(*self._dual(problem, below))
                if best.short <= goal:
                    break
            n += below.iteration
        # The next attempt has to promise as much more as this one is short of.
        state.promise = schedule.again * state.estimate / max(best.short, 0.1 * state.estimate, 1e-300)
        state.completed = best.short <= goal
        return n

    def _complete_primal(self, problem: Problem, state: NearAdmmState, enough: float, budget: int) -> int:
        """Complete X on the rows that it uses; return the number of iterations."""
        Y, U = state.split(problem)
        rows = np.flatnonzero(Y.diagonal() > UNUSED * state.tol)
        part = problem
        if problem.n_components < len(rows) < problem.size and not problem.forbids:
            where = np.ix_(rows, rows)
            part, Y, U = Problem(problem.S[where], problem.n_components, problem.box.restrict(rows)), Y[where], U[where]
        factor = self.schedule.primal_rho if state.rows is None else ROWS_PRIMAL_RHO
        *_, above = self._towards(part, Y, U, factor * state.rho, budget)
        found = self._primal(part, above, enough)
        state.best.take_primal(problem, found if part is problem or found is None else found.lifted(rows))
        return above.iteration

    def _towards(self, problem: Problem, Y: Array, U: Array, rho: float, budget: int) -> Iterator[NearAdmmState]:
        """Yield where iterations with another ρ lead from here, after each decomposition."""
        n = min(self.schedule.complete, budget)
        projection = NearProjection(problem.n_components)
        there = NearAdmmState(Y + U / rho, np.empty_like(Y), rho, projection, 0.0, Workspace(problem))
        while there.iteration < n:
            self._serve(problem, there, n - there.iteration)
            yield there

    def _dual(self, problem: Problem, state: NearAdmmState) -> tuple[DenseDual, float]:
        """Return U, or where X is flat its mean since the decomposition, and its bound to rounding."""
        flat = len(state.projection.weights) > FEW * problem.n_components
        dual = DenseDual(state.mean() if flat else state.split(problem)[1], problem.box)
        M, d = dual.slack(problem.S), problem.n_components
        if problem.size <= DENSE_UP_TO:
            return dual, float(leading_eigenvalue_bounds(M, d).sum())
        return dual, float(scipy.linalg.eigvalsh(M, overwrite_a=True, check_finite=False)[-d:].sum())

    def _primal(self, problem: Problem, state: NearAdmmState, enough: float) -> Factors | None:
        projection = state.projection
        Q = orthonormal(projection.vectors.T.astype(np.float64))
        Y, _ = state.split(problem)
        needed = enough if np.isfinite(enough) else state.bound - state.tol * abs(state.bound)
        found = self._repaired(problem, state, Y, needed)
        return primal_candidate(problem, found, np.ascontiguousarray(Q.T), projection.weights, enough)

    @staticmethod
    def _repaired(problem: Problem, state: NearAdmmState, Y: Array, enough: float) -> Factors | None:
        """Return a point of the Fantope near Y; the nearest one, which costs a decomposition, if that may decide.

        And on noise, where eigenvalues that X does not have yet hold much of the objective: with a product a run of
        1,100 variables took a fifth more iterations.
        """
        if FLAT_SHARE * len(state.projection.weights) > problem.size:
            return problem.repair(Y)
        almost = state.bound - ALMOST * (state.bound - enough)
        return problem.within(Y, state.projection.vectors, enough, almost)

    def candidate(self, problem: Problem, state: NearAdmmState) -> Candidate:
        """Both points where they were completed, or as they are when a look is due; else nothing."""
        k, best = state.iteration, state.best
        if state.completed:
            found = Candidate(best.X, best.dual, problem.size)
            state.share = SURE
        elif state.offer is not None:
            found = state.offer
        elif state.means is not None and state.means.count and k >= state.means.due:
            means = state.means
            means.due = k + means.since // 4
            X = problem.repair(means.Y / means.count)
            return Candidate(X, DenseDual(means.U / means.count, problem.box), problem.size)
        elif 0 < state.look_at <= k and state.tried_at == k and best.X is not None:
            found = Candidate(best.X, best.dual, problem.size)  # an attempt to end the run has just made them
        elif 0 < state.look_at <= k:
            dual = DenseDual(state.split(problem)[1], problem.box)
            found = Candidate(self._primal(problem, state, -np.inf), dual, problem.size)
        else:
            return Candidate(None, None, problem.size)
        state.completed, state.offer, state.look_at = False, None, max(2 * k, state.look_at)
        return found
