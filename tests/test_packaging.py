"""What is handed out: the wheel has all of the library and nothing else, and works where only it is installed."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import fantope

ROOT = Path(__file__).resolve().parent.parent
BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"


def run(*command, cwd):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=cwd, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def files(folder):
    return {
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and ".egg-info" not in str(file)
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the source archive and the wheel that is built from it, both without network."""
    folder = tmp_path_factory.mktemp("dist")
    tree = folder / "tree"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", ".*")
    for name in ("src", "tests", "benchmarks", "docs", "examples"):
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, tree / name)
    archive = folder / run(sys.executable, "-c", BUILD, "build_sdist", folder, cwd=tree).split()[-1]
    with tarfile.open(archive) as content:
        content.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    wheel = folder / run(sys.executable, "-c", BUILD, "build_wheel", folder, cwd=unpacked).split()[-1]
    return archive, wheel


@pytest.mark.slow
def test_archives_hold_the_library_and_nothing_else(built):
    archive, wheel = built
    whole = {f"fantope/{name}" for name in files(ROOT / "src" / "fantope")}
    assert {"fantope/py.typed", "fantope/__init__.pyi"} < whole
    found = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert found == whole
    with tarfile.open(archive) as content:
        names = {name.partition("/")[2] for name in content.getnames()}
    assert {f"src/{name}" for name in whole} < names and "LICENSE" in names
    assert not [name for name in names if name.startswith(("tests", "benchmarks", "docs", "examples"))]


@pytest.mark.slow
def test_the_wheel_works_where_only_it_is_installed(built, tmp_path):
    place = tmp_path / "venv"
    venv.create(place, with_pip=False)
    paths = sysconfig.get_paths("venv", {"base": str(place), "platbase": str(place)})
    scripts, packages = Path(paths["scripts"]), Path(paths["purelib"])
    # The requirements are those of this environment; path files in there, such as that of an editable fantope, are not.
    (packages / "requirements.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    python = shutil.which("python", path=str(scripts))
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", built[1], cwd=tmp_path)
    where, number = run(python, "-c", "import fantope as f; print(f.__file__, f.__version__)", cwd=tmp_path).split()
    assert Path(where).is_relative_to(packages) and number == fantope.__version__
    np.save(tmp_path / "data.npy", fantope.simulate(60, 12, sizes=(3, 2)).Z)
    command = shutil.which("fantope", path=str(scripts))
    run(command, "fit", "data.npy", "-a", "0.3", "-o", "result", cwd=tmp_path)
    run(command, "verify", "result", cwd=tmp_path)
    assert {"coexpress", "reproduce", "demo"} <= set(run(command, "--help", cwd=tmp_path).split())


def test_there_is_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" not in project and "version" in project["dynamic"]
    assert version("fantope") == fantope.__version__
    assert f"## {fantope.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_links_are_absolute_on_an_index(tmp_path):
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    run(sys.executable, ROOT / ".github" / "addresses.py", "https://forge.example/owner/fantope", cwd=tmp_path)
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"] == {"Repository": "https://forge.example/owner/fantope"}
    before, after = (
        re.findall(r"\]\(([^)]+)\)", (folder / "README.md").read_text(encoding="utf-8")) for folder in (ROOT, tmp_path)
    )
    assert all(link.startswith("https://") for link in after) and len(after) == len(before)
    assert "https://forge.example/owner/fantope/blob/main/docs/start.md" in after
    assert "https://forge.example/owner/fantope/raw/main/docs/images/demo.png" in after
    assert "https://forge.example/owner/fantope/actions/workflows/test.yml" in after


def test_minimum_versions_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = ("cli", "plot", "frames", "files", "cluster", "expression", "paper")
    wanted = [*project["dependencies"], *(each for group in groups for each in project["optional-dependencies"][group])]
    oldest = {re.match(r"[\w-]+", each)[0]: each.partition(">=")[2] for each in wanted if ">=" in each}
    lines = (ROOT / "requirements" / "minimum.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert set(oldest) == set(pinned)
    for name, least in oldest.items():
        assert re.fullmatch(rf"{re.escape(least)}(\.0)*", pinned[name]), name


@pytest.mark.slow
def test_the_core_needs_no_extra(tmp_path):
    program = f"""
import re, sys
for name in {sorted(extras())!r}:
    sys.modules[name] = None
import numpy as np, fantope
sim = fantope.simulate(60, 12, sizes=(3, 2))
S = sim.Z.T @ sim.Z / 60
solution = fantope.solve(S, 2, 0.3)
solution.verify(S)
assert "component 1" in solution._repr_html_() and len(fantope.solve_path(S, 2, [0.5, 0.3])) == 2
assert fantope.SparsePCA(2).fit(sim.Z).gap_ <= 1e-4
fantope.OnlineSparsePCA(2).partial_fit(sim.Z).components_
for ask in (solution.to_frame, lambda: fantope.plotting.plot_convergence(solution)):
    try:
        ask()
    except ImportError as error:
        print(error)
from fantope.cli import main
assert main(["demo"]) == 2
"""
    said = run(sys.executable, "-c", program, cwd=tmp_path)
    assert "fantope[plot]" in said
    assert "a DataFrame needs pandas, which is not installed; install the extra fantope[frames]." in said


@pytest.mark.slow
def test_commands_say_which_extra_they_need(tmp_path):
    program = f"""
import contextlib, io, sys
for name in {sorted(extras() - {"click", "rich"})!r}:
    sys.modules[name] = None
from fantope.cli import main
for extra, command in (("plot", "demo"), ("expression", "coexpress --demo"), ("paper", "reproduce all --quick")):
    with contextlib.redirect_stderr(io.StringIO()) as said:
        assert main(command.split()) == 2
    assert f"which is not installed; install the extra fantope[{{extra}}]." in said.getvalue(), said.getvalue()
"""
    run(sys.executable, "-c", program, cwd=tmp_path)


def extras():
    """Return the modules that only the extras bring."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = ("cli", "plot", "frames", "files", "cluster", "expression", "paper", "compare")
    wanted = {re.match(r"[\w-]+", each)[0] for group in groups for each in project["optional-dependencies"][group]}
    modules = {"markdown-it-py": "markdown_it", "dask": "dask"}
    return {modules.get(name, name) for name in wanted - {"fantope"}} | {"distributed"}
