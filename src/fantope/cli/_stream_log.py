"""The log of `fantope stream`: a CSV file with a row now and then, each of them once whatever interrupts the run."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fantope.atomic import write_whole
from fantope.cli._stream_output import explained

if TYPE_CHECKING:
    from fantope.estimators.online_sparse_pca import OnlineSparsePCA

COLUMNS = (
    "samples", "variables", "explained_share", "average_regret", "missed_at_least", "missed_at_most",
    "missed_held_out", "alarm",
)  # fmt: skip


class Log:
    """Rows about a stream in a CSV file."""

    def __init__(self, path: Path) -> None:
        self.path, self.samples = path, 0

    def begin(self, n_samples: int) -> None:
        """Forget rows from after ``n_samples``, where the run goes on from: they will come again."""
        header, kept = ",".join(COLUMNS), []
        try:
            if self.path.exists():
                first, *rows = self.path.read_text(encoding="utf-8").splitlines() or [header]
                if first != header:
                    raise ValueError(
                        f"{self.path}: this is not a log of fantope stream; choose another file with --log."
                    )
                kept = [row for row in rows if _samples(row) <= n_samples]
            write_whole(self.path, "\n".join([header, *kept]) + "\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise ValueError(
                f"{self.path}: the log cannot be written ({reason}); choose another file with --log."
            ) from None
        self.samples = n_samples

    def add(self, estimator: OnlineSparsePCA) -> None:
        """Append what there is to say after the latest sample."""
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerow(["" if value is None else value for value in line(estimator)])
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text.getvalue())
        self.samples = estimator.n_samples_seen_


def line(estimator: OnlineSparsePCA) -> list[Any]:
    """Return a value for each column; None where there is none at this sample."""
    regret, n = estimator.average_regret_, estimator.n_samples_seen_
    check = estimator.checks_[-1] if estimator.checks_ and estimator.checks_[-1].sample == n else None
    found = (None,) * 4 if check is None else (check.at_least, check.at_most, check.held_out, int(check.alarm))
    shares = explained(estimator)
    return [n, len(estimator.support_), sum(shares) if shares else None, None if math.isnan(regret) else regret, *found]


def _samples(row: str) -> float:
    """Return what number of samples a row is of; infinity for one that was cut off."""
    first = row.partition(",")[0]
    return int(first) if first.isdecimal() and row.count(",") == len(COLUMNS) - 1 else math.inf
