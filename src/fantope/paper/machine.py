"""What timings depend on: the machine, the versions, and what others did meanwhile."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numba import get_num_threads, set_num_threads
from threadpoolctl import threadpool_info, threadpool_limits

from fantope import __version__

LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "threadpoolctl")


def machine() -> dict[str, Any]:
    """Describe processor, threads and versions. No names of hosts or paths."""
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "blas": ", ".join(sorted({f"{pool['internal_api']} {pool['version']}" for pool in pools})),
        "blas_threads": max((int(pool["num_threads"]) for pool in pools), default=1),
        "numba_threads": int(get_num_threads()),
        "versions": {"fantope": __version__, **{name: version(name) for name in LIBRARIES}},
    }


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


@contextmanager
def one_thread() -> Iterator[None]:
    """Run BLAS and compiled kernels on the calling thread: processor time is then what an idle machine would take."""
    before = get_num_threads()
    set_num_threads(1)
    try:
        # Looked up afresh, for a library that was loaded since must be limited as well.
        with threadpool_limits(1, "blas"):
            yield
    finally:
        set_num_threads(before)


class Background:
    """Watch how much of the processor others use: what would make timings too long.

    All busy time of the system less that of this process and its children, as a share of what the cores offer. None
    where the system does not say (it is read from /proc/stat).
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
        return max(busy - own, 0.0) / (max(wall, 1e-9) * (os.cpu_count() or 1))
