"""Options of the stream command: each reaches the estimator, is checked, and is held against the checkpoint's."""

import json

import click
import numpy as np
import pytest

import fantope
from fantope.cli import main
from fantope.cli._stream_options import ALGORITHMS_OF, LEARNING

# Parameter of the estimator, how it is given, its value, and what the algorithm must be for it.
GIVEN = [
    ("n_components", ["-d", "3"], 3, "online-t"),
    ("alpha", ["-a", "0.3"], 0.3, "online-t"),
    ("algorithm", ["--algorithm", "ftl"], "ftl", "ftl"),
    ("center", ["--no-center"], False, "online-t"),
    ("forgetting", ["--forgetting", "0.9"], 0.9, "online-t"),
    ("window", ["--window", "6"], 6, "tracker"),
    ("step_size", ["--step-size", "0.5"], 0.5, "online-t"),
    ("nu", ["--nu", "7"], 7.0, "online-t"),
    ("loosen", ["--loosen", "100"], 100.0, "online-p"),
    ("tol", ["--tol", "0.05"], 0.05, "ftl"),
    ("solve_every", ["--solve-every", "5"], 5, "tracker"),
    ("storage", ["--storage", "sparse"], "sparse", "online-t"),
    ("track", ["--track", "5"], 5, "online-t"),
]


@pytest.fixture
def source(tmp_path):
    np.save(tmp_path / "a.npy", fantope.simulate(30, 36).Z)
    return str(tmp_path / "a.npy")


def test_every_parameter_of_the_estimator_has_an_option():
    parameters = set(fantope.OnlineSparsePCA().get_params())
    assert {name for name, *_ in GIVEN} == parameters

    def values(**values):
        return values

    for option in LEARNING:
        values = option(values)
    assert click.command()(values).main([], standalone_mode=False) == fantope.OnlineSparsePCA().get_params()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "words", "value", "algorithm"), GIVEN, ids=[name for name, *_ in GIVEN])
def test_an_option_reaches_the_estimator_and_a_checkpoint_with_another_is_refused(
    tmp_path, source, capsys, name, words, value, algorithm
):
    checkpoint = str(tmp_path / "ck")
    base = ["stream", source, "--checkpoint", checkpoint, "--json", "--algorithm", algorithm, "--max-samples", "9"]
    assert main([*base, *words]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"][name] == value
    found = fantope.load(checkpoint)
    assert getattr(found, name) == value and found.n_samples_seen_ == 9
    reference = fantope.OnlineSparsePCA(**{"algorithm": algorithm, name: value}).fit(np.load(source)[:9])
    np.testing.assert_array_equal(found.components_, reference.components_)
    if name == "algorithm":
        base[base.index(algorithm)] = "online-t"
    assert main(base) == 2
    default = getattr(fantope.OnlineSparsePCA(), name)
    error = capsys.readouterr().err
    assert f"{name} was {value!r} and is {default!r}" in error and "another --checkpoint" in error
    assert fantope.load(checkpoint).n_samples_seen_ == 9


@pytest.mark.slow
def test_storage_and_tol_change_what_the_learner_does(tmp_path, source):
    for words in (["--storage", "sparse"], ["--storage", "dense"]):
        assert main(["stream", source, "-q", "--checkpoint", str(tmp_path / words[1]), *words]) == 0
        assert fantope.load(tmp_path / words[1])._stream.learner.storage == words[1]
    ftl = ["stream", source, "-q", "--algorithm", "ftl", "--max-samples", "9", "--checkpoint"]
    assert main([*ftl, str(tmp_path / "close"), "--tol", "1e-6"]) == 0
    assert fantope.load(tmp_path / "close").gap_ <= 1e-6


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        (name, other)
        for name, own in ALGORITHMS_OF.items()
        for other in ("online-t", "online-p", "tracker", "ftl")
        if other not in own
    ],
)
def test_an_option_of_another_algorithm_is_one_sentence(source, capsys, name, algorithm):
    words = next(words for given, words, *_ in GIVEN if given == name)
    assert main(["stream", source, "--algorithm", algorithm, *words]) == 2
    own = " or ".join(ALGORITHMS_OF[name])
    expected = f"{words[0]} is for --algorithm {own}, but the algorithm is {algorithm}; leave it out"
    assert expected in " ".join(capsys.readouterr().err.split())


def test_a_window_and_forgetting_exclude_each_other(source, capsys):
    words = ["stream", source, "--algorithm", "ftl", "--window", "9", "--forgetting", "0.9"]
    assert main(words) == 2
    assert "two ways to leave the past behind; pass one" in " ".join(capsys.readouterr().err.split())


def test_nu_without_anything_that_reads_it(source, capsys):
    words = ["stream", source, "-q", "--algorithm", "ftl", "--nu", "3", "--max-samples", "5"]
    assert main(words) == 2
    assert "pass --track" in " ".join(capsys.readouterr().err.split())
    assert main([*words, "--track", "2"]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--idle-timeout", "3"], "without --follow"),
        (["--checkpoint-every", "3"], "without --checkpoint FILE"),
        (["--checkpoint-seconds", "3"], "without --checkpoint FILE"),
        (["--snapshot-every", "3"], "without --snapshots FOLDER"),
        (["--snapshot-seconds", "3"], "without --snapshots FOLDER"),
        (["--snapshots", "folder"], "without --snapshot-every or --snapshot-seconds"),
        (["--bad-rows-log", "file"], "without --bad-rows skip"),
        (["--no-header"], "--no-header is for csv and tsv, but the format is npy"),
        (["--follow"], "--follow needs csv, tsv or ndjson"),
        (["-d", "0"], "0 is not in the range x>=1"),
        (["-d", "36"], "-d must be less than the number of columns, 36, got 36; ask for 35 or fewer"),
        (["-a", "-1"], "-1.0 is not in the range x>=0"),
        (["-a", "nan"], "must be a float in the range [0.0, inf). Got nan"),
        (["--forgetting", "1.5"], "1.5 is not in the range 0<x<=1"),
        (["--checkpoint", "x", "--checkpoint-every", "0"], "0 is not in the range x>=1"),
    ],
    ids=" ".join,
)
def test_options_that_do_nothing_or_are_out_of_range(source, capsys, words, said):
    assert main(["stream", source, *words]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
