import os

import pytest

from fantope import atomic
from fantope.atomic import whole_file


def put(target, content, **options):
    with whole_file(target, **options) as file:
        file.write(content)


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_readers_find_the_old_content_until_the_new_one_is_complete(tmp_path):
    target = tmp_path / "a"
    put(target, b"old")
    with whole_file(target) as file:
        file.write(b"new")
        file.flush()
        assert target.read_bytes() == b"old"
    assert contents(tmp_path) == {"a": b"new"}


@pytest.mark.posix
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_permissions_are_those_of_any_new_file(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        put(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_the_old_content_and_nothing_else(tmp_path, error):
    put(tmp_path / "a", b"old")
    put(tmp_path / "b", b"older")
    with pytest.raises(error), whole_file(tmp_path / "a", keep=tmp_path / "b") as file:
        file.write(b"new")
        raise error
    assert contents(tmp_path) == {"a": b"old", "b": b"older"}


def test_a_full_disk_leaves_the_old_content_and_nothing_else(tmp_path):
    resource = pytest.importorskip("resource", reason="needs limits of Unix")
    put(tmp_path / "a", b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            put(tmp_path / "a", bytes(2000), keep=tmp_path / "b")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert contents(tmp_path) == {"a": b"old"}


def test_content_is_on_the_disk_before_it_takes_its_place(tmp_path, monkeypatch):
    calls = []
    for name in ("fsync", "link", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(atomic.os, name, lambda *a, name=name, real=real: calls.append(name) or real(*a))
    put(tmp_path / "a", b"old")
    assert calls == ["fsync", "replace", "fsync"]  # the file, its name, the folder
    calls.clear()
    put(tmp_path / "a", b"new", keep=tmp_path / "b")
    assert calls == ["fsync", "link", "replace", "replace", "fsync"]


@pytest.mark.parametrize("links", [True, False])
def test_the_old_content_is_kept(tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr(atomic.os, "link", lambda *_: (_ for _ in ()).throw(PermissionError("no hard links")))
    for content in (b"1", b"2", b"3"):
        put(tmp_path / "a", content, keep=tmp_path / "b")
    assert contents(tmp_path) == {"a": b"3", "b": b"2"}


def test_a_failed_rename_leaves_nothing_beside_even_when_tried_again(tmp_path, monkeypatch):
    put(tmp_path / "a", b"old")
    real = os.replace

    def broken(source, target):
        if target == tmp_path / "a":
            raise OSError("disk")
        real(source, target)

    monkeypatch.setattr(atomic.os, "replace", broken)
    for _ in range(2):  # the second time "a" and "b" are two names of one file already
        with pytest.raises(OSError, match="disk"):
            put(tmp_path / "a", b"new", keep=tmp_path / "b")
        assert contents(tmp_path) == {"a": b"old", "b": b"old"}
