"""Ctrl-C at random times of a command: the best certified answer, or nothing and one sentence; never a half."""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import fantope
from fantope.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.posix]

# A process in the background of a shell ignores Ctrl-C.
START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from fantope.cli import main; sys.exit(main(sys.argv[1:]))"
)
SLOW = ["--tol", "1e-9", "--solver", "subgradient", "--max-iter", "100000000"]
COMMANDS = {
    "fit": ["fit", "data.csv", "-a", "0.2", *SLOW, "--no-figures"],
    "norm": ["fit", "data.csv", "--norm", "9", "--tol", "1e-8", "--no-figures"],
    "path": ["path", "data.csv", "--alphas", "9,0.4,0.3,0.2", *SLOW, "--no-figures"],
    "demo": ["demo"],
    "coexpress": ["coexpress", "data.csv", "--groups", "groups.csv", "-d", "2", "--alphas", "0.5:0.9:0.02",
                  "--min-genes", "5", "--max-genes", "150", "--permutations", "200000"],
}  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("interrupts")
    sim = fantope.simulate(60, 150)
    index = [f"s{i}" for i in range(60)]
    pd.DataFrame(sim.Z, index=index, columns=[f"v{j}" for j in range(150)]).to_csv(folder / "data.csv")
    pd.Series(np.repeat(["a", "b"], 30), index=index, name="group").rename_axis("sample").to_csv(folder / "groups.csv")
    return folder


def ctrl_c(arguments, folder, seconds):
    """Run the command, interrupt it some time after its first words, and return its exit code and what it said."""
    process = subprocess.Popen(
        [sys.executable, "-c", START, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        said = process.stderr.readline()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:  # numba loses one that comes while it loads a kernel: press it again
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    return process.returncode, out, said + err


@pytest.mark.parametrize("name", COMMANDS)
def test_at_random_times(name, data, tmp_path):
    before = set(os.listdir(data))
    for number, seconds in enumerate(np.random.default_rng(len(name)).uniform(0.0, 5.0, size=2)):
        out = tmp_path / str(number)
        code, _, err = ctrl_c([*COMMANDS[name], "-o", str(out)], data, seconds)
        assert "Traceback" not in err.partition("Exception ignored")[0]  # which is how Python reports a lost one
        if code in (0, -signal.SIGINT):  # the latter from the interpreter's own end, after the command's
            assert name in ("demo", "norm")  # which can be done before
        elif out.exists():
            assert code == 1
            assert main(["verify", str(out), "--quiet"]) == 0
        else:
            assert code == 130
            assert re.search(r"interrupted; nothing was written\.", " ".join(err.split()))
        assert set(os.listdir(data)) == before
        left = {entry for entry in os.listdir(tmp_path) if not entry.isdigit()}
        assert left <= {f"{k}.cache" for k in range(4)}
