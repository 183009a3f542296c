"""What the benchmarks share: instances, warm-up, clocks, tables."""

from __future__ import annotations

import gc
import hashlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

import fantope
from fantope.solvers.solve import SOLVERS

Array = NDArray[np.float64]
T = TypeVar("T")

D = 2  # components in the paper's model


@dataclass(frozen=True)
class Instance:
    """One draw of the paper's model with its penalty λ = 0.5√(log p/n)."""

    sim: fantope.Simulation
    S: Array
    alpha: float


def instance(n: int, p: int, seed: int = 0) -> Instance:
    sim = fantope.simulate(n, p, random_state=seed)
    return Instance(sim, sim.Z.T @ sim.Z / n, 0.5 * float(np.sqrt(np.log(p) / n)))


def warm_up() -> None:
    """Compile or load every kernel, in its serial and its parallel build, and wake the BLAS threads."""
    for n, p in ((50, 60), (175, 700)):
        given = instance(n, p)
        for solver in SOLVERS:
            fantope.solve(given.S, D, given.alpha, solver=solver, tol=1e-2, max_iter=12)
        fantope.solve(given.S, D, given.alpha, tol=1e-3).verify(given.S)
        for _ in range(2):
            scipy.linalg.eigh(given.S)


def clock(function: Callable[[], T]) -> tuple[float, T]:
    """Return how long one call took, and what it returned."""
    gc.collect()
    began = time.perf_counter()
    result = function()
    return time.perf_counter() - began, result


def note(text: str) -> None:
    """Tell whoever waits how far the run has come."""
    print(f"  {text}", file=sys.stderr, flush=True)


def spread(values: list[float]) -> dict[str, float]:
    """Return the median and the extremes."""
    return {"median": median(values), "low": min(values), "high": max(values)}


def seconds(value: float) -> str:
    """Return a duration with three significant digits."""
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def with_spread(values: dict[str, float], text: Callable[[float], str] = seconds) -> str:
    """Return "median (low – high)"."""
    return f"{text(values['median'])} ({text(values['low'])} – {text(values['high'])})"


def table(head: list[str], rows: list[list[Any]]) -> str:
    """Return a Markdown table; all columns but the first are aligned to the right."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def source() -> str:
    """Return a fingerprint of the library's source, so that a report cannot pass off two states of it as one."""
    digest = hashlib.sha256()
    home = Path(fantope.__file__).parent
    for file in sorted(home.rglob("*.py")):
        digest.update(str(file.relative_to(home)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]
