"""The one runner: every experiment, run by run, stored as they finish."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from fantope.interrupts import noticed_interrupts
from fantope.paper.base import Config, Report, Skipped
from fantope.paper.experiments.common import plain
from fantope.paper.machine import Background, one_thread
from fantope.paper.store import RunStore, Stored


@dataclass
class Outcome:
    """What became of the runs of one experiment."""

    runs: list[Stored] = field(default_factory=list)  # those that are there, in the order of the plan
    computed: int = 0  # how many were run now; the others were stored already
    skipped: dict[str, str] = field(default_factory=dict)  # reason by label
    failed: dict[str, str] = field(default_factory=dict)


def collect(experiment: str, configs: Sequence[Config], folder: Path) -> Outcome:
    """Return what is stored, without running anything."""
    store = RunStore(folder, experiment)
    return Outcome([found for config in configs if (found := store.read(config)) is not None])


def run_all(experiment: str, configs: Sequence[Config], folder: Path, report: Report) -> Outcome:
    """Do the runs that ``folder/experiment`` does not have yet; ``report(fraction, text)`` hears of progress.

    A run that fails does not stop the others; its reason is in the outcome. An interrupt goes through: what is finished
    is kept.
    """
    outcome, store = Outcome(), RunStore(folder, experiment)
    run: Callable[[Any, Report], dict[str, Any]] = import_module(store.module).run
    for k, config in enumerate(configs):
        label, found = config.label, store.read(config)
        if found is None:

            def within(fraction: float, text: str, k: int = k, label: str = label) -> None:
                report((k + min(max(fraction, 0.0), 1.0)) / len(configs), f"{label}, {text}" if text else label)

            within(0.0, "")
            background, began = Background(), time.process_time()
            try:
                with noticed_interrupts() as came, one_thread():
                    result = plain(run(config, within))
            except Skipped as reason:
                outcome.skipped[label] = str(reason)
                continue
            except Exception as error:
                if came.is_set():  # and has become another exception in a module that was being loaded
                    raise KeyboardInterrupt from None
                outcome.failed[label] = f"{type(error).__name__}: {' '.join(str(error).split())}"
                continue
            store.write(config, result, time.process_time() - began, background.share())
            outcome.computed += 1
            found = store.read(config)
            assert found is not None
        outcome.runs.append(found)
        report((k + 1) / len(configs), f"{label} done")
    return outcome
