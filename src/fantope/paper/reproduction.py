"""All of it: run what is missing, then write the page from what is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from fantope.atomic import write_whole
from fantope.paper.base import Report
from fantope.paper.chapters.base import Chapter, Claim
from fantope.paper.page import IMAGES, html_page, markdown, write_pictures
from fantope.paper.plan import EXPERIMENTS, FOLDERS, PLANS, Plan, Scale, expected_seconds
from fantope.paper.runner import Outcome, collect, run_all
from fantope.paper.store import RunStore, Stored

TITLE = "The paper, reproduced"
BUSY = 0.05  # share of the processor that others may take before the page says so


@dataclass
class Reproduction:
    """What was done and what came out."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)  # of the experiments that were asked for, by name
    claims: list[Claim] = field(default_factory=list)  # all that stored results settle, those of earlier commands too


def reproduce(
    experiments: Iterable[str],
    out: Path,
    *,
    scale: Scale = "paper",
    progress: Callable[[str], AbstractContextManager[Report]],
    plan: Plan | None = None,
    command: str = "fantope reproduce",
) -> Reproduction:
    """Run the experiments that are not stored in ``out`` yet, and write reproduce.md, reproduce.html and the figures.

    ``out/results/<scale>/<experiment>/<run>.json`` keeps each run as it finishes: after Ctrl-C a second call goes on.
    ``experiments`` are keys of :data:`fantope.paper.plan.EXPERIMENTS`, ``progress(title)`` is a context manager that
    yields ``report(fraction, text)``, ``plan`` takes the place of that of the scale, and ``command`` is what the page
    says it was written by.
    """
    configs = PLANS[scale] if plan is None else plan
    results = out / "results" / FOLDERS[scale]
    done = Reproduction()
    for name in experiments:
        with progress(name) as report:
            done.outcomes[name] = run_all(name, configs[name], results, report)
    done.claims = write_page(out, scale, configs, done.outcomes, command)
    return done


def expected_minutes(experiments: Iterable[str], out: Path, scale: Scale) -> tuple[int, float]:
    """Return how many runs are not stored in ``out`` yet, and about how long they take on an idle core."""
    folder, plan = out / "results" / FOLDERS[scale], PLANS[scale]
    left = [
        (name, config) for name in experiments for config in plan[name] if RunStore(folder, name).read(config) is None
    ]
    return len(left), sum(expected_seconds(name, config) for name, config in left) / 60


def write_page(out: Path, scale: Scale, plan: Plan, outcomes: dict[str, Outcome], command: str) -> list[Claim]:
    """Write the page from everything that is stored; return the claims it settles."""
    results = out / "results" / FOLDERS[scale]
    chapters: list[Chapter] = []
    missing: dict[str, str] = {}
    used: dict[str, list[Stored]] = {}
    for name, about in EXPERIMENTS.items():
        if name not in plan:
            continue
        stored = collect(name, plan[name], results)
        outcome = outcomes.get(name, stored)
        for label, reason in (*outcome.skipped.items(), *outcome.failed.items()):
            missing[f"{name}, {label}"] = ("skipped: " if label in outcome.skipped else "failed: ") + reason.rstrip(".")
        left = len(plan[name]) - len(stored.runs) - len(outcome.skipped) - len(outcome.failed)
        if left:
            missing[name] = f"{about}: {left} of {len(plan[name])} runs have not been done yet"
        if stored.runs:
            used[name] = stored.runs
            chapters.append(import_module(f"fantope.paper.chapters.{name}").chapter(stored.runs))
            chapters[-1].note_varied(stored.runs, name)
    opening = _opening(scale, used, command)
    write_pictures(chapters, out / IMAGES)
    text = markdown(TITLE, opening, chapters, missing)
    write_whole(out / "reproduce.md", text)
    write_whole(out / "reproduce.html", html_page(TITLE, text))
    return [claim for chapter in chapters for claim in chapter.claims]


def _opening(scale: Scale, used: Mapping[str, Sequence[Stored]], command: str) -> list[str]:
    texts = [
        'The experiments of Qiu, Lei and Roeder, "Gradient-based Sparse Principal Component Analysis with Extensions '
        f'to Online Learning". Written by `{command}`; do not edit. Every number comes from that command: figures, '
        "tables and verdicts are computed from its stored runs, and the verdicts can come out either way."
    ]
    if scale == "quick":
        texts.append("**A quick run: sizes are far below the paper's, so verdicts here say little about its claims.**")
    if used:
        texts.append(_machine(used))
    return texts


def _machine(used: Mapping[str, Sequence[Stored]]) -> str:
    every = [run for runs in used.values() for run in runs]
    first = every[0].machine
    versions = ", ".join(f"{name} {version}" for name, version in first["versions"].items())
    text = (
        f"{first['processor']}, {first['system']}, one BLAS and one numba thread; Python {first['python']}, "
        f"{versions}, {first['blas']}. All runs together took {sum(run.seconds for run in every) / 60:.0f} minutes. "
        "Times, here and below, are those of the processor, not of the clock on the wall."
    )
    if any(run.machine != first for run in every):
        text += " Some runs were made on another machine or with other versions."
    busy = max((run.background or 0.0 for run in every if run.seconds > 1.0), default=0.0)
    if busy > BUSY:
        text += f" Other programs took up to {100 * busy:.0f} % of the cores, which makes times somewhat longer."
    return text
