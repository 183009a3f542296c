"""What `fantope stream` writes and shows: components, snapshots, the final result, a line of progress."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fantope.atomic import write_whole

COMMAND = "fantope stream"

if TYPE_CHECKING:
    from fantope.estimators.online_sparse_pca import OnlineSparsePCA


def table(estimator: Any) -> tuple[str, list[str], list[list[Any]]]:
    """Return what is learnt: its name, a header, and a row per variable in use or per edge of a network."""
    names = getattr(estimator, "feature_names_in_", None)

    def name(j: int) -> Any:
        return int(j) if names is None else str(names[j])

    if estimator.algorithm == "graphical-lasso":
        found = estimator.partial_correlations_.tocoo()
        upper = [(i, j, value) for i, j, value in zip(*found.coords, found.data, strict=True) if i < j]
        rows = [[name(i), name(j), float(value), float(estimator.precision_[i, j])] for i, j, value in upper]
        return "edges", ["variable1", "variable2", "partial_correlation", "precision"], rows
    components = estimator.components_
    header = ["variable", *(f"component{k + 1}" for k in range(len(components)))]
    return "components", header, [[name(j), *map(float, components[:, j])] for j in estimator.support_]


def write_table(folder: Path, estimator: Any, ending: str = "") -> None:
    """Write what is learnt as CSV: components.csv, or edges.csv of a network.

    A snapshot has the number of samples as its ending: written again after a restart, it is the same.
    """
    from fantope.io.tables import cell

    stem, header, rows = table(estimator)
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows(map(cell, row) for row in rows)
    write_whole(folder / f"{stem}{ending}.csv", text.getvalue())


def write_result(folder: Path, estimator: OnlineSparsePCA, summary: dict[str, Any]) -> None:
    """Write what is learnt, summary.json, state.fantope, which `fantope.load` opens, and Online-P's certificate."""
    write_table(folder, estimator)
    write_whole(folder / "summary.json", json.dumps(summary, indent=2) + "\n")
    estimator.save(folder / "state.fantope")
    if estimator.algorithm == "online-p":
        from fantope.io.online_certificate import write_online_certificate

        write_online_certificate(folder, estimator._stream.learner, COMMAND)  # type: ignore[arg-type]


def describe(estimator: OnlineSparsePCA, bad_rows: int) -> dict[str, Any]:
    """Return the result in numbers."""
    fitted = estimator.__sklearn_is_fitted__()
    regret = estimator.average_regret_ if fitted else math.nan
    return {
        "n_samples": estimator.n_samples_seen_ if fitted else 0,
        "n_features": int(estimator.n_features_in_) if fitted else 0,
        "bad_rows": bad_rows,
        "support": len(estimator.support_) if fitted else 0,
        "average_regret": None if math.isnan(regret) else regret,
        "explained_variance_ratio": explained(estimator) if fitted else [],
        "unmet": int(getattr(estimator._stream.learner, "n_unmet", 0)) if fitted else 0,
        "alarms": estimator.n_alarms_ if fitted else 0,
        "missed_at_least": estimator.checks_[-1].at_least if estimator.checks_ else None,
        "parameters": estimator.get_params(),
    }


def explained(estimator: Any) -> list[float]:
    """Return the share of the variance along each component; nothing for a network."""
    return [] if estimator.algorithm == "graphical-lasso" else list(map(float, estimator.explained_variance_ratio_))


def progress_line(estimator: OnlineSparsePCA, rate: float) -> str:
    """Return how far the run is, for people."""
    regret = estimator.average_regret_
    judged = "" if math.isnan(regret) else f", average regret {regret:.4g}"
    if estimator.checks_:
        judged += f", at least {100.0 * estimator.checks_[-1].at_least:.1f} % missed"
    return f"{estimator.n_samples_seen_} samples, {rate:.0f}/s, {len(estimator.support_)} variables in use{judged}"
