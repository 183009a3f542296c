"""abess called as its documentation says, in a process of its own: it has been seen to ask for all the memory there is.

`python -m fantope.paper.experiments.abess_probe N P SEED COUNT` prints what came back, in a few words.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np

from fantope.simulation import simulate

MEMORY = 3 * 2**30  # bytes of addresses that the process may have, libraries included
SECONDS = 60


def probe_abess(n: int, p: int, seed: int) -> dict[str, Any]:
    """Ask abess for one and for two components of n samples of p variables, and note what comes back."""
    if find_spec("abess") is None:
        return {"skipped": "abess is not installed; install fantope[compare]"}
    return {"answers": {"one component": _ask(n, p, seed, 1), "two components": _ask(n, p, seed, 2)}}


def _ask(n: int, p: int, seed: int, count: int) -> str:
    command = [sys.executable, "-m", "fantope.paper.experiments.abess_probe", *map(str, (n, p, seed, count))]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no answer within {SECONDS} s"
    if done.returncode == 0:
        return done.stdout.strip()
    said = done.stderr.strip().splitlines()
    return said[-1] if said and done.returncode > 0 else f"the process ended with signal {-done.returncode}"


def _answer(n: int, p: int, seed: int, count: int) -> str:
    from abess import SparsePCA

    Z = simulate(n, p, random_state=seed).Z
    options = {} if count == 1 else {"number": count}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.asarray(SparsePCA(support_size=20).fit(Z, **options).coef_)
    return "a vector of ones" if (found == 1.0).all() else f"{int(np.count_nonzero(found))} non-zero loadings"


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


if __name__ == "__main__":
    _limit_memory()
    print(_answer(*map(int, sys.argv[1:5])))
