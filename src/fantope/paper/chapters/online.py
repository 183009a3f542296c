"""Figure 4 from its stored repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

import numpy as np

from fantope.paper.chapters.base import Chapter, Picture, Table, duration, number, tolerance
from fantope.paper.figures import plot_online_errors
from fantope.paper.store import Stored

ORDER = 10.0  # an order of magnitude


def chapter(runs: Sequence[Stored]) -> Chapter:
    """Return the section on the two online algorithms."""
    config = runs[0].config
    T1, T2 = config["T1"], config["T2"]
    curves = {name: [run.result["curves"][name] for run in runs] for name in ("Online-T", "Online-P")}
    shown = {name: [(c["samples"], c["time"], c["answer"]) for c in each] for name, each in curves.items()}
    at = {name: mean(float(np.interp(T2, c["samples"], c["answer"])) for c in each) for name, each in curves.items()}
    end = mean(c["answer"][-1] for c in curves["Online-T"])
    per = {name: mean(c["time"][-1] / c["samples"][-1] for c in each) for name, each in curves.items()}
    pairs = list(zip(curves["Online-T"], curves["Online-P"], strict=True))
    needed = [_first(t, "samples", p["answer"][-1]) for t, p in pairs]
    reached = [value for value in needed if value is not None]
    speed = per["Online-P"] / per["Online-T"]
    # How much longer Online-P takes to be where Online-T is after all its samples.
    same = [_first(p, "time", t["answer"][-1]) for t, p in pairs]
    faster = [s / t["time"][-1] for s, t in zip(same, curves["Online-T"], strict=True) if s is not None]
    rows = [
        [name, number(at[name]), number(end if name == "Online-T" else None), duration(per[name])] for name in curves
    ]
    more = (
        f"Online-T needs {mean(reached):.0f} samples on average for what Online-P has after {T2}"
        if len(reached) == len(runs)
        else f"in {len(runs) - len(reached)} of {len(runs)} runs Online-T does not get there within {T1} samples"
    )
    longer = (
        f"to Online-T's final error Online-P takes {mean(faster):.1f} times as long ({len(faster)} runs)"
        if faster
        else "Online-P never reaches Online-T's final error"
    )
    page = Chapter("Two online algorithms (figure 4)")
    page.claim(
        "5.4, figure 4(a)",
        "Per sample, Online-P converges much faster than Online-T.",
        f"mean error after {T2} samples: {at['Online-P']:.3f} against {at['Online-T']:.3f}; {more}",
        [at["Online-P"] < at["Online-T"], all(value is None or value >= 2 * T2 for value in needed)],
    )
    page.claim(
        "5.4, figure 4(b)",
        "Per second, Online-T is an order of magnitude faster.",
        f"a sample costs {duration(per['Online-T'])} against {duration(per['Online-P'])}, ratio {speed:.0f}; {longer}",
        [speed >= ORDER, all(value >= ORDER for value in faster)],
    )
    page.add(
        f"p = {config['p']}, {len(runs)} runs; Online-T sees {T1} samples, Online-P {T2}. λ = 0.5√(log p/T₂). The "
        "error is that of each algorithm's answer: the running mean for Online-T, X_t for Online-P, whose "
        f"subproblems are solved to {tolerance(config['loosen'])}. Only updates are timed.",
        Picture("online", "The paper's figure 4: error against (a) samples and (b) time.", plot_online_errors(shown)),
        Table(["algorithm", f"error after {T2}", f"after {T1}", "time per sample"], rows),
    )
    return page


def _first(curve: dict[str, Any], axis: str, error: float) -> float | None:
    """Return where on an axis, samples or time, the answer is first as good; None if never."""
    return next((float(x) for x, e in zip(curve[axis], curve["answer"], strict=True) if e <= error), None)
