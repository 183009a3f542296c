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


def write_components(path: Path, estimator: OnlineSparsePCA) -> None:
    """Write a row per variable in use: its name and its loadings."""
    from fantope.io.tables import spreadsheet_name

    names = getattr(estimator, "feature_names_in_", None)
    components = estimator.components_
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["variable", *(f"component{k + 1}" for k in range(len(components)))])
    for j in estimator.support_:
        name = j if names is None else spreadsheet_name(str(names[j]))
        writer.writerow([name, *(repr(float(value)) for value in components[:, j])])
    write_whole(path, text.getvalue())


def write_snapshot(folder: Path, estimator: OnlineSparsePCA) -> None:
    """Write components under the number of samples: written again after a restart, they are the same."""
    write_components(folder / f"components-{estimator.n_samples_seen_:012d}.csv", estimator)


def write_result(folder: Path, estimator: OnlineSparsePCA, summary: dict[str, Any]) -> None:
    """Write components.csv, summary.json, state.fantope, which `fantope.load` opens, and Online-P's certificate."""
    write_components(folder / "components.csv", estimator)
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
        "explained_variance_ratio": estimator.explained_variance_ratio_.tolist() if fitted else [],
        "unmet": int(getattr(estimator._stream.learner, "n_unmet", 0)) if fitted else 0,
        "alarms": estimator.n_alarms_ if fitted else 0,
        "missed_at_least": estimator.checks_[-1].at_least if estimator.checks_ else None,
        "parameters": estimator.get_params(),
    }


def progress_line(estimator: OnlineSparsePCA, rate: float) -> str:
    """Return how far the run is, for people."""
    regret = estimator.average_regret_
    judged = "" if math.isnan(regret) else f", average regret {regret:.4g}"
    if estimator.checks_:
        judged += f", at least {100.0 * estimator.checks_[-1].at_least:.1f} % missed"
    return f"{estimator.n_samples_seen_} samples, {rate:.0f}/s, {len(estimator.support_)} variables in use{judged}"
