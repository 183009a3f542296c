"""Peak memory of solve and verify, in arrays of p × p doubles. One fresh process for each case."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import fantope
from benchmarks.timing import D, instance, note, table, warm_up

TARGET = 6.0
TIMED = False  # a busy machine does not change these figures
# (n, p, solver, tol)
CASES = (
    (200, 800, "auto", 1e-4),
    (400, 1600, "auto", 1e-4),
    (800, 3200, "auto", 1e-4),
    (800, 3200, "auto", 1e-6),
    (200, 800, "admm", 1e-4),
    (200, 800, "gradfps", 1e-4),
)
QUICK_CASES = ((100, 400, "auto", 1e-4), (100, 400, "admm", 1e-4))
ROOT = Path(__file__).resolve().parent.parent


def run(quick: bool) -> dict[str, Any]:
    """Measure each case in a process of its own, which reads S from a file: drawing data needs more than solving."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n, p, solver, tol in QUICK_CASES if quick else CASES:
            given = instance(n, p)
            file = Path(folder) / "S.npy"
            np.save(file, given.S)
            # Large arrays each get their own pages and return them when freed, so that the peak is what is alive.
            environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": str(2**18)}
            found = subprocess.run(
                [sys.executable, "-m", "benchmarks.memory", str(file), str(given.alpha), solver, str(tol)],
                cwd=ROOT, env=environment, check=True, capture_output=True, text=True,
            )  # fmt: skip
            note(f"p = {p}, {solver}, tol = {tol:g}: done")
            rows.append({"n": n, "p": p, "solver": solver, "tol": tol, **json.loads(found.stdout)})
    return {"rows": rows, "target": TARGET}


def measure(file: str, alpha: float, solver: str, tol: float) -> dict[str, float]:
    """Return the peaks of solve and verify above the resident memory before S was read, in p × p arrays."""
    warm_up()
    baseline = resident()
    S = np.load(file)
    unit = 8.0 * S.size
    reset_peak()
    sol = fantope.solve(S, D, alpha, solver=solver, tol=tol)
    solving = peak()
    reset_peak()
    sol.verify(S)
    return {
        "solve": (solving - baseline) / unit,
        "verify": (peak() - baseline) / unit,
        "baseline_bytes": baseline,
    }


def _status(key: str) -> int | None:
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    found = [line for line in lines if line.startswith(key + ":")]
    return 1024 * int(found[0].split()[1]) if found else None


def resident() -> int:
    return _status("VmRSS") or peak()


def peak() -> int:
    """Return the peak resident memory since the last reset (since the start, where it cannot be reset)."""
    unit = 1 if sys.platform == "darwin" else 1024
    return _status("VmHWM") or unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def reset_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    except OSError:
        return


def report(result: dict[str, Any]) -> str:
    """Return the section in Markdown."""
    rows = [
        [
            f"({row['n']}, {row['p']})",
            row["solver"],
            f"{row['tol']:.0e}",
            f"{row['solve']:.2f}",
            f"{row['verify']:.2f}",
            f"≤ {result['target']:g}",
            "yes" if max(row["solve"], row["verify"]) <= result["target"] else "**no**",
        ]
        for row in result["rows"]
    ]
    return f"""## Peak memory

Peak resident memory of the process during `solve` and during `sol.verify(S)`, less what was resident before S was read
(interpreter, libraries, compiled kernels and the BLAS buffers that a small problem has filled), in arrays of p × p
doubles. S itself is included. Each case runs in a process of its own. Resident memory also counts whatever BLAS buffers
grow by, which weighs most where p is small.

{table(["(n, p)", "solver", "tol", "solve", "verify", "target", "holds"], rows)}
"""


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], float(sys.argv[2]), sys.argv[3], float(sys.argv[4]))))
