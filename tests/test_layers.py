"""What no linter sees: the library knows no command line, and nothing unpickles."""

import re
from importlib import import_module
from inspect import ismodule
from pathlib import Path
from pkgutil import iter_modules

import pytest

import fantope

SOURCE = Path(fantope.__file__).parent
FRONT_ENDS = ("cli", "coexpression/command", "paper/command.py")


def lines(*but):
    """Every line of the source and its templates, with its place, without the parts named."""
    for file in sorted([*SOURCE.rglob("*.py"), *SOURCE.rglob("*.html")]):
        name = file.relative_to(SOURCE).as_posix()
        if not name.startswith(but):
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
                yield f"{name}:{number}", line


@pytest.mark.slow
def test_the_library_knows_no_flag():
    flag = re.compile(r"(?<![\w-])--[a-z][a-z-]+(?![\w:])")
    assert not [place for place, line in lines(*FRONT_ENDS) if flag.search(line)]
    assert any(flag.search(line) for _, line in lines())  # the front ends have some


@pytest.mark.slow
def test_nothing_is_unpickled():
    called = re.compile(r"\bpickle\b(?!\s*=\s*False)|allow_pickle\s*=\s*True|joblib\.load|read_pickle|\bdill\b")
    assert not [place for place, line in lines() if called.search(line)]
    # numpy.load refuses objects unless it is told otherwise; say so at each place all the same.
    loads = [(place, line) for place, line in lines() if "np.load(" in line]
    assert loads and all("allow_pickle=False" in line for _, line in loads)


@pytest.mark.parametrize("name", ["io", "estimators", "online", "selection", "plotting", "coexpression"])
def test_no_module_hides_a_name_that_loads_on_first_use(name):
    name = f"fantope.{name}"
    package = import_module(name)
    for module in iter_modules(package.__path__):
        import_module(f"{name}.{module.name}")  # which makes it an attribute of the package
    assert package.__all__ and not [each for each in package.__all__ if ismodule(getattr(package, each))]


def test_the_picture_shows_every_part():
    picture = (Path(__file__).parent.parent / "docs" / "images" / "architecture.svg").read_text(encoding="utf-8")
    shown = set(re.findall(r"\w+", " ".join(re.findall('class="n">(.*?)<', picture))))
    doors = {"tl", "pp", "theory", "intersection", "__main__"}
    assert shown == {module.name for module in iter_modules(fantope.__path__)} - doors
