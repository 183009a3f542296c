"""What a new user may send to the stream command: one sentence each, no traceback, and the state is kept."""

import errno
import gzip
import io
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import fantope
from fantope.cli import main

ROWS = np.random.default_rng(0).standard_normal((1500, 6)).round(4)
HEADER = "v0,v1,v2,v3,v4,v5"


def text(rows=ROWS, header=HEADER):
    lines = ([header] if header else []) + [",".join(repr(float(v)) for v in row) for row in rows]
    return "\n".join(lines) + "\n"


def refused(capsys, *words):
    """Run the command, which must fail with one line on standard error; return that line."""
    assert main(["stream", *map(str, words), "--quiet"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("fantope: ") and said.err.count("\n") == 1, said.err
    return said.err


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"", "the input is empty; a header line and rows of numbers were expected"),
        ("a.ndjson", b"", "no rows of numbers; at least one was expected"),
        ("a.npy", b"", "this is not a .npy file"),
        ("a.csv", HEADER.encode(), "no rows of numbers; at least one was expected"),
        ("a.csv", b"\xff\xfe\x00garbage\n", "line 1: expected column names in UTF-8 separated by commas"),
        ("a.csv", b"\x00\x01\x02,\x03\n1,2\n", "line 1: expected column names separated by commas, got bytes that"),
        ("a.csv", b"a;b;c\n1;2;3\n", "got 'a;b;c' as the only one; change the separator, or pass --format"),
        (
            "a.csv",
            text(header="").encode(),
            "expected column names, got numbers (0.1257, -0.1321, …); pass --no-header",
        ),
        ("a.csv", b"a,b,a\n1,2,3\n", "'a' comes twice; rename one, or pass --no-header"),
        ("a.npy", b"garbage and more", "write one with numpy.save"),
        ("a.ndjson", b"garbage\n", "line 1: the line is not JSON; an object or an array of numbers was expected"),
        ("a.ndjson", b"[1,2]\n" + b"[" * 100_000 + b"\n", "line 2: the line is not JSON"),
        ("a.ndjson", b"[1,2]\n[1,1" + b"0" * 400 + b"]\n", "line 2: an integer that is too large for a float"),
        ("a.ndjson", b'{"a":1,"b":2}\n{"a":1,"b":null}\n', "line 2: null is not a number, in column 'b'"),
        ("a.ndjson", b'{"a":1,"b":2}\n[1,2,null]\n', "line 2: null is not a number, in column 3"),
        ("a.ndjson", b"[1,2]\n5\n", "line 2: '5' where an object or an array of numbers was expected"),
        ("a.ndjson", b"[1]\n[2]\n", "expected rows of 2 columns or more, got 1 as ndjson"),
        ("a.csv", b'a,b\n"' + b"1" * 200_000 + b'",2\n', "line 2: the line is not csv (field larger"),
        ("a.csv.gz", text().encode(), "the .gz file is cut off or damaged after line 0 (Not a gzipped file"),
        ("a", b"1", "pass --format csv, tsv, ndjson or npy"),
    ],
)
def test_files_that_are_something_else(tmp_path, capsys, name, content, said):
    (tmp_path / name).write_bytes(content)
    error = refused(capsys, tmp_path / name)
    assert said in error and str(tmp_path / name) in error


def test_a_missing_file_a_folder_and_no_input(tmp_path, capsys, monkeypatch):
    assert "there is no such file; pass a .csv" in refused(capsys, tmp_path / "missing.csv")
    assert "there is no such file; pass a .csv" in refused(capsys, tmp_path / "missing")
    assert "is a folder; pass one .csv" in refused(capsys, tmp_path)
    assert "--follow needs a plain file" in refused(capsys, "-", "--follow")
    monkeypatch.setattr(sys, "stdin", None)  # what Python makes of `<&-`
    assert "standard input is closed" in refused(capsys, "-")


