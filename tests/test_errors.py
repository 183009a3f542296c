"""Errors carry their parts, and a front end spells them."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import fantope
from fantope.checkpoint import CheckpointError, read_checkpoint, write_checkpoint
from fantope.cli import main
from fantope.errors import FileError, InputError, Use, renamed
from fantope.events import Event


def in_capitals(use):
    return use.argument.upper() if use.value is None else f"{use.argument.upper()} {use.value}"


def test_parts_become_a_sentence():
    error = InputError(argument="tol", expected="positive", got="-1", remedy=("try ", Use("tol", 0.1), " or less"))
    assert str(error) == "tol must be positive, got -1; try tol=0.1 or less."
    assert error.sentence(in_capitals) == "TOL must be positive, got -1; try TOL 0.1 or less."
    assert (error.argument, error.expected, error.got) == ("tol", "positive", "-1")


def test_a_file_is_named_first():
    error = FileError(Path("a.csv"), "is empty", remedy=("leave out ", Use("layer")))
    assert str(error) == "a.csv: is empty; leave out layer." and error.path == Path("a.csv")
    assert error.sentence(in_capitals) == "a.csv: is empty; leave out LAYER."


@pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_survive_a_process(again):
    for error in (
        InputError(argument="tol", expected="positive", remedy=("try ", Use("tol", 1))),
        FileError(Path("a"), ("needs ", Use("layer"))),
    ):
        found = again(error)
        assert type(found) is type(error) and str(found) == str(error)
        assert found.sentence(in_capitals) == error.sentence(in_capitals)


def test_arguments_have_the_callers_names():
    with pytest.raises(InputError) as raised, renamed(low="min_genes"):
        raise InputError(argument="low", expected="positive", remedy=("raise ", Use("low"), " or ", Use("high")))
    assert str(raised.value) == "min_genes must be positive; raise min_genes or high."
    assert raised.value.argument == "min_genes"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-d", "9"], "fantope: -d must be at least 1 and less than the number of variables, 4, got 9; ask for 3"),
        (["--tol", "-1"], "fantope: --tol must be a finite number above 0, got -1.0."),
        (["--layer", "x"], "data.csv: holds a single matrix; leave out --layer."),
        ([], "say --impute mean to fill in the variable's mean, or --impute drop to leave out such variables."),
        (["--impute", "mean", "--kind", "precomputed"], "--impute is about data"),
    ],
)
def test_the_command_line_speaks_of_its_options(options, words, tmp_path, capsys):
    X = np.random.default_rng(0).standard_normal((10, 4))
    X[3, 2] = np.nan if not options else 0.0
    np.savetxt(tmp_path / "data.csv", X, delimiter=",")
    assert main(["fit", str(tmp_path / "data.csv"), *options, "-a", "0.1", "-o", str(tmp_path / "out"), "-q"]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.slow
def test_values_with_spaces_can_be_pasted_into_a_shell(tmp_path, capsys):
    rows = np.random.default_rng(0).standard_normal((3, 8)).round(3)
    (tmp_path / "e.csv").write_text("g," + ",".join(f"s{k}" for k in range(8)) + "\n" + "".join(
        f"g{k}," + ",".join(map(str, row)) + "\n" for k, row in enumerate(rows)
    ))  # fmt: skip
    (tmp_path / "m.csv").write_text("nr,dx,sample id\n" + "".join(f"{k},x,s{k}\n" for k in range(8)))
    arguments = ["--groups", str(tmp_path / "m.csv"), "--group-column", "dx", "--genes-in", "rows"]
    assert main(["coexpress", str(tmp_path / "e.csv"), *arguments, "-o", str(tmp_path / "out"), "-q"]) == 2
    assert "say --sample-column 'sample id'." in capsys.readouterr().err


def test_python_speaks_of_arguments():
    with pytest.raises(InputError, match="n_components must be at least 1") as raised:
        fantope.solve(np.eye(4), 9, 0.1)
    assert raised.value.argument == "n_components" and raised.value.got == "9"


def test_an_event_is_data_and_reads_as_a_sentence():
    event = Event("path", 3, 12, "cases", "alpha = 0.5, 40 genes")
    assert str(event) == "cases: alpha = 0.5, 40 genes" and event.share == 0.25
    assert str(Event("permutations", 1, 2)) == "1 of 2 permutations" and Event("none", 0, 0).share == 1.0


def test_a_state_whose_parts_are_said_to_lie_before_its_beginning(tmp_path):
    write_checkpoint(tmp_path / "state", ("test", 1), {}, {"x": np.arange(3.0)})
    content = bytearray((tmp_path / "state").read_bytes())
    content[-6:-2] = (int.from_bytes(content[-6:-2], "little") + 5).to_bytes(4, "little")
    (tmp_path / "state").write_bytes(content)
    with pytest.raises(CheckpointError, match="is damaged or not a state"):
        read_checkpoint(tmp_path / "state", ("test", 1))
