"""Online-T (Algorithm 2): many samples, a cheap step for each.

    X⁽¹⁾ = soft(X_{t−1}, α_tλ)
    X⁽²⁾ = X⁽¹⁾ − a₁γ₁γ₁ᵀ + a_pγ_pγ_pᵀ       where the largest eigenvalue exceeds 1, the smallest is below 0
    X⁽³⁾ = X⁽²⁾ + clip((d − tr X⁽²⁾)/p, ±α_tν/√(d + 1))·I
    X_t  = P_𝒳(X⁽³⁾ + α_t z_t z_tᵀ),          𝒳 = {‖X‖_F ≤ √d}

with α₁ = α₀, α_t = α₀/√(t − 1), and the running mean of the X_t as the answer.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import scipy.sparse

from fantope.eigen import Eigenspace, one_blas_thread
from fantope.errors import require
from fantope.interrupts import held_interrupts
from fantope.kernels import online_t as kernel
from fantope.kernels.build import PARALLEL_FROM
from fantope.online.accumulator import SparseSum
from fantope.online.base import IterateTerms, SampleCount, State, Unit, Window, check_forgetting
from fantope.online.regret import fantope_distance
from fantope.online.saved import saved_array, saved_count, saved_number
from fantope.online.whole import rows_at_a_time
from fantope.problem.projection import Factors, compress, project
from fantope.typing import Array

# The part of the state that the other storage has.
NO_MATRIX = np.zeros((0, 0))
NO_TRIANGLE = kernel.Triangle(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(0))
WINDOW = 256  # recent samples that components are rotated and scored on: Online-T keeps no covariance
SPARSE_DISTANCE_UP_TO = 4000  # variables; the exact distance to the Fantope needs the dense X_t


class OnlineT:
    """Incremental proximal method for sparse PCA on a stream of mean-zero samples.

    Parameters
    ----------
    n_features, n_components : int
    alpha : float
        λ, 0 or larger.
    step_size : float, optional
        α₀; the steps are then exactly those of Theorem 4. By default ``α_t = √d/(Σ_{s<t} ‖z_s‖⁴)^½``, which is
        α₀/√(t − 1) with √d over the root mean square of ‖S_s‖_F for α₀: no scale to guess, and the steps never grow.
    nu : float, optional
        ν. By default λp + (mean of ‖z‖²) + 1, at least what Theorem 4 asks for: ‖Σ‖_F ≤ tr Σ = E‖z‖².
    correction : "clipped" or "paper"
        The printed step 2 moves an eigenvalue by α_tν√(pd) or α_tνp however little it is out of bounds, which with
        the theorem's ν throws it far beyond. "clipped" stops at the bound. The proof goes through: for Y in the
        Fantope a step of length h ≤ θ₁ − 1 along γ₁γ₁ᵀ does not increase ‖X − Y‖, and what is left of the penalty is
        at most α_t(weight)²; the constant ν²p(p + d)/2 doubles.
    forgetting : float, default 1
        A sample k steps back weighs forgetting^k, in the mean and in the count that sets the step size.
    storage : "dense" or "sparse"
        "sparse" holds X⁽¹⁾ by its non-zeros. X_t itself is dense the moment a sample is added, so its mean is taken
        of the soft(X_t, α_{t+1}λ), which are sparse, and differs from the paper's by at most λ·mean(α).
    average : bool, default True
        Keep the running mean; without it the answer is soft(X_t, α_{t+1}λ), and memory follows the last iterate's
        non-zeros alone.
    truncate : bool, default True
        Read components from the mean with its noise set to zero (dense storage, alpha > 0).
    eigen_tol : float, default 1e-2
        Residual, relative to max(1, |θ|), at which an extreme eigenpair is good enough. On the paper's model 1e-1
        leaves the error half as large again, 1e-3 takes a third more products and gains 3 %.
    """

    name = "online-t"

    def __init__(
        self,
        n_features: int,
        n_components: int,
        alpha: float,
        *,
        step_size: float | None = None,
        nu: float | None = None,
        correction: Literal["clipped", "paper"] = "clipped",
        forgetting: float = 1.0,
        storage: Literal["dense", "sparse"] = "dense",
        average: bool = True,
        truncate: bool = True,
        eigen_tol: float = 1e-2,
    ) -> None:
        require(correction in ("clipped", "paper"), "correction", "be 'clipped' or 'paper'", repr(correction))
        require(storage in ("dense", "sparse"), "storage", "be 'dense' or 'sparse'", repr(storage))
        p = n_features
        self.n_features, self.n_components, self.alpha = p, n_components, float(alpha)
        self.step_size, self.nu, self.correction = step_size, nu, correction
        self.storage, self.average, self.truncate, self.eigen_tol = storage, average, truncate, eigen_tol
        self.n_samples = 0
        self.block = rows_at_a_time(p)
        self.count = SampleCount(check_forgetting(forgetting))
        self._unit = Unit()
        self.fourth = 0.0  # Σ forgetting^k ‖z‖⁴, in the unit
        self.second = 0.0  # weighted mean of ‖z‖², in the unit
        self.vectors = np.zeros((3, p))
        self.scalars = np.zeros(kernel.N_SCALARS)
        self.scalars[kernel.SCALE] = 1.0
        self.probe = np.random.default_rng(0).standard_normal(p)
        self.window = Window(WINDOW, p)
        if storage == "dense":
            self.A = np.zeros((p, p))
            self.mean = np.zeros((p, p)) if average else np.zeros((0, 0))
        else:
            self.indptr = np.zeros(p + 1, dtype=np.int64)
            self.indices = np.zeros(0, dtype=np.int32)
            self.data = np.zeros(0)
            self.diagonal = np.zeros(p)
            self.sum = SparseSum(p)

    # --- learning ------------------------------------------------------------------------------------------------

    def update_many(self, Z: Array) -> None:
        """Learn from the rows of ``Z``, one after the other; a block gives to the bit what its rows give."""
        Z = np.ascontiguousarray(Z, dtype=np.float64)  # one compiled variant for every layout
        with one_blas_thread():
            for first in range(0, len(Z), self.block):
                with held_interrupts():
                    self.window.push(Z[first : first + self.block])
                    self._run(self._schedule(Z[first : first + self.block]))

    def _run(self, schedule: kernel.Schedule) -> None:
        rule = kernel.Rule(float(self.n_components), self.correction == "clipped", self.eigen_tol)
        pending = kernel.Pending(self.vectors, self.scalars, self.probe)
        work = np.zeros((2, kernel.WIDTH, self.n_features))
        if self.storage == "sparse":
            for z, step, threshold, nu, weight in zip(*schedule, strict=True):
                sums = self._sparse_advance(threshold, weight)
                kernel.correct(NO_MATRIX, self._triangle, sums, kernel.Sample(z, step, nu), rule, pending, work)
            return
        mean = self.mean if self.average else self.A  # weight 0 leaves whatever is passed unchanged
        if not self.average:
            schedule.weights[:] = 0.0
        if self.n_features < PARALLEL_FROM:
            kernel.dense_steps(self.A, mean, pending, schedule, rule, NO_TRIANGLE, work)
            return
        for z, step, threshold, nu, weight in zip(*schedule, strict=True):
            sums = kernel.advance_parallel(self.A, mean, self.vectors, self.scalars, threshold, weight)
            kernel.correct(self.A, NO_TRIANGLE, sums, kernel.Sample(z, step, nu), rule, pending, work)

    def _schedule(self, Z: Array) -> kernel.Schedule:
        """Return the samples in the unit, with what each step depends on."""
        steps, thresholds, nus, weights = np.empty((4, len(Z)))
        forgetting, p, unit = self.count.factor, self.n_features, self._unit
        in_units = np.empty_like(Z)
        for k, z in enumerate(Z):
            effective = self.count.effective
            weights[k], weight = 1.0 / effective if self.n_samples else 0.0, self.count.advance()
            change = unit.see(z, weight)
            self.second, self.fourth = change**2 * self.second, change**4 * self.fourth
            in_units[k] = z / unit.value
            square = float(np.sum(in_units[k] * in_units[k]))
            steps[k] = self._step(effective, self.fourth if self.fourth > 0.0 else square * square)
            alpha = unit.of_square(self.alpha)
            thresholds[k] = steps[k] * alpha
            self.second += (square - self.second) * weight
            self.fourth = forgetting * self.fourth + square * square
            self.n_samples += 1
            nus[k] = alpha * p + self.second + 1.0 if self.nu is None else unit.of_square(self.nu)
        return kernel.Schedule(in_units, steps, thresholds, nus, weights)

    @property
    def _triangle(self) -> kernel.Triangle:
        return kernel.Triangle(self.indptr, self.indices, self.data, self.diagonal)

    def _soft(self, threshold: float) -> kernel.Triangle:
        return kernel.Triangle(*kernel.sparse_advance(*self._triangle, self.vectors, self.scalars, threshold))

    def _sparse_advance(self, threshold: float, weight: float) -> tuple[float, float]:
        """Threshold the pending X and add it to the mean; return ‖X⁽¹⁾‖² and its trace."""
        triangle = self._soft(threshold)
        self.indptr, self.indices, self.data, self.diagonal = triangle
        if self.average and weight > 0.0:
            self.sum.add(*triangle, weight)
        sums: tuple[float, float] = kernel.square_and_trace(self.data, self.diagonal)
        return sums

    # --- answers -------------------------------------------------------------------------------------------------

    @property
    def unit(self) -> float:
        """What samples are divided by."""
        return self._unit.value

    @property
    def next_step(self) -> float:
        """The step size α_{t+1} that the next sample will be taken with, as far as it is known."""
        return self._unit.of_square(self._step(self.count.effective, self.fourth))

    def _step(self, effective: float, fourth: float) -> float:
        """Return α after a number of samples with this sum of ‖z‖⁴, for samples in the unit."""
        if self.step_size is not None:
            return self.step_size * self.unit * self.unit / math.sqrt(max(effective, 1.0))
        return math.sqrt(self.n_components / fourth) if fourth > 0.0 else 1.0

    @property
    def diagnostics(self) -> dict[str, float]:
        """Extreme eigenvalues of the last X⁽¹⁾, the larger residual, and the products with it that they took."""
        s = self.scalars
        return {
            "theta_max": float(s[kernel.THETA_TOP]),
            "theta_min": float(s[kernel.THETA_BOTTOM]),
            "residual": float(s[kernel.RESIDUAL]),
            "products": float(s[kernel.PRODUCTS]),
        }

    def iterate(self) -> Array:
        """Return X_t as a dense array."""
        dense = self.storage == "dense"
        X = self.A.copy() if dense else np.asarray(symmetric(*self._triangle).toarray())
        s = self.scalars
        X.flat[:: len(X) + 1] += s[kernel.SHIFT]
        for weight, u in zip((s[kernel.TOP], s[kernel.BOTTOM], s[kernel.SAMPLE]), self.vectors, strict=True):
            X += np.outer(weight * u, u)
        X *= s[kernel.SCALE]
        # Row i holds a product in another order than column i does; the two differ in the last bit.
        return np.asarray(0.5 * (X + X.T))

    def average_iterate(self) -> Array:
        """Return the answer as a dense (p, p) array: the running mean (see the parameters for sparse storage)."""
        if self.storage == "sparse":
            return np.asarray(self.average_sparse().toarray())
        if not self.average or self.n_samples == 0:
            return self.iterate()
        # The pending iterate has not entered the mean yet.
        return np.asarray(self.mean + (self.iterate() - self.mean) / self.count.effective)

    def average_sparse(self) -> scipy.sparse.csr_array:
        """Return the answer of sparse storage as a sparse array."""
        triangle = self.thresholded()
        if self.average and self.n_samples:
            total = self.sum.copy()
            total.add(*triangle, 1.0 / self.count.effective)
            return total.matrix()
        return symmetric(*triangle)

    def thresholded(self) -> kernel.Triangle:
        """Return soft(X_t, α_{t+1}λ) of sparse storage: the rows of its strict upper triangle (CSR), its diagonal."""
        threshold = self._step(self.count.effective, self.fourth) * self._unit.of_square(self.alpha)
        return self._soft(threshold)

    def estimate(self) -> Factors:
        """Return the point of the Fantope nearest to the answer, on the variables that it uses.

        The mean of many noisy iterates has no exact zeros. With ``truncate`` and a positive alpha its entries up to
        :attr:`noise_level` are taken for noise and set to zero first.
        """
        if self.storage == "sparse":
            X = self.average_sparse().tocoo()
            row, column = X.coords
            rows = np.unique(row).astype(np.intp)
            block = np.zeros((len(rows), len(rows)))
            block[np.searchsorted(rows, row), np.searchsorted(rows, column)] = X.data
        else:
            block = self.average_iterate()
            if self.truncate and self.alpha > 0.0:
                block[np.abs(block) <= noise_level(block)] = 0.0
            rows = np.flatnonzero(np.abs(block).max(axis=1) > 0.0)
            block = np.ascontiguousarray(block[rows[:, None], rows])
        return _nearest(block, rows, self.n_components, self.n_features)

    def covariance(self, rows: Any) -> Array:
        """Return the second moments of the last 256 samples on ``rows``, in units of unit²."""
        return self.window.covariance(rows, self.unit)

    def terms(self, z: Array) -> IterateTerms:
        """Return zᵀX_t z, ‖X_t‖₁ and the distance of X_t from the Fantope (a full eigenvalue computation)."""
        if self.storage == "sparse" and self.n_features > SPARSE_DISTANCE_UP_TO:
            raise ValueError(
                f"the regret needs X_t as a dense array, which {self.n_features} variables do not allow; switch "
                f"tracking off, or use at most {SPARSE_DISTANCE_UP_TO} variables."
            )
        X = self.iterate()
        return IterateTerms(float(z @ X @ z), float(np.abs(X).sum()), fantope_distance(X, self.n_components))

    # --- state ---------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Return everything that later results depend on."""
        state: State = {
            "n_samples": self.n_samples,
            "effective": self.count.effective,
            "fourth": self.fourth,
            "second": self.second,
            "unit": self._unit.value,
            "size": self._unit.size,
            "vectors": self.vectors,
            "scalars": self.scalars,
            "window": self.window.samples,
        }
        if self.storage == "dense":
            return {**state, "A": self.A, "mean": self.mean}
        compressed = {name: getattr(self, name) for name in ("indptr", "indices", "data", "diagonal")}
        return {**state, **compressed, **self.sum.state()}

    def restore(self, state: State) -> None:
        """Take over a saved state."""
        p = self.n_features
        self.n_samples = self.window.count = saved_count(state, "n_samples")
        self.count.effective = saved_number(state, "effective")
        self.fourth, self.second = saved_number(state, "fourth"), saved_number(state, "second")
        self._unit = Unit.saved(state, self.second / p)
        self.vectors = saved_array(state, "vectors", (3, p))
        self.scalars = saved_array(state, "scalars", (kernel.N_SCALARS,))
        self.window.samples = saved_array(state, "window", (WINDOW, p))
        if self.storage == "dense":
            self.A, self.mean = saved_array(state, "A", (p, p)), saved_array(state, "mean", self.mean.shape)
        else:
            self.indptr = saved_array(state, "indptr", (p + 1,), np.int64)
            self.indices = saved_array(state, "indices", (None,), np.int32)
            self.data = saved_array(state, "data", self.indices.shape)
            self.diagonal = saved_array(state, "diagonal", (p,))
            _check_triangle(self._triangle)
            self.sum.restore(state)


