import io
import json
import sys

import pytest
from rich.console import Console

from fantope.cli import main
from fantope.cli.console import MARKER, Talk, output_folder, sentence


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


def test_folder_appears_whole(tmp_path):
    target = tmp_path / "deep" / "out"
    with output_folder(target, command="c") as folder:
        (folder / "a").write_text("a")
        assert not target.exists()
    assert {file.name for file in target.iterdir()} == {"a", MARKER}
    assert [file.name for file in target.parent.iterdir()] == ["out"]


def test_folder_of_the_same_command_is_replaced(tmp_path):
    target = tmp_path / "out"
    for name in ("first", "second"):
        with output_folder(target, command="c") as folder:
            (folder / name).touch()
    assert {file.name for file in target.iterdir()} == {"second", MARKER}
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_failure_leaves_the_earlier_folder(failure, tmp_path):
    target = tmp_path / "out"
    with output_folder(target, command="c") as folder:
        (folder / "kept").touch()
    with pytest.raises(failure), output_folder(target, command="c"):
        raise failure
    assert (target / "kept").exists()
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("marker", [None, "not json", "[]", json.dumps({"command": "other"})])
def test_foreign_folder_is_refused(marker, tmp_path):
    (tmp_path / "mine").touch()
    if marker is not None:
        (tmp_path / MARKER).write_text(marker)
    with pytest.raises(FileExistsError, match="choose another folder"), output_folder(tmp_path, command="c"):
        pass
    assert (tmp_path / "mine").exists()


def test_empty_folder_is_used_and_a_file_is_refused(tmp_path):
    with output_folder(tmp_path / "empty", command="c"):
        pass
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(FileExistsError, match="is a file"), output_folder(file, command="c"):
        pass
