"""Alarms and the log of the stream command."""

import csv
import json

import numpy as np
import pytest

import fantope
from fantope.cli import main


@pytest.fixture
def source(tmp_path):
    Z = fantope.simulate(700, 60).Z
    Z[450:] = Z[450:, ::-1]
    np.save(tmp_path / "a.npy", Z)
    return str(tmp_path / "a.npy")


def rows(file):
    with open(file, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


WATCHED = ["--alarm", "0.2", "--alarm-window", "100", "--log-every", "150"]


@pytest.mark.slow
def test_an_alarm_is_a_line_a_column_and_an_exit_code(tmp_path, source, capsys):
    log = str(tmp_path / "log.csv")
    assert main(["stream", source, "--json", *WATCHED, "--log", log]) == 3
    found = capsys.readouterr()
    result = json.loads(found.out)
    table = rows(log)
    alarms = [row for row in table if row["alarm"] == "1"]
    assert result["alarms"] == len(alarms) > 0 and result["missed_at_least"] == float(table[-1]["missed_at_least"])
    assert 450 < int(alarms[0]["samples"]) <= 550
    share = 100.0 * float(alarms[0]["missed_at_least"])
    assert f"alarm after {alarms[0]['samples']} samples: at least {share:.1f} % of what can be explained" in found.err
    assert [row["samples"] for row in table] == [str(n) for n in sorted({150, 300, 450, 600, *range(200, 701, 25)})]
    assert table[0]["alarm"] == table[0]["missed_at_least"] == ""


@pytest.mark.slow
def test_without_a_change_there_is_none_and_the_code_is_0(tmp_path, source):
    assert main(["stream", source, "-q", *WATCHED[:4], "--max-samples", "450"]) == 0


@pytest.mark.slow
def test_the_first_alarm_can_end_the_run(tmp_path, source, capsys):
    out = ["-o", str(tmp_path / "out")]
    assert main(["stream", source, "--json", *WATCHED[:4], "--stop-on-alarm", *out]) == 3
    result = json.loads(capsys.readouterr().out)
    assert result["alarms"] == 1 and 450 < result["n_samples"] <= 550
    assert fantope.load(tmp_path / "out" / "state.fantope").checks_[-1].alarm


@pytest.mark.slow
def test_a_run_in_parts_logs_every_row_once(tmp_path, source):
    whole, parts = tmp_path / "whole.csv", tmp_path / "parts.csv"
    assert main(["stream", source, "-q", *WATCHED, "--log", str(whole)]) == 3
    words = ["stream", source, "-q", *WATCHED, "--checkpoint", str(tmp_path / "ck")]
    assert main([*words, "--log", str(parts), "--max-samples", "333"]) == 0
    with parts.open("a", encoding="utf-8") as file:  # what a killed run leaves: rows from after its last checkpoint
        file.write("350,1,0.5,,,,,\n37")
    assert main([*words, "--log", str(parts)]) == 3
    assert parts.read_bytes() == whole.read_bytes()


def test_a_foreign_log_is_refused(tmp_path, source, capsys):
    foreign = tmp_path / "foreign.csv"
    words = ["stream", source, "-q", "--checkpoint", str(tmp_path / "ck"), "--log", str(foreign)]
    foreign.write_text("mine\n")
    assert main(words) == 2
    assert "not a log of fantope stream" in capsys.readouterr().err and foreign.read_text() == "mine\n"


@pytest.mark.parametrize(
    "words", [["--alarm-window", "50"], ["--alarm-every", "5"], ["--stop-on-alarm"], ["--log-every", "5"]]
)
def test_options_without_their_partner(source, capsys, words):
    assert main(["stream", source, *words]) == 2
    assert f"{words[0]} does nothing without --" in " ".join(capsys.readouterr().err.split())
