"""The cache: what was put is found again, by the same code alone, and reading it runs nothing."""

import errno
import os
import pickle
import stat
import zipfile

import numpy as np
import pytest

from fantope.checkpoint import read_checkpoint, write_checkpoint
from fantope.errors import FileError
from fantope.io import Cache
from fantope.io.cache import KIND
from fantope.io.fingerprint import code_fingerprint, fingerprint, sources
from fantope.io.folder import result_folder


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, file):
        self.file = str(file)

    def __reduce__(self):
        return (open, (self.file, "w"))


def test_what_was_put_is_found_by_the_next_run(tmp_path):
    state = {"x": np.arange(3), "part": {"y": 0.1, "none": None, "inf": np.inf}, "name": "ä"}
    Cache(tmp_path / "c", print).put("solution-1", state)
    again = Cache(tmp_path / "c", print)
    found = again.get("solution-1")
    assert found["x"].tolist() == [0, 1, 2] and found["part"] == state["part"] and found["name"] == "ä"
    assert again.get("solution-2") is None and again.n_reused == 1
    again.remove()
    assert not (tmp_path / "c").exists()


@pytest.mark.skipif(not hasattr(os, "fchmod"), reason="permissions are those of Unix")
def test_entries_are_private(tmp_path):
    Cache(tmp_path / "c", print).put("a", {"x": 1})
    assert stat.S_IMODE((tmp_path / "c" / "a.npz").stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", [lambda raw: raw[:-1], lambda raw: b"", lambda raw: raw[:70] + b"?" + raw[71:]])
def test_a_damaged_file_is_ignored_with_a_note(damage, tmp_path):
    notes = []
    cache = Cache(tmp_path / "c", notes.append)
    cache.put("a", {"x": np.arange(100)})
    file = tmp_path / "c" / "a.npz"
    file.write_bytes(damage(file.read_bytes()))
    assert cache.get("a") is None
    assert len(notes) == 1 and "is damaged; that part is computed again" in notes[0]


def test_what_somebody_else_put_there_is_ignored_with_a_note(tmp_path):
    notes = []
    cache = Cache(tmp_path / "c", notes.append)
    cache.put("a", {"x": 1})
    (tmp_path / "c" / "b.npz").write_bytes((tmp_path / "c" / "a.npz").read_bytes())  # under another key
    write_checkpoint(tmp_path / "c" / "d.npz", ("other", 1), {"key": "d"}, {"x": 1})
    write_checkpoint(tmp_path / "c" / "e.npz", (KIND[0], KIND[1] + 1), {"key": "e"}, {"x": 1})
    assert [cache.get(key) for key in "bde"] == [None] * 3
    assert len(notes) == 3 and all("is not what fantope put there; that part is computed again" in n for n in notes)


def test_a_planted_pickle_does_not_run(tmp_path):
    notes, sprung = [], tmp_path / "sprung"
    cache = Cache(tmp_path / "c", notes.append)
    cache.put("b", {"x": 1})
    trap = pickle.dumps(Trap(sprung))
    for name in ("a.npz", "a.pickle"):
        (tmp_path / "c" / name).write_bytes(trap)
    np.save(tmp_path / "array.npy", np.array([Trap(sprung)], dtype=object), allow_pickle=True)
    write_checkpoint(tmp_path / "c" / "d.npz", KIND, {"key": "d"}, {"x": np.zeros(1)})
    raw = (tmp_path / "c" / "d.npz").read_bytes()
    import zipfile

    with zipfile.ZipFile(tmp_path / "c" / "d.npz") as archive:
        header = archive.read("header.json")
    with zipfile.ZipFile(tmp_path / "c" / "d.npz", "w") as archive:
        archive.writestr("header.json", header)
        archive.write(tmp_path / "array.npy", "x.npy")
    assert raw != (tmp_path / "c" / "d.npz").read_bytes()
    assert cache.get("a") is None and cache.get("d") is None
    assert len(notes) == 2 and not sprung.exists()
    pickle.loads(trap).close()
    assert sprung.exists()  # the trap works


def test_a_folder_of_somebody_else_is_neither_used_nor_removed(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(FileError, match="holds no cache of fantope; choose another with cache"):
        Cache(tmp_path, print)


def test_nothing_half_written_is_left(tmp_path):
    cache = Cache(tmp_path / "c", print)
    with pytest.raises(TypeError, match="JSON"):
        cache.put("a", {"x": object()})
    with pytest.raises(ValueError, match="Object arrays"):
        cache.put("a", {"x": np.array([object()])})
    assert [file.name for file in (tmp_path / "c").iterdir()] == ["fantope-cache"]


def test_the_fingerprint_tells_values_apart():
    parts = [
        np.arange(3),
        np.arange(3.0),
        np.arange(3.0)[::-1],
        np.zeros((2, 3)),
        np.zeros((3, 2)),
        "a",
        ("a",),
        1,
        1.0,
    ]
    assert len({fingerprint(part) for part in parts}) == len(parts)
    assert fingerprint(np.arange(6.0)[::2]) == fingerprint(np.arange(6.0)[::2].copy())


@pytest.mark.slow
def test_the_fingerprint_of_code_follows_imports_and_versions(monkeypatch):
    found = sources("fantope.coexpression.analysis.paths")
    assert {"fantope.solvers.admm", "fantope.kernels.extension", "fantope.problem.certificate"} <= found
    assert not any(name.startswith("fantope.cli") for name in found)
    before = code_fingerprint("fantope.simulation")
    monkeypatch.setattr("fantope.io.fingerprint.version", lambda name: "99")
    assert code_fingerprint.__wrapped__("fantope.simulation") != before


def test_a_checkpoint_of_another_kind_says_so(tmp_path):
    write_checkpoint(tmp_path / "a", ("one", 1), {}, {})
    with pytest.raises(ValueError, match="not a state saved by fantope") as raised:
        read_checkpoint(tmp_path / "a", ("two", 1))
    assert raised.value.reason == "foreign"
    with pytest.raises(ValueError, match="has format version 1, this fantope reads version 2") as raised:
        read_checkpoint(tmp_path / "a", ("one", 2))
    assert raised.value.reason == "version"


@pytest.mark.parametrize("place", [6, 8, 10])
def test_a_file_that_says_it_is_encrypted_or_compressed_otherwise(place, tmp_path):
    notes = []
    cache = Cache(tmp_path / "cache", notes.append)
    cache.put("a", {"x": np.arange(3.0)})
    file = tmp_path / "cache" / "a.npz"
    good = file.read_bytes()
    directory = good.index(b"PK\x01\x02")
    for value in (1, 9, 12, 14, 99):
        damaged = bytearray(good)
        damaged[place] = damaged[directory + place + 2] = value
        file.write_bytes(bytes(damaged))
        cache.get("a")
    file.write_bytes(good)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", "[" * 100_000)
    assert cache.get("a") is None and "damaged" in notes[-1]


def test_a_full_disk_of_the_cache_is_not_blamed_on_the_result(tmp_path, monkeypatch):
    def full(*args, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("fantope.io.cache.write_checkpoint", full)
    blamed = pytest.raises(FileError, match=r"cache: cannot be written to .No space left on device.; make room")
    with blamed, result_folder(tmp_path / "out", command="fantope x"):
        Cache(tmp_path / "cache", print).put("a", {"x": 1})
    assert not (tmp_path / "out").exists()
