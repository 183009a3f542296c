"""The paper's simulation model: sparse leading eigenvectors and dense noise."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from fantope.checks import check_whole
from fantope.errors import require

__all__ = ["Simulation", "simulate"]

Array = NDArray[np.float64]

# The noise eigenvalues are Unif(0, 2), so a signal eigenvalue must lie above 2 to lead.
_NOISE_TOP = 2.0


@dataclass(frozen=True, eq=False)
class Recovery:
    """How close components come to the true ones."""

    basis: Array  # (k, p): orthonormal rows with the span of the components; those that vanish add nothing
    error: float  # distance of the projections, ‖VᵀV − Π‖_F
    size: int  # number of variables in use
    precision: float  # of the support, as is the recall
    recall: float


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """A draw from the model N(0, Σ), Σ = Q Λ Qᵀ, with everything that is true about it.

    The p × p matrices other than Q are formed when first asked for and then kept.

    Attributes
    ----------
    Z : (n, p) array
        The observations, one per row.
    eigenvectors : (p, p) array
        Q. Its first columns are the sparse ones.
    eigenvalues : (p,) array
        The diagonal of Λ, in the order of the columns of Q: signal first, noise as drawn.
    sizes : tuple of int
        Number of variables in each signal group; the groups come first and in order.
    """

    Z: Array
    eigenvectors: Array
    eigenvalues: Array
    sizes: tuple[int, ...]

    @property
    def loadings(self) -> Array:
        """The (p, d) sparse leading eigenvectors, a view of Q."""
        return self.eigenvectors[:, : len(self.sizes)]

    @property
    def support(self) -> NDArray[np.intp]:
        """Indices of the variables that belong to a signal group."""
        return np.arange(sum(self.sizes))

    @cached_property
    def Sigma(self) -> Array:
        """The (p, p) true covariance matrix Q Λ Qᵀ."""
        # A product of a matrix with its own transpose is symmetric to the last bit; (QΛ)Qᵀ is not.
        half = self.eigenvectors * np.sqrt(self.eigenvalues)
        return half @ half.T

    @cached_property
    def projection(self) -> Array:
        """The (p, p) projection Π on the span of the sparse leading eigenvectors."""
        return self.loadings @ self.loadings.T

    def recovery(self, components: Array) -> Recovery:
        """Compare the rows of ``components``, and the variables they use, with the truth."""
        _, values, Vt = np.linalg.svd(components, full_matrices=False)
        V = Vt[values > 1e-10 * max(float(values[0]), 1e-300)]
        used = np.flatnonzero((components != 0).any(axis=0))
        hits = len(np.intersect1d(used, self.support))
        return Recovery(
            basis=V,
            error=float(np.linalg.norm(V.T @ V - self.projection)),
            size=len(used),
            precision=hits / len(used) if len(used) else 0.0,
            recall=hits / len(self.support),
        )

    def __repr__(self) -> str:
        n, p = self.Z.shape
        return f"Simulation(n={n}, p={p}, sizes={self.sizes})"


def simulate(
    n: int,
    p: int,
    *,
    sizes: Sequence[int] = (20, 15),
    eigenvalues: Sequence[float] = (12, 6),
    random_state: int | np.random.Generator | None = 0,
) -> Simulation:
    r"""Draw n observations of p variables whose leading eigenvectors are sparse.

    Column k of a p × p matrix U is Unif(0.9, 1.1) on the k-th group of variables and zero elsewhere, for
    each of the d groups; its other columns are N(0, 1). With U = QR and
    Λ = diag(eigenvalues, λ_{d+1}, …, λ_p), λ_i ~ Unif(0, 2), the rows of Z are independent N(0, Σ),

    .. math:: Σ = Q Λ Q^T.

    Parameters
    ----------
    n : int
        Number of observations.
    p : int
        Number of variables, at least ``sum(sizes)``.
    sizes : sequence of int, default (20, 15)
        Number of variables in each signal group; one sparse eigenvector per group.
    eigenvalues : sequence of float, default (12, 6)
        The eigenvalue of each sparse eigenvector. Each must be above 2, the top of the noise.
    random_state : int, Generator or None, default 0
        Seed, or the generator to draw from (which moves on), or None for fresh entropy.

    Returns
    -------
    Simulation
        The data and the truth behind it.

    Examples
    --------
    >>> from fantope.simulation import simulate
    >>> sim = simulate(100, 60)
    >>> sim.Z.shape, sim.loadings.shape
    ((100, 60), (60, 2))
    >>> (sim.loadings != 0).sum(axis=0).tolist()
    [20, 15]
    >>> sim.eigenvalues[:2].tolist()
    [12.0, 6.0]
    """
    n, p = check_whole("n", n, 1), check_whole("p", p, 1)
    sizes, leading = _groups(sizes, eigenvalues, p)
    rng = _generator(random_state)

    Q = _eigenvectors(p, sizes, rng)
    values = np.concatenate([leading, rng.uniform(0.0, _NOISE_TOP, p - leading.size)])
    # Z = G Λ^{1/2} Qᵀ with G standard normal: no Cholesky factor and no p × p covariance is needed.
    Z = (rng.standard_normal((n, p)) * np.sqrt(values)) @ Q.T
    return Simulation(Z=Z, eigenvectors=Q, eigenvalues=values, sizes=sizes)


def _eigenvectors(p: int, sizes: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Return Q of U = QR with a positive diagonal of R, which makes the factorisation unique."""
    d = len(sizes)
    Ut = np.zeros((p, p))
    stop = 0
    for k, size in enumerate(sizes):
        start, stop = stop, stop + size
        Ut[k, start:stop] = rng.uniform(0.9, 1.1, size)
    rng.standard_normal(out=Ut[d:])
    # The groups are disjoint, so the first d columns are orthogonal already. Taking them from here rather
    # than from the reflections below keeps their zeros exact.
    sparse = (Ut[:d] / np.linalg.norm(Ut[:d], axis=1, keepdims=True)).T

    # LAPACK in place: scipy.linalg.qr would hold R and a second p × p matrix as well. Ut.T is in Fortran
    # order, so nothing is copied.
    lwork = int(lapack.dgeqrf_lwork(p, p)[0])
    factor, tau, _, _ = lapack.dgeqrf(Ut.T, lwork=lwork, overwrite_a=True)
    signs = np.where(np.diagonal(factor) < 0, -1.0, 1.0)
    Q, _, _ = lapack.dorgqr(factor, tau, lwork=lwork, overwrite_a=True)
    Q *= signs
    Q[:, :d] = sparse
    return np.asarray(Q, dtype=np.float64)