def test_a_file_without_line_breaks_does_not_fill_the_memory(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("fantope.cli._rows.LONGEST", 1 << 20)
    (tmp_path / "a.csv").write_bytes(b"1" * (3 << 20))
    assert "line 1 has more than" in refused(capsys, tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("array", "got"),
    [
        (ROWS[:, 0], "got shape (1500,), float64"),
        (ROWS.reshape(15, 100, 6), "got shape (15, 100, 6), float64"),
        (np.asfortranarray(ROWS), "got shape (1500, 6), float64, Fortran order"),
        (ROWS + 1j, "got shape (1500, 6), complex128"),
    ],
)
def test_arrays_of_another_shape_or_kind(tmp_path, capsys, array, got):
    np.save(tmp_path / "a.npy", array)
    error = refused(capsys, tmp_path / "a.npy")
    assert "expected a two-dimensional numeric array in C order" in error and got in error
    assert "of shape (samples, variables)" in error


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1,2,3,4,5,6,7", "7 values where 6 were expected"),
        ("1,2,text,4,5,6", "'text' is not a number, in column 'v2'"),
        ("1,2,,4,5,6", "'' is not a number, in column 'v2'"),
        ("1,2,nan,4,5,6", "nan in column 'v2' where a finite number was expected"),
        ("1,2,1e200,4,5,6", "1e+200 in column 'v2' where at most 1e+60 in size was expected"),
    ],
)
def test_a_bad_row_stops_the_run(tmp_path, capsys, line, said):
    (tmp_path / "a.csv").write_text(text(ROWS[:3]) + line + "\n" + text(ROWS[3:5], header=""))
    error = refused(capsys, tmp_path / "a.csv")
    assert f"line 5: {said}; nothing is kept without --checkpoint. Mend the row, or use --bad-rows skip" in error


@pytest.mark.slow
def test_a_bad_row_far_down_keeps_the_state_before_it(tmp_path, capsys):
    source, checkpoint = tmp_path / "a.csv", tmp_path / "ck"
    lines = text().splitlines()
    lines[999] = "1,2"
    source.write_text("\n".join(lines) + "\n")
    error = refused(capsys, source, "--checkpoint", checkpoint)
    assert f"line 1000: 2 values where 6 were expected; the state after 998 samples is kept in {checkpoint}" in error
    assert fantope.load(checkpoint).n_samples_seen_ == 998
    nowhere = source / "log"  # no file can be below a file
    error = refused(capsys, source, "--checkpoint", checkpoint, "--bad-rows", "skip", "--bad-rows-log", nowhere)
    assert "line 1000 cannot be logged" in error and "choose another file with --bad-rows-log" in error
    assert main(["stream", str(source), "--checkpoint", str(checkpoint), "--bad-rows", "skip"]) == 0
    assert "1499 samples, 1 bad rows" in capsys.readouterr().out
    reference = fantope.OnlineSparsePCA().fit(np.delete(ROWS, 998, axis=0))
    np.testing.assert_array_equal(fantope.load(checkpoint).components_, reference.components_)


