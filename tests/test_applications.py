"""The library works without the applications that stand on it, and importing it loads nothing heavy."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fantope

COMMANDS = {"coexpression": "coexpress", "paper": "reproduce"}
DOORS = {"coexpression": ("pp", "tl"), "paper": ("intersection", "theory")}
HEAVY = ("numpy", "scipy", "sklearn", "numba", "pandas", "matplotlib", "click", "rich", "anndata")

# Run in a folder that holds the package without the folders named on the command line.
WITHOUT = """
import importlib, pkgutil, sys, warnings
warnings.simplefilter("error")
import fantope
from fantope.cli import main
removed, doors, out = sys.argv[1].split(), sys.argv[2].split(), sys.argv[3]
assert fantope.__file__.startswith(sys.argv[4]), fantope.__file__
for module in pkgutil.walk_packages(fantope.__path__, "fantope."):
    if module.name.removeprefix("fantope.") not in (*doors, "cli.__main__"):
        importlib.import_module(module.name)
assert not set(removed) & set(dir(fantope))
sim = fantope.simulate(100, 12, sizes=(3, 2), random_state=1)
solution = fantope.solve(sim.Z.T @ sim.Z / 100, 2, 0.3)
assert solution.gap <= 1e-4
solution.verify(sim.Z.T @ sim.Z / 100)
import numpy as np
np.save(f"{out}/data.npy", sim.Z)
assert main(["fit", f"{out}/data.npy", "-a", "0.3", "-o", f"{out}/fit", "--quiet"]) == 0
assert main(["verify", f"{out}/fit", "--quiet"]) == 0
assert callable(fantope.plotting.plot_projection)
assert main(["--help"]) == 0
for command in sys.argv[5].split():
    assert main([command]) == 2
if "paper" not in removed:
    assert main(["reproduce", "setting", "--quick", "-o", f"{out}/paper", "--quiet"]) == 0
"""


def run(*arguments, path):
    environment = os.environ | {"PYTHONPATH": str(path)}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, cwd=path)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
@pytest.mark.parametrize("removed", [("coexpression",), ("paper",), ("coexpression", "paper")], ids="+".join)
def test_the_library_works_without_applications(removed, tmp_path):
    # With its __pycache__, which spares the compilation of every kernel.
    shutil.copytree(Path(fantope.__file__).parent, tmp_path / "fantope", ignore=lambda folder, _: removed)
    out = tmp_path / "out"
    out.mkdir()
    commands = [COMMANDS[name] for name in removed]
    doors = [door for name in removed for door in DOORS[name]]
    done = run(
        "-c", WITHOUT, " ".join(removed), " ".join(doors), str(out), str(tmp_path), " ".join(commands), path=tmp_path
    )
    listed = [line.split()[0] for line in done.stdout.partition("Commands:")[2].splitlines() if line.strip()]
    assert sorted({*listed, *commands}) == [
        "coexpress", "completion", "demo", "fit", "path", "reproduce", "stream", "verify",
    ]  # fmt: skip
    assert not set(listed) & set(commands)
    for command in commands:
        assert f"the command '{command}' belongs to an application that was left out" in done.stderr


def test_results_of_an_absent_application_are_refused_by_name(tmp_path):
    from fantope.errors import FileError
    from fantope.io import verify_folder

    (tmp_path / "run.json").write_text('{"command": "fantope other"}')
    with pytest.raises(FileError, match="was written by `fantope other`"):
        verify_folder(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["import fantope", "import fantope; dir(fantope)", "import fantope.coexpression"])
def test_importing_loads_nothing_heavy(what, tmp_path):
    done = run("-c", f"{what}; import sys; print(*sys.modules)", path=tmp_path)
    assert not {name.partition(".")[0] for name in done.stdout.split()} & set(HEAVY)


@pytest.mark.slow
def test_solving_loads_what_it_needs_alone(tmp_path):
    done = run("-c", "import fantope; fantope.solve; import sys; print(*sys.modules)", path=tmp_path)
    assert not {"scipy.stats", "sklearn", "pandas", "matplotlib"} & set(done.stdout.split())


@pytest.mark.slow
def test_help_loads_no_numerics(tmp_path):
    program = "from fantope.cli import main; main(['--help']); import sys; print(*sys.modules)"
    loaded = {name.partition(".")[0] for name in run("-c", program, path=tmp_path).stdout.split()}
    assert not loaded & (set(HEAVY) - {"click", "rich"})


@pytest.mark.parametrize("name", ["coexpression", "intersection", "pp", "theory", "tl"])
def test_public_names_of_the_applications(name):
    module = getattr(fantope, name)
    assert module.__all__ and all(hasattr(module, each) for each in module.__all__)


@pytest.mark.slow
def test_figures_of_the_applications_are_found_by_name():
    assert {"plot_volcano", "plot_regret", "plot_projection"} < set(dir(fantope.plotting))
    assert fantope.plotting.plot_volcano.__module__ == "fantope.coexpression.figures"
    assert not hasattr(fantope.plotting, "plot_nothing")
