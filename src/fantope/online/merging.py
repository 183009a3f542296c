"""Two learners that saw different samples made into one, and what of their guarantees is kept.

Where the second moments are kept (follow the leader, Online-P, the tracker), the merged learner is, up to rounding and
the tolerance of its solves, the one that saw both sets of samples: its answer depends on S and the number of samples
alone. With forgetting, every sample keeps the weight that its age in its own stream gives it.

Online-T keeps no moments. What is merged is the running mean, weighted by the numbers of samples: the mean of all
iterates of both. The regrets against a fixed Π add up, so that Theorem 4's bound on the average regret holds with
(√T₁ + √T₂)/(T₁ + T₂), at most √2 times that of one run over T₁ + T₂ samples, in place of 1/√(T₁ + T₂). The last
iterates are averaged as well, which moves neither further from a point of the Fantope than the further of the two,
and the sums that set the step size are added: it goes on with the steps of one run. The difference between the two
means, on which no iterate was trained, is in the merged mean but not in X.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse

from fantope.kernels.online_t import BOTTOM, SAMPLE, SCALE, SHIFT, TOP
from fantope.online.accumulator import SparseSum
from fantope.online.base import Learner, Unit, Window
from fantope.online.leader import Leader
from fantope.online.online_t import WINDOW, OnlineT, symmetric
from fantope.typing import Array


def merge_learners(first: Learner, second: Learner, apart: Array) -> None:
    """Take what ``second`` has learnt into ``first``: of the same kind and parameters, both with a sample or more.

    ``apart`` is the mean of the second's samples less that of the first's.
    """
    if isinstance(first, Leader) and isinstance(second, Leader):
        _merge_moments(first, second, apart)
    elif isinstance(first, OnlineT) and isinstance(second, OnlineT):
        _merge_online_t(first, second)
    else:
        raise ValueError(f"a learner of kind {first.name!r} cannot be merged with one of kind {second.name!r}.")


def _merge_moments(first: Leader, second: Leader, apart: Array) -> None:
    n, m = first.count.effective, second.count.effective
    share, ratio, apart = m / (n + m), second.unit / first.unit, apart / first.unit
    first.S = (1.0 - share) * first.S + share * ratio**2 * second.S + share * (1.0 - share) * np.outer(apart, apart)
    _merge_counts(first._unit, second._unit, share)
    first.n_samples, first.count.effective = first.n_samples + second.n_samples, n + m
    first.n_unmet += second.n_unmet
    first.resolve()


def _merge_counts(unit: Unit, other: Unit, share: float) -> None:
    unit.size = math.hypot(math.sqrt(1.0 - share) * unit.size, math.sqrt(share) * other.size)


def _merge_online_t(first: OnlineT, second: OnlineT) -> None:
    n, m = first.count.effective, second.count.effective
    share, ratio = m / (n + m), (second.unit / first.unit) ** 2
    if first.storage == "dense":
        _merge_dense(first, second, share, n + m)
    else:
        _merge_sparse(first, second, share, n + m)
    first.scalars[[SCALE, TOP, BOTTOM, SAMPLE, SHIFT]] = 1.0, 0.0, 0.0, 0.0, 0.0  # nothing is pending
    first.second = (1.0 - share) * first.second + share * ratio * second.second
    first.fourth += ratio**2 * second.fourth
    _merge_counts(first._unit, second._unit, share)
    first.n_samples, first.count.effective = first.n_samples + second.n_samples, n + m
    first.window = _merged_window(first.window, second.window, share)


def _merged_window(first: Window, second: Window, share: float) -> Window:
    """Return a window with the latest of both, in proportion."""
    merged = Window(WINDOW, first.samples.shape[1])
    mine, its = first.recent(WINDOW), second.recent(WINDOW)
    of_second = min(len(its), max(round(share * WINDOW), WINDOW - len(mine)))
    rows = np.concatenate([mine[max(len(mine) - (WINDOW - of_second), 0) :], its[len(its) - of_second :]])
    merged.count = first.count + second.count - len(rows)
    merged.push(rows)
    return merged


def _merge_dense(first: OnlineT, second: OnlineT, share: float, total: float) -> None:
    X = (1.0 - share) * first.iterate() + share * second.iterate()
    if first.average:
        mean = (1.0 - share) * first.average_iterate() + share * second.average_iterate()
        first.mean = _without_last(mean, X, total)
    first.A = X


def _without_last(mean: Any, last: Any, total: float) -> Any:
    """Return the mean that the pending iterate has not entered yet: with it, at weight 1/total, it is ``mean``."""
    return (total * mean - last) / (total - 1.0)


def _merge_sparse(first: OnlineT, second: OnlineT, share: float, total: float) -> None:
    """Merge the thresholded iterates: the iterates themselves are dense."""
    X = (1.0 - share) * symmetric(*first.thresholded()) + share * symmetric(*second.thresholded())
    if first.average:
        mean = (1.0 - share) * first.average_sparse() + share * second.average_sparse()
        first.sum = _as_sum(_without_last(mean, X, total))
    first.diagonal = np.asarray(X.diagonal())
    upper = scipy.sparse.csr_array(scipy.sparse.triu(X, 1))
    upper.sort_indices()
    first.indptr, first.indices = upper.indptr.astype(np.int64), upper.indices.astype(np.int32)
    first.data = np.asarray(upper.data, dtype=np.float64)


def _as_sum(mean: scipy.sparse.csr_array) -> SparseSum:
    result = SparseSum(mean.shape[0])
    upper = scipy.sparse.csr_array(scipy.sparse.triu(mean, 1))
    result.add(upper.indptr, upper.indices.astype(np.int64), upper.data, np.asarray(mean.diagonal()), 1.0)
    return result
