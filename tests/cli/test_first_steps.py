"""Somebody who has just installed it: no arguments, and the Tab key."""

import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import fantope
from fantope.cli import main


def test_no_arguments_say_what_to_do_first(capsys):
    assert main([]) == 0
    said = capsys.readouterr()
    assert "fantope demo" in said.out and "fantope verify" in said.out and not said.err


@pytest.mark.slow
def test_what_it_says_to_do_can_be_done(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("data.csv", fantope.simulate(60, 12, sizes=(3, 2)).Z, delimiter=",", header="a,b,c,d,e,f,g,h,i,j,k,l",
               comments="")  # fmt: skip
    main([])
    commands = re.findall(r":\s+fantope (\w+ .*?)   ", capsys.readouterr().out)
    assert len(commands) == 5
    for command in commands:
        if "--demo" not in command:  # tested where it is
            assert main(command.split()) == 0, command


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell, capsys, monkeypatch):
    assert main(["completion", shell]) == 0
    assert f"_FANTOPE_COMPLETE={shell}_complete" in capsys.readouterr().out
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    assert main(["completion"]) == 0
    assert f"fantope completion {shell}" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
def test_bash_completes():
    place = shutil.which("fantope", path=str(sys.prefix) + "/bin")
    if place is None:
        pytest.skip("fantope is not installed as a command")
    script = (
        'fantope() { "$FANTOPE" "$@"; }; eval "$(fantope completion bash 2>/dev/null)"; '
        'COMP_WORDS=(fantope ver); COMP_CWORD=1; _fantope_completion "$FANTOPE"; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], env={"FANTOPE": place, "PATH": "/usr/bin:/bin"}, capture_output=True)
    assert done.stdout.decode().split() == ["verify"], done.stderr