def _groups(sizes: Sequence[int], eigenvalues: Sequence[float], p: int) -> tuple[tuple[int, ...], Array]:
    sizes = tuple(check_whole("each entry of sizes", size, 1) for size in sizes)
    leading = np.asarray(eigenvalues, dtype=np.float64)
    require(sizes, "sizes", "name at least one signal group", "none", "pass for example sizes=(20, 15)")
    if leading.shape != (len(sizes),):
        raise ValueError(
            f"eigenvalues must hold one number for each of the {len(sizes)} groups in sizes, "
            f"got shape {leading.shape}; pass as many eigenvalues as sizes."
        )
    if not (np.isfinite(leading).all() and (leading > _NOISE_TOP).all()):
        raise ValueError(
            f"eigenvalues must be finite and above {_NOISE_TOP:g}, the top of the noise eigenvalues, "
            f"got {leading.tolist()}; pass larger values, for example (12, 6)."
        )
    least = f"be at least sum(sizes) = {sum(sizes)}"
    require(sum(sizes) <= p, "p", least, str(p), "raise p or pass smaller groups in sizes")
    return sizes, leading


def _generator(random_state: object) -> np.random.Generator:
    if random_state is None or isinstance(random_state, np.random.Generator | Integral):
        with suppress(ValueError):  # a negative number
            return np.random.default_rng(random_state)  # type: ignore[arg-type]
    raise ValueError(
        "random_state must be a non-negative integer, a numpy Generator or None, "
        f"got {random_state!r}; pass for example random_state=0."
    )
