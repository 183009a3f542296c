"""Check a written result again: its files, its data, and the certificate of each of its solutions.

No solver takes part: S comes from the data, X and U from the files, the bracket from ``fantope.problem.certificate``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy.sparse import csr_array

from fantope.events import Event, Listener, ignore
from fantope.io.certificates import SOLVER, contradictions, unfounded_status
from fantope.io.results import (
    BROKEN,
    STREAM,
    RunRecord,
    changed_files,
    load_dual,
    load_projection,
    load_solution,
    read_inputs,
    read_record,
    uncovered_files,
)
from fantope.operators import Covariance
from fantope.problem.certificate import Certificate, CertificateError, size_of_terms, verify_reported

SAME = 1e-9  # of their scale: numbers that differ by less differ in rounding


@dataclass(frozen=True)
class Checked:
    """One solution, checked."""

    alpha: float
    reported_gap: float  # what run.json says
    certificate: Certificate | None  # the recomputed bracket; None if X or U is not admissible
    failure: str = ""  # what does not hold; empty if all does
    group: str = ""  # of samples, where a result has several


@dataclass(frozen=True)
class Verification:
    """What a second look at a result found.

    Attributes
    ----------
    run : RunRecord
    solutions : list of Checked
    failures : list of str
        One sentence for everything that does not hold.
    uncovered : list of str
        Files in the folder that no checksum speaks of.
    """

    run: RunRecord
    solutions: list[Checked]
    failures: list[str]
    uncovered: list[str]

    @property
    def holds(self) -> bool:
        """Whether nothing failed."""
        return not self.failures


def verify_folder(folder: Path, data_path: Path | None = None, progress: Listener = ignore) -> Verification:
    """Recompute every certificate of a result against its data.

    Parameters
    ----------
    folder : Path
        The OUT of ``fantope fit``, ``fantope path`` or a command that an application adds.
    data_path : Path, optional
        Where the data are now; by default where run.json says, relative to ``folder``.
    progress : callable, optional
        Called with an :class:`~fantope.events.Event` before each solution.

    Raises
    ------
    FileError
        If ``folder`` is not a result, or the data are not there.
    """
    run = read_record(folder)
    inputs = read_inputs(folder, run, data_path)
    failures = changed_files(folder, run) + inputs.failures
    data = None if run.command == STREAM else run.input["sha256"]
    parameters = run.record["parameters"]
    failures += contradictions(folder, run.solutions, parameters, data, inputs.described, inputs.matrices)
    solutions = []
    # Not strict: without matrices there is nothing to check.
    for k, (recorded, S) in enumerate(zip(run.solutions, inputs.matrices, strict=False)):
        whose = f"{recorded['group']}, " if recorded.get("group") else ""
        progress(Event("verify", k, len(run.solutions), message=f"{whose}alpha {recorded['alpha']:g}"))
        if S is None:
            continue
        solutions.append(check_solution(folder, S, run, recorded))
        if solutions[-1].failure:
            failures.append(f"{whose}alpha = {recorded['alpha']:g}: {solutions[-1].failure}")
    return Verification(run, solutions, failures, uncovered_files(folder, run))


def check_solution(folder: Path, S: Covariance, run: RunRecord, recorded: dict[str, Any]) -> Checked:
    """Recompute one bracket and compare it with the one reported."""
    reported = Certificate(recorded["objective"], recorded["dual_bound"])
    try:
        if run.command == STREAM:
            from fantope.io.online_certificate import verify_online  # with the learners: only where it is needed

            found, failure = verify_online(folder, S, run.n_components, recorded, reported)
            terms = run.n_components * max(float(abs(S.diagonal()).max()), recorded["alpha"])
        else:
            X, dual = load_projection(folder / recorded["folder"]), load_dual(folder / recorded["folder"], S)
            if dual.alpha != recorded["alpha"]:
                raise CertificateError(f"the dual point is one for alpha = {dual.alpha:g}.")
            found, failure = verify_reported(dual.S, X, dual, run.n_components, reported)
            failure = failure or _misreported(folder, run, recorded, S, X)
            terms = size_of_terms(dual.S, X, dual.penalty)
    except CertificateError as error:
        return Checked(recorded["alpha"], reported.gap, None, str(error), recorded.get("group", ""))
    if not failure and not abs(recorded["gap"] - reported.gap) <= 1e-9:
        failure = f"the gap reported, {recorded['gap']:.3g}, is not that of the bracket reported, {reported.gap:.3g}"
    if not failure:
        failure = unfounded_status(recorded, run.record["parameters"].get("tol"), terms)
    return Checked(recorded["alpha"], reported.gap, found, failure and f"{failure}.", recorded.get("group", ""))


def _misreported(folder: Path, run: RunRecord, recorded: dict[str, Any], S: Covariance, X: csr_array) -> str:
    """Return what solver.npz, or run.json beside the bracket, says that does not follow from X and S; empty if nothing.

    ``X`` is that of projection.npz, which the bracket was computed from.
    """
    try:
        solution = load_solution(folder, run, recorded, S)
        again = solution.factors.matrix(S.size, lambda X: solution.penalty.forbidden(X, solution.support))
        follows = {
            "n_variables": len(solution.support),
            "explained_variance": float(solution.explained_variance.sum()),
            "is_projection": solution.is_projection,
        }
        apart = float(abs(again - X).max())
    except BROKEN as error:
        return f"{folder / recorded['folder'] / SOLVER} does not hold X ({error})"
    if not apart <= SAME:
        return "solver.npz and projection.npz hold another X each"
    scale = {"explained_variance": run.n_components * float(abs(S.diagonal()).max())}
    for name, value in follows.items():
        if name in recorded and not abs(recorded[name] - value) <= SAME * scale.get(name, 0.0):
            return f"{name} is {value:.10g}, but {recorded[name]:.10g} is reported"
    return ""
