"""A result's folder appears whole or not at all."""

import json

import pytest

from fantope.errors import FileError
from fantope.io import result_folder
from fantope.io.folder import RECORD


def test_folder_appears_whole(tmp_path):
    target = tmp_path / "deep" / "out"
    with result_folder(target, command="c") as folder:
        (folder / "a").write_text("a")
        assert not target.exists()
    assert {file.name for file in target.iterdir()} == {"a", RECORD}
    assert [file.name for file in target.parent.iterdir()] == ["out"]


def test_folder_of_the_same_command_is_replaced(tmp_path):
    target = tmp_path / "out"
    for name in ("first", "second"):
        with result_folder(target, command="c") as folder:
            (folder / name).touch()
    assert {file.name for file in target.iterdir()} == {"second", RECORD}
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_failure_leaves_the_earlier_folder(failure, tmp_path):
    target = tmp_path / "out"
    with result_folder(target, command="c") as folder:
        (folder / "kept").touch()
    with pytest.raises(failure), result_folder(target, command="c"):
        raise failure
    assert (target / "kept").exists()
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("marker", [None, "not json", "[]", json.dumps({"command": "other"})])
def test_foreign_folder_is_refused(marker, tmp_path):
    (tmp_path / "mine").touch()
    if marker is not None:
        (tmp_path / RECORD).write_text(marker)
    with pytest.raises(FileError, match="choose another folder"), result_folder(tmp_path, command="c"):
        pass
    assert (tmp_path / "mine").exists()


def test_empty_folder_is_used_and_a_file_is_refused(tmp_path):
    with result_folder(tmp_path / "empty", command="c"):
        pass
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(FileError, match="is a file"), result_folder(file, command="c"):
        pass
