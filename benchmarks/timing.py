"""What the benchmarks share: instances, warm-up, clocks, the description of the machine."""

from __future__ import annotations

import gc
import hashlib
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import numpy as np
import scipy.linalg
from numba import get_num_threads
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

import fantope

Array = NDArray[np.float64]
T = TypeVar("T")

D = 2  # components in the paper's model
LIBRARIES = ("fantope", "numpy", "scipy", "numba", "scikit-learn", "threadpoolctl")


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
        for solver in ("auto", "admm", "gradfps", "subgradient", "projected-subgradient"):
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


def machine() -> dict[str, Any]:
    """Describe what the timings depend on: processor, threads, versions. No names of hosts or paths."""
    blas = sorted(
        {f"{found['internal_api']} {found['version']}" for found in threadpool_info() if found["user_api"] == "blas"}
    )
    threads = {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}
    return {
        "processor": _processor(),
        "cores": _cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "blas": ", ".join(blas),
        "blas_threads": max(threads, default=1),
        "numba_threads": get_num_threads(),
        "versions": {name: version(name) for name in LIBRARIES},
    }


def source() -> str:
    """Return a fingerprint of the library's source, so that a report cannot pass off two states of it as one."""
    digest = hashlib.sha256()
    home = Path(fantope.__file__).parent
    for file in sorted(home.rglob("*.py")):
        digest.update(str(file.relative_to(home)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


class Background:
    """Watch how much of the processor others use: what would make timings too long.

    All busy time of the system less that of this process and its children, as a share of what the cores offer. None
    where the system does not tell (it is read from /proc/stat).
    """

    def __init__(self) -> None:
        self._began = self._read()

    @staticmethod
    def _read() -> tuple[float, float, float] | None:
        try:
            fields = Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:]
        except OSError:
            return None
        ticks = [int(field) for field in fields]
        busy = (ticks[0] + ticks[1] + ticks[2] + sum(ticks[5:7])) / os.sysconf("SC_CLK_TCK")
        own = os.times()
        return time.perf_counter(), busy, own.user + own.system + own.children_user + own.children_system

    def share(self) -> float | None:
        """Return the share since this object was made."""
        now = self._read()
        if now is None or self._began is None:
            return None
        wall, busy, own = (late - early for late, early in zip(now, self._began, strict=True))
        return max(busy - own, 0.0) / (wall * (os.cpu_count() or 1))


def _cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    fields: dict[str, str] = {}
    for line in reversed(lines):
        key, _, value = line.partition(":")
        fields[key.strip()] = value.strip()
    return f"{fields.get('model name', 'unknown')} (family {fields.get('cpu family', '?')})"
