"""A hostile machine: full disks, little memory, killed processes, two processes in one folder. POSIX only."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import fantope
from checking import checker
from fuzz.problems import Finding

LIMITED = """
import resource, sys
resource.setrlimit(getattr(resource, sys.argv[1]), (int(sys.argv[2]), int(sys.argv[2])))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from fantope.cli import main
sys.exit(main(sys.argv[3:]))
"""
COMMANDS = ("fit", "path", "stream")


def _command(folder: Path, rng: np.random.Generator) -> list[str]:
    command = str(rng.choice(COMMANDS))
    own = {"fit": ["-a", "0.3"], "path": ["--n-alphas", "4"], "stream": ["-a", "0.3", "--algorithm", "online-p"]}
    figures = [] if command == "stream" else ["--no-figures", "--overwrite"]
    return [command, str(folder / "data.npy"), *own[command], "-o", str(folder / "out"), "--quiet", *figures]


def _start(arguments: list[str], limit: tuple[str, int] = ("RLIMIT_CORE", 0)) -> subprocess.Popen[str]:
    program = [sys.executable, "-c", LIMITED, limit[0], str(limit[1]), *arguments]
    return subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _left(folder: Path, what: str) -> bool:
    """Return whether there is a result, which must be whole and hold; nothing else may be left beside it."""
    if (folder / "out").exists() and checker.main([str(folder / "out")]) != 0:
        raise Finding(f"{what}: what was left does not hold")
    return (folder / "out").exists()


def machine(seed: int) -> None:
    """Run a command under a limit, kill it, or run it twice at once."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "data.npy", fantope.simulate(12, 8, sizes=(3, 2), random_state=seed).Z)
        what = str(rng.choice(["disk", "memory", "kill", "two"]))
        arguments = _command(folder, rng)
        if what == "kill":
            process = _start(arguments)
            time.sleep(float(rng.random()) * 4.0)
            process.kill()
            process.communicate()
            _left(folder, f"{arguments[0]} killed")
            return
        limit = {
            "disk": ("RLIMIT_FSIZE", int(2 ** rng.uniform(6, 13))),
            "memory": ("RLIMIT_AS", int(2 ** rng.uniform(29, 33))),
        }
        processes = [_start(arguments, limit.get(what, ("RLIMIT_CORE", 0))) for _ in range(1 + (what == "two"))]
        for process in processes:
            error = process.communicate(timeout=300)[1]
            # Without memory for the libraries themselves, Python cannot even begin; that is none of our words.
            began = "fantope" in error.split("Error")[0] or "Traceback" not in error
            if (what != "memory" and "Traceback" in error) or (what == "memory" and began and "Traceback" in error):
                raise Finding(f"{arguments[0]}, {what} {limit.get(what)}: {error.strip().splitlines()[-1]}")
        held = _left(folder, f"{arguments[0]}, {what}")
        if any(process.returncode == 0 for process in processes) and not held:
            raise Finding(f"{arguments[0]}, {what}: exit code 0, and no result")
