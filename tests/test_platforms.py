"""Where a system has not what Linux has, there is another way: the Linux way is taken away to see it."""

import errno
import io
import math
import os
import platform
import runpy
import select
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from fantope.checkpoint import read_checkpoint, write_checkpoint
from fantope.cli._rows import Lines, NpyRows
from fantope.io import folder
from fantope.paper.experiments import abess_probe
from fantope.paper.machine import Background, machine
from fantope.problem import decomposition


@pytest.fixture
def no_proc(monkeypatch):
    read_text = Path.read_text

    def refuse(path, *arguments, **options):
        if path.parts[:2] == ("/", "proc"):
            raise FileNotFoundError(path)
        return read_text(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", refuse)


def test_the_machine_without_proc(no_proc, monkeypatch):
    monkeypatch.setattr(platform, "processor", lambda: "made up")
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    found = machine()
    assert found["processor"] == "made up" and found["cores"] == os.cpu_count()
    assert Background().share() is None


def test_memory_that_is_not_known_limits_nothing(monkeypatch):
    assert decomposition._physical_memory() > 0.0
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert decomposition._physical_memory() == math.inf


def test_a_private_file_where_permissions_are_others(monkeypatch, tmp_path):
    monkeypatch.delattr(os, "fchmod", raising=False)
    write_checkpoint(tmp_path / "a", ("test", 1), {}, {"x": np.arange(3)}, private=True)
    assert read_checkpoint(tmp_path / "a", ("test", 1))[1]["x"].tolist() == [0, 1, 2]


def test_a_system_without_quotas(monkeypatch):
    monkeypatch.delattr(errno, "EDQUOT", raising=False)
    assert errno.ENOSPC in runpy.run_path(folder.__file__)["NO_ROOM"]


def test_no_limit_of_memory_where_there_is_none(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    abess_probe._limit_memory()


@pytest.fixture
def pipe(monkeypatch):
    """Standard input as a pipe that select knows nothing about, and what writes into it."""

    def refuse(*_):
        raise OSError(10038, "not a socket")

    monkeypatch.setattr(select, "select", refuse)
    end, start = os.pipe()
    with open(end, "rb") as file, open(start, "wb", buffering=0) as into:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
        yield into
        into.close()
        for thread in threading.enumerate():  # which reads until the pipe is closed
            if thread.daemon and "_read" in thread.name:
                thread.join(10)


def test_a_pipe_without_select_is_used_as_it_comes_and_heeds_ctrl_c(pipe):
    stop = threading.Event()
    lines = Lines("-", False, stop.is_set)
    pipe.write(b"1,2\n3,")
    assert lines.next() == (b"1,2", True)
    pipe.write(b"4\n")
    assert lines.next() == (b"3,4", True)
    threading.Timer(0.3, stop.set).start()
    assert lines.next() is None and lines.halted


def test_a_pipe_without_select_ends(pipe):
    lines = Lines("-", False, lambda: False)
    pipe.write(b"1,2\n3,4")
    pipe.close()
    assert [lines.next() for _ in range(4)] == [(b"1,2", True), (b"3,4", False), None, None]


def test_an_array_from_a_pipe_without_select(pipe):
    raw = io.BytesIO()
    np.save(raw, np.arange(6.0).reshape(3, 2))
    threading.Thread(target=lambda: (pipe.write(raw.getvalue()), pipe.close())).start()
    assert [row.values for row in NpyRows("-", lambda: False).rows(0)] == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


def test_a_pipe_that_fails_without_select_is_reported(pipe, monkeypatch):
    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "read", fail)
    with pytest.raises(Exception, match="reading failed after line 0"):
        Lines("-", False, lambda: False).next()
