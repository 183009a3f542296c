"""Restarts of the stream command that must not take, cut, revive or lose anything; first rows that are no rows."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

import fantope
from fantope.cli import _stream_checkpoint, main
from fantope.cli._row_table import LineParser
from fantope.online import online_p, whole
from fantope.online.persist import previous

ROWS = np.random.default_rng(0).standard_normal((60, 6)).round(4)


def lines(rows=ROWS):
    return [",".join(repr(float(v)) for v in row) for row in rows]


def write(path, *content):
    path.write_text("".join(line + "\n" for line in content))
    return path


@pytest.fixture
def source(tmp_path):
    return write(tmp_path / "a.csv", "a,b,c,d,e,f", *lines())


def run(source, checkpoint, *options):
    return main(["stream", str(source), "--checkpoint", str(checkpoint), "--quiet", *map(str, options)])


def samples(checkpoint):
    return fantope.load(checkpoint).n_samples_seen_


# --- as many samples as asked for -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.csv", "a.npy"])
def test_a_restart_takes_no_sample_beyond_the_last_asked_for(tmp_path, source, name):
    np.save(tmp_path / "a.npy", ROWS)
    for _ in range(3):
        assert run(tmp_path / name, tmp_path / "ck", "--max-samples", 20) == 0
        assert samples(tmp_path / "ck") == 20
    assert run(tmp_path / name, tmp_path / "ck", "--max-samples", 15) == 0
    assert samples(tmp_path / "ck") == 20
    assert run(tmp_path / name, tmp_path / "ck", "--max-samples", 21) == 0
    assert samples(tmp_path / "ck") == 21


def test_a_restart_does_not_wait_for_a_sample_it_would_not_take(tmp_path, source, monkeypatch):
    options = ["--follow", "--max-samples", len(ROWS)]
    assert run(source, tmp_path / "ck", *options) == 0
    monkeypatch.setattr("time.sleep", lambda _: pytest.fail("it waits"))
    assert run(source, tmp_path / "ck", *options) == 0
    assert samples(tmp_path / "ck") == len(ROWS)


# --- the log of bad rows ----------------------------------------------------------------------------------------------


@pytest.fixture
def two_bad(tmp_path):
    """Bad rows in lines 22 and 43."""
    good = lines()
    return write(tmp_path / "a.csv", "a,b,c,d,e,f", *good[:20], "x", *good[20:40], "y", *good[40:])


def logged(log):
    return [line.split("\t")[0] for line in log.read_text().splitlines()]


def test_a_file_that_is_not_the_log_of_the_checkpoint_is_not_cut(tmp_path, two_bad):
    ck, log = tmp_path / "ck", write(tmp_path / "log", "notes", "of mine")
    assert run(two_bad, ck) == 2  # stops at line 22: the checkpoint knows of no log
    assert run(two_bad, ck, "--bad-rows", "skip", "--bad-rows-log", log) == 0
    assert logged(log) == ["notes", "of mine", "22", "43"]
    other = write(tmp_path / "other", "longer than the log of the checkpoint is " * 20)
    assert run(two_bad, ck, "--bad-rows", "skip", "--bad-rows-log", other) == 0
    assert other.read_text() == "longer than the log of the checkpoint is " * 20 + "\n"


def test_what_the_log_held_before_the_first_bad_row_stays(tmp_path, two_bad):
    ck, log = tmp_path / "ck", write(tmp_path / "log", "notes", "of mine")
    skip = ["--bad-rows", "skip", "--bad-rows-log", log]
    assert run(two_bad, ck, *skip, "--max-samples", 10) == 0
    assert run(two_bad, ck, *skip) == 0
    assert logged(log) == ["notes", "of mine", "22", "43"]


class Killed(BaseException):
    """The end of a run at a moment of the test's choice, without any tidying up."""


@pytest.mark.parametrize("stopped_before", [False, True])
def test_a_run_killed_after_a_bad_row_logs_it_once(tmp_path, two_bad, monkeypatch, stopped_before):
    ck, log = tmp_path / "ck", write(tmp_path / "log", "notes")
    skip = ["--bad-rows", "skip", "--bad-rows-log", log]
    if stopped_before:
        assert run(two_bad, ck) == 2
    else:
        assert run(two_bad, ck, *skip, "--max-samples", 10) == 0
    learn = fantope.OnlineSparsePCA.learn

    def killed_at_the_end(self, block):
        if self.n_samples_seen_ + len(block) > 40:
            raise Killed
        learn(self, block)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(fantope.OnlineSparsePCA, "learn", killed_at_the_end)
        run(two_bad, ck, *skip)
    assert logged(log) == ["notes", "22", "43"]
    assert run(two_bad, ck, *skip) == 0
    assert logged(log) == ["notes", "22", "43"]
    assert samples(ck) == len(ROWS)


def test_a_log_that_cannot_be_cut_does_not_end_the_run(tmp_path, two_bad):
    skip = ["--bad-rows", "skip", "--bad-rows-log", os.devnull]
    for _ in range(2):
        assert run(two_bad, tmp_path / "ck", *skip) == 0


# --- checkpoints that were removed, snapshots -------------------------------------------------------------------------


def test_a_removed_checkpoint_means_to_start_afresh(tmp_path, source):
    ck = tmp_path / "ck"
    assert run(source, ck, "--checkpoint-every", 20) == 0
    assert previous(ck).exists()
    ck.unlink()
    write(source, "u,v,w,x,y,z", *lines(ROWS[:30] + 1))
    assert run(source, ck) == 0
    reference = fantope.OnlineSparsePCA().fit(ROWS[:30] + 1)
    np.testing.assert_array_equal(fantope.load(ck).components_, reference.components_)
    assert not previous(ck).exists()  # of the run before: no fallback for this one