def test_nothing_but_bad_rows(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("a,b\nx,y\n1\n")
    error = refused(capsys, tmp_path / "a.csv", "--bad-rows", "skip", "-o", tmp_path / "out")
    assert f"no rows of numbers (2 bad rows, see {tmp_path / 'a.csv.bad-rows.txt'})" in error
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_packed_file_that_is_cut_off(tmp_path, capsys):
    source, checkpoint = tmp_path / "a.csv.gz", tmp_path / "ck"
    whole = gzip.compress(text().encode())
    source.write_bytes(whole[:-2000])
    error = refused(capsys, source, "--checkpoint", checkpoint)
    assert "the .gz file is cut off or damaged after line" in error and "samples is kept in" in error
    assert 0 < fantope.load(checkpoint).n_samples_seen_ < 1500
    source.write_bytes(whole)
    assert main(["stream", str(source), "--checkpoint", str(checkpoint), "-q"]) == 0
    reference = fantope.OnlineSparsePCA().fit(ROWS)
    np.testing.assert_array_equal(fantope.load(checkpoint).components_, reference.components_)


@pytest.mark.parametrize("option", ["--checkpoint", "--snapshots", "-o"])
def test_a_place_that_cannot_be_written_to_is_known_before_the_first_row(tmp_path, capsys, monkeypatch, option):
    source = tmp_path / "a.csv"
    source.write_text(text(ROWS[:20]))
    monkeypatch.setattr(fantope.OnlineSparsePCA, "learn", lambda *_: pytest.fail("a row was used"))
    more = ["--snapshot-every", "5"] if option == "--snapshots" else []
    error = refused(capsys, source, option, source / "below" / "it", *more)
    assert "cannot be written to" in error and error.rstrip().endswith(f"with {option}.")


def test_a_result_folder_of_someone_else_is_known_before_the_first_row(tmp_path, capsys, monkeypatch):
    source, out = tmp_path / "a.csv", tmp_path / "out"
    source.write_text(text(ROWS[:20]))
    out.mkdir()
    (out / "mine").write_text("x")
    monkeypatch.setattr(fantope.OnlineSparsePCA, "learn", lambda *_: pytest.fail("a row was used"))
    assert "not written by `fantope stream`; choose another folder with -o" in refused(capsys, source, "-o", out)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.csv", "out"]


@pytest.mark.slow
def test_a_disk_that_fills_up_leaves_the_checkpoint_before(tmp_path, capsys, monkeypatch):
    source, checkpoint = tmp_path / "a.csv", tmp_path / "ck"
    source.write_text(text())
    base = [source, "--checkpoint", checkpoint]
    assert main(["stream", *map(str, base), "-q", "--max-samples", "700"]) == 0

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        error = refused(capsys, *base)
    assert f"{checkpoint}: the checkpoint after 1500 samples cannot be written (No space left on device)" in error
    assert fantope.load(checkpoint).n_samples_seen_ == 700
    assert main(["stream", *map(str, base), "-q"]) == 0
    assert fantope.load(checkpoint).n_samples_seen_ == 1500


def test_a_checkpoint_that_is_something_else(tmp_path, capsys):
    source, checkpoint = tmp_path / "a.csv", tmp_path / "ck"
    source.write_text(text(ROWS[:50]))
    error = refused(capsys, source, "--checkpoint", source)
    assert "not a state saved by fantope" in error and "choose another --checkpoint" in error
    assert source.read_text() == text(ROWS[:50])
    fantope.OnlineSparsePCA().fit(ROWS[:50]).save(checkpoint)
    assert "without a position in an input, not a checkpoint" in refused(capsys, source, "--checkpoint", checkpoint)


@pytest.mark.parametrize("offset", [8, 10], ids=["encryption", "compression"])
def test_a_damaged_byte_that_asks_for_another_way_of_reading(tmp_path, capsys, offset):
    """Zip's own fields for compression and encryption: Python answers a wrong one with an error of another kind."""
    source, checkpoint = tmp_path / "a.csv", tmp_path / "ck"
    source.write_text(text(ROWS[:50]))
    assert main(["stream", str(source), "--checkpoint", str(checkpoint), "-q"]) == 0
    data = bytearray(checkpoint.read_bytes())
    data[data.index(b"PK\x01\x02") + offset] ^= 1
    checkpoint.write_bytes(bytes(data))
    assert "is damaged" in refused(capsys, source, "--checkpoint", checkpoint)


class Interrupting:
    """A pipe in which Ctrl-C comes, and ends the other side as well, after what it held."""

    def __init__(self, *parts):
        self.parts = [*parts]

    def fileno(self):
        raise io.UnsupportedOperation

    def read1(self, size):
        if self.parts:
            return self.parts.pop(0)
        signal.raise_signal(signal.SIGINT)
        return b""


@pytest.mark.parametrize(
    "sent", [b"", b"v0,v1", text(ROWS[:40]).encode()[:-9]], ids=["nothing", "half a header", "rows"]
)
def test_interrupted_with_the_other_side_of_the_pipe(tmp_path, capsys, monkeypatch, sent):
    checkpoint = tmp_path / "ck"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Interrupting(*([sent] if sent else []))))
    assert main(["stream", "-", "--checkpoint", str(checkpoint), "-q"]) == 130
    error = capsys.readouterr().err
    used = 39 if len(sent) > 10 else 0
    assert f"interrupted after {used} samples" in error and error.count("\n") == 1
    assert checkpoint.exists() == (used > 0)
    if not used:
        return
    # Again, and again before the lines used already have been passed over.
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Interrupting(text(ROWS[:10]).encode())))
    assert main(["stream", "-", "--checkpoint", str(checkpoint), "-q"]) == 130
    assert fantope.load(checkpoint).n_samples_seen_ == 39
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Interrupting(text(ROWS[:60]).encode())))
    assert main(["stream", "-", "--checkpoint", str(checkpoint), "-q"]) == 130
    reference = fantope.OnlineSparsePCA().fit(ROWS[:60])
    np.testing.assert_array_equal(fantope.load(checkpoint).components_, reference.components_)


def test_interrupted_without_a_checkpoint_it_promises_nothing(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Interrupting(text(ROWS[:40]).encode())))
    assert main(["stream", "-", "-q"]) == 130
    assert capsys.readouterr().err == "fantope: interrupted after 40 samples; nothing is kept without --checkpoint.\n"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_read_like_standard_input_and_heeds_ctrl_c(tmp_path):
    pipe, checkpoint = tmp_path / "pipe", tmp_path / "ck"
    os.mkfifo(pipe)
    words = [sys.executable, "-m", "fantope.cli", "stream", str(pipe), "--format", "csv", "-q"]
    more = ["--checkpoint", str(checkpoint), "--checkpoint-seconds", "0.1"]
    process = subprocess.Popen([*words, *more], stderr=subprocess.PIPE, text=True)
    with pipe.open("w") as file:
        file.write(text(ROWS[:100]))
        file.flush()
        for _ in range(600):
            if checkpoint.exists():
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)  # while it waits for a line that does not come
        error = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert f"the state after 100 samples is kept in {checkpoint}; start the same command to go on" in error
    assert fantope.load(checkpoint).n_samples_seen_ == 100
