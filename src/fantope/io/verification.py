"""Check a written result again: its files, its data, and the certificate of each of its solutions.

No solver takes part: S comes from the data, X and U from the files, the bracket from ``fantope.problem.certificate``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fantope.io.certificates import load_dual, load_projection
from fantope.io.checksum import checksum
from fantope.io.content import Data
from fantope.io.errors import FileError
from fantope.io.operator import operator
from fantope.io.read import read
from fantope.io.record import Run, application_check, read_record
from fantope.operators import Covariance
from fantope.problem.certificate import Certificate, CertificateError, verify_reported


@dataclass(frozen=True)
class Checked:
    """One solution, checked.

    Attributes
    ----------
    alpha : float
    reported_gap : float
        What run.json says.
    certificate : Certificate or None
        The recomputed bracket; None if X or U is not admissible.
    failure : str
        What does not hold; empty if all does.
    group : str
        Of samples, where a result has several.
    """

    alpha: float
    reported_gap: float
    certificate: Certificate | None
    failure: str = ""
    group: str = ""


@dataclass(frozen=True)
class Verification:
    """What a second look at a result found.

    Attributes
    ----------
    run : Run
    solutions : list of Checked
    failures : list of str
        One sentence for everything that does not hold.
    """

    run: Run
    solutions: list[Checked]
    failures: list[str]

    @property
    def holds(self) -> bool:
        """Whether nothing failed."""
        return not self.failures


def verify_folder(
    folder: Path, data_path: Path | None = None, report: Callable[[float, str], None] | None = None
) -> Verification:
    """Recompute every certificate of a result against its data.

    Parameters
    ----------
    folder : Path
        The OUT of ``fantope fit``, ``fantope path`` or a command that an application adds.
    data_path : Path, optional
        Where the data are now; by default where run.json says, relative to ``folder``.
    report : callable, optional
        Called with the share done and a text.

    Raises
    ------
    FileError
        If ``folder`` is not a result, or the data are not there.
    """
    run = read_record(folder)
    check = application_check(run.command)
    if check is not None:
        verification: Verification = check(folder, run, data_path, report)
        return verification
    failures = changed_files(folder, run)
    path = folder / run.input["path"] if data_path is None else data_path
    if not path.exists():
        raise FileError(
            path if data_path is not None else Path(run.input["name"]),
            "the data are not where they were; say where they are with --data.",
        )
    same = checksum(path) == run.input["sha256"]
    if not same:
        failures.append(f"{path} is not the file that was fitted: its checksum differs.")
    try:
        data, S = operator(
            read(path, run.reading), run.kind, center=run.center, drop_constant=run.reading.drop_constant
        )
    except ValueError as error:
        if same:
            raise
        return Verification(run, [], [*failures, str(error)])
    failures.extend(_other_shape(data, run))
    solutions = []
    for k, told in enumerate(run.solutions):
        if report is not None:
            report(k / len(run.solutions), f"alpha {told['alpha']:g}")
        solutions.append(check_solution(folder, S, run, told))
    failures.extend(f"alpha = {each.alpha:g}: {each.failure}" for each in solutions if each.failure)
    return Verification(run, solutions, failures)


def changed_files(folder: Path, run: Run) -> list[str]:
    """Return a sentence for each file of a result that is missing or was changed."""
    failures = []
    for name, digest in run.files.items():
        file = folder / name
        if not file.is_file():
            failures.append(f"{file} is missing.")
        elif checksum(file) != digest:
            failures.append(f"{file} was changed after it was written.")
    return failures


def _other_shape(data: Data, run: Run) -> list[str]:
    expected = (run.input["n_samples"], run.input["n_variables"])
    if data.shape == expected:
        return []
    return [f"{data.path} has {data.shape[0]} × {data.shape[1]} values, but {expected[0]} × {expected[1]} were fitted."]


def check_solution(folder: Path, S: Covariance, run: Run, told: dict[str, Any]) -> Checked:
    """Recompute one bracket and compare it with the one told."""
    reported = Certificate(told["objective"], told["dual_bound"])
    try:
        X, dual = load_projection(folder / told["folder"]), load_dual(folder / told["folder"], S)
        if dual.alpha != told["alpha"]:
            raise CertificateError(f"the dual point is one for alpha = {dual.alpha:g}.")
        found, failure = verify_reported(S, X, dual, run.n_components, reported)
    except CertificateError as error:
        return Checked(told["alpha"], reported.gap, None, str(error))
    if not failure and not abs(told["gap"] - reported.gap) <= 1e-9:
        failure = f"the gap reported, {told['gap']:.3g}, is not that of the bracket reported, {reported.gap:.3g}"
    return Checked(told["alpha"], reported.gap, found, failure and f"{failure}.")
