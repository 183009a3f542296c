"""The learner that the parameters of :class:`OnlineSparsePCA` ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fantope.errors import require
from fantope.online import FollowTheLeader, OnlineP, OnlineT, RegretTracker, Stream, Tracker
from fantope.online.base import Learner

if TYPE_CHECKING:
    from fantope.estimators.online_sparse_pca import OnlineSparsePCA

SPARSE_FROM = 4000  # variables; from here on "auto" storage holds Online-T's matrix by its non-zeros


def new_stream(pca: OnlineSparsePCA, p: int) -> Stream:
    """Return a stream of samples with p features that has seen none."""
    d = pca.n_components
    if p == 2 and d == 2:
        d = 1
    require(d < p, "n_components", f"be less than the number of features, {p}", str(d), f"ask for {p - 1} or fewer")
    if pca.window is not None and pca.forgetting != 1.0:
        raise ValueError(f"forgetting must be 1 where window is given, got {pca.forgetting}; use one of the two.")
    learner: Learner
    if pca.algorithm == "online-t":
        storage = ("sparse" if p >= SPARSE_FROM else "dense") if pca.storage == "auto" else pca.storage
        learner = OnlineT(
            p, d, pca.alpha, step_size=pca.step_size, nu=pca.nu, forgetting=pca.forgetting,
            storage=storage,  # type: ignore[arg-type]
        )  # fmt: skip
    elif pca.algorithm == "online-p":
        learner = OnlineP(p, d, pca.alpha, loosen=pca.loosen, forgetting=pca.forgetting, window=pca.window)
    elif pca.algorithm == "tracker":
        learner = Tracker(
            p, d, pca.alpha, tol=pca.tol, forgetting=pca.forgetting, window=pca.window, every=pca.solve_every
        )
    else:
        learner = FollowTheLeader(p, d, pca.alpha, tol=pca.tol, forgetting=pca.forgetting, window=pca.window)
    tracker = None
    if pca.track:
        # The loss needs a constant; where none is given, the part of ν that is known beforehand.
        tracker = RegretTracker(d, pca.alpha, pca.alpha * p + 1.0 if pca.nu is None else pca.nu, pca.track)
    return Stream(learner, pca.center, pca.forgetting, tracker, pca.window)
