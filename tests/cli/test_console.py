import io
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from rich.table import Table

from fantope.cli import main
from fantope.cli.console import Talk, sentence
from fantope.io.tables import original_name


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("fantope, version 0.")


def test_help_lists_the_commands(capsys):
    assert main(["--help"]) == 0
    assert "demo" in capsys.readouterr().out


def test_unknown_command_is_bad_input(capsys):
    assert main(["nonsense"]) == 2
    assert "nonsense" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_missing_extra_is_one_sentence(missing, monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("fantope.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith(f"{missing}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["--help"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (ValueError("alpha must be\npositive."), 2, "fantope: alpha must be positive.\n"),
        (
            FileNotFoundError(2, "No such file or directory", "x.csv"),
            2,
            "fantope: x.csv: No such file or directory.\n",
        ),
        (KeyboardInterrupt(), 130, "fantope: interrupted; nothing was written.\n"),
    ],
)
def test_errors_become_a_sentence_and_a_code(error, code, text, monkeypatch, capsys):
    from fantope.cli import demo

    def fail(**options):
        raise error

    monkeypatch.setattr(demo.demo, "callback", fail)
    assert main(["demo"]) == code
    assert capsys.readouterr().err.lstrip("\n") == text


def test_missing_extra_of_a_command_is_bad_input(monkeypatch, capsys):
    from fantope.cli import demo

    def fail(**options):
        raise ImportError("needs fantope[plot].") from ModuleNotFoundError("matplotlib")

    monkeypatch.setattr(demo.demo, "callback", fail)
    assert main(["demo"]) == 2
    assert capsys.readouterr().err == "fantope: needs fantope[plot].\n"


@pytest.mark.parametrize("bug", [ZeroDivisionError, ImportError])
def test_a_bug_keeps_its_traceback(bug, monkeypatch):
    from fantope.cli import demo

    def fail(**options):
        raise bug

    monkeypatch.setattr(demo.demo, "callback", fail)
    with pytest.raises(bug):
        main(["demo"])


def test_sentence_of_an_error_without_text():
    assert sentence(ValueError()) == "ValueError"


def test_plain_progress_says_each_tenth_once(capsys):
    with Talk().progress("work") as report:
        for step in range(101):
            report(step / 100, f"{step}%")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"work: {10 * k}%" for k in range(11)]


def test_bar_on_a_terminal():
    stream = io.StringIO()
    with Talk(err=Console(file=stream, force_terminal=True)).progress("work") as report:
        report(1.0, "done")
    assert "\x1b[" in stream.getvalue() and "done" in stream.getvalue()


@pytest.mark.parametrize("how", [{"quiet": True}, {"json": True}])
def test_quiet_and_json_silence_progress(how, capsys):
    talk = Talk(**how)
    with talk.progress("work") as report:
        report(1.0, "done")
    talk.say("text")
    talk.result({"a": 1})
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out == ('{"a": 1}\n' if talk.json else "")


def test_nothing_is_markup(capsys):
    """``[/x]`` in a name was an error after the results had been written, ``[red]`` vanished, ``:dog:`` was a dog."""
    name, table = "[/x] [red] :dog:", Table(title="[/t] [bold]")
    table.add_column("[/c] [red]")
    table.add_row(name)
    Talk().say(name)
    Talk().say(table)
    said = capsys.readouterr().out
    assert said.count(name) == 2 and "[/t] [bold]" in said and "[/c] [red]" in said


def test_progress_on_a_terminal_is_no_markup():
    err = Console(file=io.StringIO(), force_terminal=True, width=100, markup=False, emoji=False)
    with Talk(err=err).progress("[/t]") as report:
        report(0.5, "[/x] [red]")
    assert "[/t]" in err.file.getvalue() and "[/x] [red]" in err.file.getvalue()


@pytest.mark.slow
def test_names_with_brackets_through_a_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "[red] [out]"
    folder.mkdir()
    names = ["[/x]", "[red]", "[bold]b", "c[/]", ":dog:", "e"]
    Z = np.random.default_rng(0).standard_normal((30, 6))
    pd.DataFrame(Z, columns=names).to_csv(folder / "data.csv", index=False)
    assert main(["fit", str(folder / "data.csv"), "-d", "1", "-a", "0.1", "-o", str(folder / "result")]) == 0
    assert "[red] [out]" in capsys.readouterr().out
    assert main(["verify", str(folder / "result")]) == 0


@pytest.mark.slow
def test_formulas_in_names_are_text_in_tables(tmp_path):
    """A spreadsheet runs ``=…`` when it opens a table; one apostrophe less is the name again."""
    names = ["=1+1", "+a", "-b", "@c", "'d", "-1.5"]
    Z = np.random.default_rng(0).standard_normal((30, 6))
    pd.DataFrame(Z, columns=names).to_csv(tmp_path / "data.csv", index=False)
    data, out = str(tmp_path / "data.csv"), tmp_path / "out"
    assert main(["fit", data, "-d", "1", "-a", "0", "-o", str(out), "-q"]) == 0
    cells = [line.split("\t")[0] for line in (out / "support.tsv").read_text().splitlines()[1:]]
    assert cells == ["'=1+1", "'+a", "'-b", "'@c", "''d", "-1.5"]
    assert [original_name(cell) for cell in cells] == names
    assert main(["stream", data, "-d", "1", "-a", "0", "-o", str(tmp_path / "stream"), "-q"]) == 0
    text = (tmp_path / "stream" / "components.csv").read_text()
    assert "\n'=1+1," in text and "\n=" not in text


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_has_gone_changes_nothing(options, tmp_path):
    """As ``| true``: the result is written, and the exit code says so."""
    np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((30, 6)))
    command = ["fit", str(tmp_path / "data.npy"), "-d", "1", "-a", "0.1", "-o", str(tmp_path / "out"), *options]
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run([sys.executable, "-m", "fantope.cli", *command], stdout=writing, stderr=writing)
    os.close(writing)
    assert ended.returncode == 0 and (tmp_path / "out" / "run.json").exists()


def test_memory_that_does_not_suffice_is_a_sentence():
    assert sentence(MemoryError()).startswith("the memory does not suffice; use fewer")
    assert sentence(MemoryError("alpha must be larger.")) == "alpha must be larger."
