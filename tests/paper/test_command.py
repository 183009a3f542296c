import json

import pytest

from fantope.cli import main
from fantope.paper.command import NAMES
from fantope.paper.plan import EXPERIMENTS, FULL, PAPER, QUICK
from fantope.paper.reproduction import expected_minutes


def test_every_experiment_has_a_name_and_a_plan():
    assert tuple(EXPERIMENTS) == NAMES
    for plan in (QUICK, PAPER, FULL):
        assert tuple(plan) == NAMES
        for configs in plan.values():
            labels = [config.label for config in configs]
            assert labels and len(set(labels)) == len(labels)
    assert [(c.n, c.p) for c in PAPER["batch"]] == [(50, 200), (100, 400), (200, 800), (400, 1600)]
    assert [(c.n, c.p) for c in FULL["batch"]][4:] == [(800, 3200), (1600, 6400)]
    assert [(c.p, c.T) for c in PAPER["regret"]] == [(400, 100)] * 10
    assert [(c.p, c.T1, c.T2) for c in PAPER["online"]] == [(200, 1000, 200)] * 10


@pytest.mark.slow
def test_everything_is_expected_to_take_less_than_four_hours(tmp_path, capsys):
    runs, minutes = expected_minutes(NAMES, tmp_path, "full")
    assert runs == sum(map(len, FULL.values())) and 60 < minutes < 240
    for left in (1, 0):
        assert main(["reproduce", "setting", "-o", str(tmp_path / "out")]) == 0
        assert f"{left} runs to do, about {left} minutes" in capsys.readouterr().out


@pytest.mark.slow
def test_a_quick_run_writes_a_page_and_is_reused(tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["reproduce", "setting", "--quick", "-o", str(out), "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert (first["computed"], first["reused"], first["scale"]) == (1, 0, "quick")
    assert [claim["verdict"] for claim in first["claims"]] == ["holds", "holds"]
    page = (out / "reproduce.md").read_text(encoding="utf-8")
    assert "**holds**" in page and "1 of 2 runs" not in page and "quick run" in page
    assert "batch" in page.partition("## Not here")[2]
    assert (out / "images" / "reproduce" / "setting.png").stat().st_size > 10_000
    assert "<table" in (out / "reproduce.html").read_text(encoding="utf-8")
    assert main(["reproduce", "setting", "--quick", "-o", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reused"] == 1


@pytest.mark.slow
def test_the_quick_plan_does_everything(tmp_path, capsys):
    """The whole command at its quick sizes, a minute or more: nothing fails, nothing but missing data is left out."""
    assert main(["reproduce", "all", "--quick", "-o", str(tmp_path / "out"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    page = (tmp_path / "out" / "reproduce.md").read_text(encoding="utf-8")
    assert len(found["claims"]) > 20 and "failed: " not in page
    left_out = [line for line in page.partition("## Not here")[2].splitlines() if line.startswith("- ")]
    assert all("skipped: " in line and "application" in line for line in left_out), left_out


@pytest.mark.slow
def test_text_for_people(tmp_path, capsys):
    assert main(["reproduce", "setting", "--quick", "-o", str(tmp_path / "out")]) == 0
    captured = capsys.readouterr()
    assert "Claims of the paper" in captured.out and "1 runs done" in captured.out
    assert "setting: " in captured.err
    assert main(["reproduce", "setting", "--quick", "-o", str(tmp_path / "out"), "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_missing_data_are_a_reason_not_a_failure(tmp_path, capsys, monkeypatch):
    from fantope.paper.experiments import application

    monkeypatch.setattr(application, "FILE", "nowhere.npz")
    assert main(["reproduce", "application", "--quick", "-o", str(tmp_path / "out")]) == 0
    assert "FANTOPE_DATA" in capsys.readouterr().err
    assert "skipped: nowhere.npz is not there" in (tmp_path / "out" / "reproduce.md").read_text(encoding="utf-8")


def test_data_are_looked_for_where_the_option_says(tmp_path, capsys, monkeypatch):
    from fantope.paper.experiments import application

    monkeypatch.setenv("FANTOPE_DATA", "elsewhere")
    (tmp_path / application.FILE).touch()
    seen = []
    monkeypatch.setattr(application, "_kidney", lambda folder, *rest: seen.append(folder) or 1 / 0)
    assert main(["reproduce", "application", "--quick", "-o", str(tmp_path / "out"), "--data", str(tmp_path)]) == 1
    assert seen == [tmp_path] and "ZeroDivisionError" in capsys.readouterr().err


def test_a_failed_run_is_exit_code_1(tmp_path, capsys, monkeypatch):
    from fantope.paper.experiments import setting

    def run(config, report):
        raise ArithmeticError("gone")

    monkeypatch.setattr(setting, "run", run)
    assert main(["reproduce", "setting", "--quick", "-o", str(tmp_path / "out"), "--quiet"]) == 1
    assert "setting, p100 failed: ArithmeticError: gone" in capsys.readouterr().err


def test_an_interrupt_says_what_is_kept(tmp_path, capsys, monkeypatch):
    from fantope.paper.experiments import setting

    def run(config, report):
        raise KeyboardInterrupt

    monkeypatch.setattr(setting, "run", run)
    assert main(["reproduce", "setting", "--quick", "-o", str(tmp_path / "out")]) == 130
    assert "the same command goes on" in capsys.readouterr().err
    assert not (tmp_path / "out" / "reproduce.md").exists()  # figures would take seconds, and somebody waits


def test_bad_input_is_exit_code_2(tmp_path, capsys):
    assert main(["reproduce", "setting", "--quick", "--full", "-o", str(tmp_path / "out")]) == 2
    assert "exclude each other" in capsys.readouterr().err
    (tmp_path / "mine").touch()
    assert main(["reproduce", "setting", "-o", str(tmp_path)]) == 2
    assert "was not written by" in capsys.readouterr().err
    assert main(["reproduce", "setting", "-o", str(tmp_path / "mine")]) == 2
    assert "is a file" in capsys.readouterr().err
    assert (tmp_path / "mine").stat().st_size == 0