def _check_triangle(triangle: kernel.Triangle) -> None:
    """Raise ``ValueError`` unless the entries are where compiled code expects them, right of the diagonal."""
    indptr, indices, p = triangle.indptr, triangle.indices, len(triangle.diagonal)
    lengths = np.diff(indptr)
    if indptr[0] != 0 or indptr[-1] != len(indices) or lengths.min() < 0:
        raise ValueError("indptr does not divide the entries into rows")
    rows = np.repeat(np.arange(p), lengths)
    if np.any(indices <= rows) or np.any(indices >= p) or np.any(np.diff(rows * p + indices) <= 0):
        raise ValueError("indices are not those of a triangle, ascending in every row")


def noise_level(X: Array) -> float:
    """Return a level below which entries of X are taken for noise: σ√(2 log n), at most a fifth of the largest entry.

    n is the number of pairs of variables; the largest of n noise entries is below that level with high probability
    (the universal threshold of Donoho and Johnstone). σ comes from the lower quartile of the magnitudes, which stays a
    noise quantile even where most entries are signal; the cap protects an X with hardly any noise entries.
    """
    p = len(X)
    n = max(p * (p - 1) // 2, 2)
    size = np.abs(X)
    np.fill_diagonal(size, 0.0)
    universal = float(np.quantile(size, 0.25)) / 0.3186 * math.sqrt(2.0 * math.log(n))
    return min(universal, 0.2 * float(size.max()))


def symmetric(indptr: Any, indices: Any, data: Array, diagonal: Array) -> scipy.sparse.csr_array:
    """Return the symmetric matrix with this strict upper triangle (CSR) and diagonal."""
    p = len(diagonal)
    upper = scipy.sparse.csr_array((data, indices, indptr), shape=(p, p))
    return scipy.sparse.csr_array(upper + upper.T + scipy.sparse.diags_array(diagonal))


def _nearest(block: Array, rows: Any, n_components: int, size: int) -> Factors:
    """Return the Fantope point nearest to ``block``; with too few rows, coordinate directions fill up."""
    d = n_components
    if len(rows) <= d:
        rows = np.sort(np.concatenate([rows, np.setdiff1d(np.arange(size), rows)[: d - len(rows)]])).astype(np.intp)
        return Factors(rows, np.eye(len(rows))[:d], np.ones(d))
    with one_blas_thread():
        start = np.random.default_rng(0).standard_normal((d + 3, len(rows)))
        vectors, weights = project(block, d, Eigenspace(start), 1e-8)
    return compress(Factors(rows, vectors, weights))
