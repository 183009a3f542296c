import json
from dataclasses import replace

import pytest

import fantope
from fantope import atomic
from fantope.atomic import write_whole
from fantope.io.fingerprint import code_fingerprint, sources
from fantope.paper import store as module
from fantope.paper.experiments.setting import Setting
from fantope.paper.store import RunStore


def test_a_run_comes_back_as_it_was(tmp_path):
    config, store = Setting(p=40, seed=3), RunStore(tmp_path, "setting")
    assert store.read(config) is None
    store.write(config, {"x": [1.5, None]}, 2.0, 0.25)
    found = store.read(config)
    assert found.result == {"x": [1.5, None]} and found.config == {"p": 40, "seed": 3}
    assert (found.seconds, found.background) == (2.0, 0.25)
    assert found.machine["versions"]["fantope"] == fantope.__version__


@pytest.mark.slow
def test_stale_and_damaged_runs_are_not_reused(tmp_path, monkeypatch):
    config, store = Setting(p=40), RunStore(tmp_path, "setting")
    store.write(config, {}, 1.0, None)
    assert store.read(config) is not None and RunStore(tmp_path, "batch").key(config) != store.key(config)
    assert store.read(replace(config, seed=1)) is None  # under the same label
    monkeypatch.setattr(module, "code_fingerprint", lambda name: "other code")
    assert store.read(config) is None
    monkeypatch.undo()
    file = tmp_path / "setting" / f"{config.label}.json"
    file.write_text(file.read_text()[:40])
    assert store.read(config) is None


def test_numbers_that_json_cannot_hold_are_refused(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        RunStore(tmp_path, "setting").write(Setting(), {"bad": float("nan")}, 1.0, None)
    assert not list(tmp_path.rglob("*.json"))


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "a.json"
    write_whole(target, "old")
    monkeypatch.setattr(atomic.os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk")))
    with pytest.raises(OSError, match="disk"):
        write_whole(target, "new")
    assert target.read_text() == "old" and [file.name for file in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.slow
def test_the_fingerprint_follows_imports():
    regret, online = (sources(f"fantope.paper.experiments.{name}") for name in ("regret", "batch"))
    assert "fantope.online.online_p" in regret and "fantope.kernels.squared_lr" in regret
    assert "fantope.online.online_p" not in online and "fantope.solvers.gradfps" in online
    # A package that loads its names on first use lists them in its stub.
    assert "fantope.coexpression.analysis.permutation" in sources("fantope.paper.experiments.application")
    # What draws, judges or prints may change without making results stale.
    for found in (regret, online):
        assert not [
            name for name in found if name.startswith(("fantope.cli", "fantope.plotting", "fantope.paper.chapters"))
        ]
    assert code_fingerprint("fantope.theory") != code_fingerprint("fantope.simulation")
    with pytest.raises(ModuleNotFoundError, match="source file"):
        sources("fantope.nowhere")


def test_records_are_plain_json(tmp_path):
    RunStore(tmp_path, "setting").write(Setting(), {"a": 1}, 1.0, None)
    content = json.loads((tmp_path / "setting" / "p100.json").read_text())
    assert content["config"] == {"p": 100, "seed": 0} and content["created"].endswith("+00:00")
