"""The one runner: every experiment, run by run, stored as they finish."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from fantope.paper.base import Config, Report, Skipped
from fantope.paper.machine import Background
from fantope.paper.store import Store, Stored, run_key


@dataclass
class Outcome:
    """What became of the runs of one experiment.

    Attributes
    ----------
    runs : list of Stored
        Those that are there, in the order of the plan.
    wanted : int
        How many there should be.
    computed : int
        How many were run now; the others were stored already.
    skipped, failed : dict
        Reason by label.
    """

    wanted: int
    runs: list[Stored] = field(default_factory=list)
    computed: int = 0
    skipped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def module_of(experiment: str) -> str:
    """Return the module that has the experiment's ``run(config, report)``."""
    return f"fantope.paper.experiments.{experiment}"


def collect(experiment: str, configs: Sequence[Config], folder: Path) -> Outcome:
    """Return what is stored, without running anything."""
    outcome = Outcome(len(configs))
    store = Store(folder / experiment)
    for config in configs:
        found = store.read(config.label, run_key(experiment, config, module_of(experiment)))
        if found is not None:
            outcome.runs.append(found)
    return outcome


def run_all(experiment: str, configs: Sequence[Config], folder: Path, report: Report) -> Outcome:
    """Do the runs that are not stored yet.

    A run that fails does not stop the others; its reason is in the outcome. An interrupt goes through: what is finished
    is kept.

    Parameters
    ----------
    experiment : str
    configs : sequence of configs
    folder : Path
        Results go to ``folder/experiment/label.json``.
    report : callable
        ``report(fraction, text)``.
    """
    outcome = Outcome(len(configs))
    store = Store(folder / experiment)
    module = module_of(experiment)
    run: Callable[[Any, Report], dict[str, Any]] = import_module(module).run
    for k, config in enumerate(configs):
        label, key = config.label, run_key(experiment, config, module)
        found = store.read(label, key)
        if found is None:

            def within(fraction: float, text: str, k: int = k, label: str = label) -> None:
                report((k + min(max(fraction, 0.0), 1.0)) / len(configs), f"{label}, {text}" if text else label)

            within(0.0, "")
            background, began = Background(), time.perf_counter()
            try:
                # Small matrices everywhere: more threads only wait for each other. Solvers give large factorisations
                # theirs back. Looked up afresh, for a library that was loaded since must be limited as well.
                with threadpool_limits(1, "blas"):
                    result = run(config, within)
            except Skipped as reason:
                outcome.skipped[label] = str(reason)
                continue
            except Exception as error:
                outcome.failed[label] = f"{type(error).__name__}: {' '.join(str(error).split())}"
                continue
            store.write(label, key, config, result, time.perf_counter() - began, background.share())
            outcome.computed += 1
            found = store.read(label, key)
            assert found is not None
        outcome.runs.append(found)
        report((k + 1) / len(configs), f"{label} done")
    return outcome
