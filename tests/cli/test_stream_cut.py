"""Inputs that are cut off and sent again: no sample is lost, none is used in part, and nobody waits for a slow pipe."""

import io
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import fantope
from fantope.cli import main

ROWS = np.random.default_rng(0).standard_normal((40, 6)).round(4)


def npy(rows):
    buffer = io.BytesIO()
    np.save(buffer, rows)
    return buffer.getvalue()


def csv(rows):
    return "".join(",".join(repr(float(v)) for v in row) + "\n" for row in rows).encode()


@pytest.fixture
def send(tmp_path, monkeypatch, capsys):
    """Send bytes through a pipe into the command; return its exit code and what it said."""

    def into(data, *options):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        code = main(["stream", "-", "-a", "0.1", "--checkpoint", str(tmp_path / "ck"), "--quiet", *options])
        return code, capsys.readouterr().err

    into.samples = lambda: fantope.load(tmp_path / "ck").n_samples_seen_
    into.mean = lambda: fantope.load(tmp_path / "ck").mean_
    return into


def test_a_number_cut_short_is_noticed_when_the_input_is_sent_again(send):
    data = csv(ROWS)
    assert send(data[:-3], "--no-header")[0] == 0  # the last number still is one, but another
    code, error = send(data, "--no-header")
    assert code == 2 and "line 40 is not as long as it was when it was used" in error


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_a_last_line_may_get_its_end(send, end):
    data = csv(ROWS).removesuffix(b"\n")
    assert send(data, "--no-header")[0] == 0
    assert send(data + end + (csv(ROWS) if end else b""), "--no-header")[0] == 0
    assert send.samples() == (80 if end else 40)


@pytest.mark.parametrize("rule", ["stop", "skip"])
def test_an_array_cut_off_in_a_row_goes_on_with_that_row(send, tmp_path, rule):
    options = ["--format", "npy", "--bad-rows", rule, "--bad-rows-log", str(tmp_path / "log")][
        : 4 if rule == "stop" else 6
    ]
    code, error = send(npy(ROWS)[:-70], *options)
    assert code == 2 and "ends in the middle of row 39 of 40" in error and send.samples() == 38
    assert send(npy(ROWS), *options)[0] == 0
    assert send.samples() == 40
    np.testing.assert_allclose(send.mean(), ROWS.mean(axis=0), atol=1e-12)


def test_an_array_of_another_width_is_refused_with_both_widths(send):
    assert send(npy(ROWS), "--format", "npy")[0] == 0
    code, error = send(npy(ROWS[:, :5]), "--format", "npy")
    assert code == 2 and "'npy 6 float64' then, 'npy 5 float64' now" in error


@pytest.mark.posix
@pytest.mark.slow
def test_a_slow_array_is_used_as_it_comes_and_heeds_an_interrupt(tmp_path):
    command = [
        sys.executable, "-m", "fantope.cli", "stream", "-", "--format", "npy", "-a", "0.1",
        "--checkpoint", str(tmp_path / "ck"), "--checkpoint-every", "1", "--quiet",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    data = npy(ROWS)
    process.stdin.write(data[: -30 * 48 - 20])  # nine rows and a part of the tenth
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (tmp_path / "ck").exists():
        time.sleep(0.1)
    while time.monotonic() < deadline and fantope.load(tmp_path / "ck").n_samples_seen_ < 9:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(30) == 130
    finally:
        process.kill()
        process.stdin.close()
        process.stderr.close()
    assert fantope.load(tmp_path / "ck").n_samples_seen_ == 9