def test_a_run_killed_at_its_checkpoint_leaves_no_snapshot_out(tmp_path, source, monkeypatch):
    ck, folder = tmp_path / "ck", tmp_path / "snapshots"
    options = ["--checkpoint-every", 20, "--snapshots", folder, "--snapshot-every", 10]
    save = _stream_checkpoint.save

    def killed_after(path, estimator, progress, keep_previous):
        save(path, estimator, progress, keep_previous)
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr("fantope.cli._stream_run.save", killed_after)
        run(source, ck, *options)
    assert samples(ck) == 20
    assert run(source, ck, *options) == 0
    assert sorted(int(file.stem.split("-")[1]) for file in folder.iterdir()) == [10, 20, 30, 40, 50, 60]


# --- first rows that are no rows --------------------------------------------------------------------------------------

OBJECTS = [json.dumps(dict(zip("abcdef", map(float, row), strict=True))) for row in ROWS]
ARRAYS = [json.dumps(row.tolist()) for row in ROWS]


@pytest.mark.parametrize(
    ("first", "rest", "said"),
    [
        ('{"note":"start"}', OBJECTS, "\"start\" is not a number, in column 'note'"),
        ('{"note":NaN}', OBJECTS, "nan in column 'note' where a finite number was expected"),
        ("{}", OBJECTS, "no values where a row of numbers was expected"),
        ("[]", OBJECTS, "no values where a row of numbers was expected"),
        ("[NaN]", ARRAYS, "nan in column 1 where a finite number was expected"),
        ('{"note":"start"}', ARRAYS, "\"start\" is not a number, in column 'note'"),
        ("nan", lines(), "nan in column 1 where a finite number was expected"),
    ],
)
def test_a_rejected_first_row_does_not_say_what_is_expected(tmp_path, first, rest, said):
    plain = rest[0][0] not in "{["
    source = write(tmp_path / ("a.csv" if plain else "a.ndjson"), first, *rest)
    skip = ["--bad-rows", "skip", *(["--no-header"] if plain else [])]
    assert run(source, tmp_path / "ck", *skip) == 0
    assert Path(f"{source}.bad-rows.txt").read_text() == f"1\t{said}\t{first}\n"
    found = fantope.load(tmp_path / "ck")
    np.testing.assert_array_equal(found.components_, fantope.OnlineSparsePCA().fit(ROWS).components_)
    assert hasattr(found, "feature_names_in_") == (rest is OBJECTS)


def test_an_accepted_row_says_what_is_expected():
    table = LineParser("ndjson")
    assert table.parse(b'{"a":1,"b":2}') == ([1.0, 2.0], "")
    assert table.parse(b"{}") == (None, "feature 'a' is missing")
    assert table.parse(b'{"c":1}') == (None, "feature 'a' is missing")
    assert table.parse(b"[]") == (None, "0 values where 2 were expected")
    assert table.columns == ["a", "b"] and table.width == 2


# --- seconds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "company"),
    [
        ("--idle-timeout", ["--follow", "--max-samples", "5"]),
        ("--checkpoint-seconds", []),
        ("--snapshot-seconds", ["--snapshots", "folder"]),
    ],
)
def test_nan_is_not_a_number_of_seconds(tmp_path, source, capsys, monkeypatch, option, company):
    monkeypatch.chdir(tmp_path)
    assert run(source, tmp_path / "ck", option, "nan", *company) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"{option} must be a number of seconds above 0, got nan" in said
    assert not (tmp_path / "ck").exists()


# --- Ctrl-C in the middle of a sample ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("at", [1, 5])
def test_ctrl_c_does_not_wait_for_a_long_step(tmp_path, source, monkeypatch, at):
    options = ("--algorithm", "online-p", "-a", 0.3, "--max-samples", 8)
    assert run(source, tmp_path / "whole", *options) in (0, 1)
    original, calls = online_p.solve_warm, []

    def signalled(*arguments):
        calls.append(arguments)
        if len(calls) == at:
            signal.raise_signal(signal.SIGINT)
        return original(*arguments)

    monkeypatch.setattr(online_p, "solve_warm", signalled)
    assert run(source, tmp_path / "cut", *options) == 130
    assert len(calls) == at and samples(tmp_path / "cut") == at  # the first is its own mean: no solve
    assert run(source, tmp_path / "cut", *options) in (0, 1)
    one, cut = (fantope.load(tmp_path / name) for name in ("whole", "cut"))
    assert cut.n_samples_seen_ == 8
    np.testing.assert_array_equal(cut.components_, one.components_)
    np.testing.assert_array_equal(cut.mean_, one.mean_)


def test_wide_rows_are_learnt_a_few_at_a_time(tmp_path, monkeypatch):
    np.save(tmp_path / "wide.npy", np.random.default_rng(0).standard_normal((12, 40)))
    monkeypatch.setattr(whole, "ENTRIES", 5 * 40**2)
    learnt, original = [], fantope.OnlineSparsePCA.learn
    monkeypatch.setattr(
        fantope.OnlineSparsePCA, "learn", lambda self, rows: (learnt.append(len(rows)), original(self, rows))[1]
    )
    assert run(tmp_path / "wide.npy", tmp_path / "ck") == 0
    assert learnt == [5, 5, 2]
