import json
import signal
import subprocess
import sys
import time

import pytest

from fantope.paper.base import Skipped
from fantope.paper.experiments import setting
from fantope.paper.experiments.setting import Setting
from fantope.paper.runner import collect, run_all

CONFIGS = tuple(Setting(p=40 + k) for k in range(3))


def silent(fraction, text):
    pass


@pytest.mark.slow
def test_runs_are_done_once(tmp_path, monkeypatch):
    first = run_all("setting", CONFIGS[:2], tmp_path, silent)
    assert (first.computed, len(first.runs)) == (2, 2)
    done = []
    monkeypatch.setattr(setting, "run", lambda config, report: done.append(config.label) or {})
    second = run_all("setting", CONFIGS, tmp_path, silent)
    assert (second.computed, len(second.runs), done) == (1, 3, ["p42"])
    assert [run.label for run in collect("setting", CONFIGS, tmp_path).runs] == ["p40", "p41", "p42"]


def test_one_failure_does_not_stop_the_others(tmp_path, monkeypatch):
    def run(config, report):
        if config.p == 40:
            raise ValueError("two\nlines")
        if config.p == 41:
            raise Skipped("no data")
        return {"ok": True}

    monkeypatch.setattr(setting, "run", run)
    outcome = run_all("setting", CONFIGS, tmp_path, silent)
    assert outcome.failed == {"p40": "ValueError: two lines"} and outcome.skipped == {"p41": "no data"}
    assert [run.label for run in outcome.runs] == ["p42"]


def test_an_interrupt_keeps_what_is_finished(tmp_path, monkeypatch):
    def run(config, report):
        if config.p == 41:
            raise KeyboardInterrupt
        return {}

    monkeypatch.setattr(setting, "run", run)
    with pytest.raises(KeyboardInterrupt):
        run_all("setting", CONFIGS, tmp_path, silent)
    assert [run.label for run in collect("setting", CONFIGS, tmp_path).runs] == ["p40"]


def test_progress_moves_forward(tmp_path, monkeypatch):
    def run(config, report):
        report(0.5, "half")
        return {}

    monkeypatch.setattr(setting, "run", run)
    seen = []
    run_all("setting", CONFIGS, tmp_path, lambda fraction, text: seen.append((fraction, text)))
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert "p40, half" in [text for _, text in seen]


CHILD = """
import sys, time
from pathlib import Path
from fantope.paper.experiments import setting
from fantope.paper.experiments.setting import Setting
from fantope.paper.runner import run_all
real = setting.run
def slow(config, report):
    if config.p >= 42:
        time.sleep(60)
    return real(config, report)
setting.run = slow
run_all("setting", [Setting(p=40 + k) for k in range(4)], Path(sys.argv[1]), lambda *_: None)
"""


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)])
    try:
        second = tmp_path / "setting" / "p41.json"
        deadline = time.monotonic() + 60
        while not second.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert second.exists() and child.poll() is None
    finally:
        child.kill()
        child.wait()
    before = {file: (file.stat().st_mtime_ns, json.loads(file.read_text())["key"]) for file in second.parent.iterdir()}
    assert {file.name for file in before} == {"p40.json", "p41.json"}
    outcome = run_all("setting", [Setting(p=40 + k) for k in range(4)], tmp_path, silent)
    assert (outcome.computed, len(outcome.runs)) == (2, 4)
    for file, (stamp, key) in before.items():
        assert file.stat().st_mtime_ns == stamp and json.loads(file.read_text())["key"] == key


def test_ctrl_c_that_a_loader_turns_into_another_error_is_ctrl_c(tmp_path, monkeypatch):
    def run(config, report):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("failed to import") from None

    monkeypatch.setattr(setting, "run", run)
    with pytest.raises(KeyboardInterrupt):
        run_all("setting", CONFIGS, tmp_path, silent)
