"""Online estimators as files: what ``save`` writes and ``fantope.load`` opens."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from fantope.estimators.online_estimator import OnlineEstimator
from fantope.estimators.online_sparse_pca import OnlineSparsePCA
from fantope.estimators.online_sparse_precision import OnlineSparsePrecision
from fantope.online.persist import CheckpointError, read_state, write_state
from fantope.online.saved import saved_array, saved_count

KINDS: dict[str, type[OnlineEstimator]] = {
    "OnlineSparsePCA": OnlineSparsePCA,
    "OnlineSparsePrecision": OnlineSparsePrecision,
}


def save_estimator(
    estimator: Any, file: str | os.PathLike[str], *, position: dict[str, Any] | None = None, keep_previous: bool = False
) -> None:
    """Write an estimator, and with it a position in its input (what ``fantope stream`` adds)."""
    names = getattr(estimator, "feature_names_in_", None)
    header = {
        "estimator": type(estimator).__name__,
        "parameters": {key: _plain(value) for key, value in estimator.get_params(deep=False).items()},
        "n_features": int(estimator.n_features_in_),
        "watch": None if estimator._stream.watch is None else estimator._stream.watch.parameters,
        "columns": None if names is None else [str(name) for name in names],
        "position": position,
    }
    write_state(file, header, estimator._stream.state(), keep_previous=keep_previous)


def load(file: str | os.PathLike[str]) -> Any:
    """Open what ``save`` of an online estimator or a checkpoint of ``fantope stream`` holds.

    The estimator goes on from there as if it had never stopped, to the last bit.

    Raises
    ------
    CheckpointError
        If the file is damaged, is something else, or was written by another version of the format.
    """
    return load_with_header(file)[0]


def load_with_header(file: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Return the estimator and the header that goes with it."""
    header, state = read_state(file)
    try:
        # States from before there were two kinds do not say which they are.
        estimator: Any = KINDS[header.get("estimator", "OnlineSparsePCA")](**header["parameters"])
        estimator._validate_params()
        n_features, names = saved_count(header, "n_features"), header["columns"]
        saved_array(state, "mean", (n_features,))  # before anything of that size is made
        if names is not None and not (len(names) == n_features and all(isinstance(name, str) for name in names)):
            raise ValueError(f"columns must be {n_features} names")
        if header.get("watch") is not None:
            estimator.watch(**header["watch"])
        estimator.begin(n_features, names)
        estimator._stream.restore(state)
    except (AttributeError, KeyError, TypeError, IndexError) as error:
        raise CheckpointError(f"{file} lacks a part of the state ({error}); use the file before it.") from None
    except ValueError as error:
        raise CheckpointError(f"{file} is not a state that fantope saved: {error}; use the file before it.") from None
    return estimator, header


def _plain(value: Any) -> Any:
    """Return a number as Python's own type, which JSON can hold."""
    return value.item() if isinstance(value, np.generic) else value
