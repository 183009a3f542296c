"""Writes the pages of the reference from what the modules call public: a new name is there without further ado."""

from __future__ import annotations

import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

# Module, title, what it is for.
MODULES = (
    ("fantope", "Solving, fitting, simulating", "What most people use."),
    ("fantope.penalties", "Penalties", "Wherever a number alpha is accepted, a penalty is too."),
    ("fantope.selection", "Choosing", "Which penalty, how many components, which variables are stable."),
    ("fantope.plotting", "Figures", "Functions that take `ax`, and displays in scikit-learn's manner."),
    ("fantope.notebook", "In a notebook", "Progress of long computations, and what notebooks show."),
    ("fantope.coexpression", "Co-expression", "Modules of genes, and what differs between groups of samples."),
    ("fantope.tl", "AnnData: tools", "Co-expression and sparse PCA as scanpy's users expect them."),
    ("fantope.pp", "AnnData: preprocessing", "What comes before."),
    ("fantope.io", "Files", "Data in, results out, certificates checked again."),
    ("fantope.solvers", "Solvers", "The algorithms, for those who want their options."),
    ("fantope.online", "Online learners", "What `OnlineSparsePCA` runs, and what it is compared with."),
    ("fantope.testing", "Checks", "For solvers, penalties and operators of your own."),
    ("fantope.theory", "Theory", "Every explicit constant and bound of the paper."),
    ("fantope.intersection", "Intersections", "Convex minimisation over an intersection of sets, in general."),
    ("fantope.errors", "Errors", "What is raised, and how its sentence is made."),
    ("fantope.events", "Progress", "What a long computation reports."),
)


def public_names(module: str) -> list[str]:
    """Return the public names of a module, those that applications add to ``fantope.plotting`` among them."""
    found: Any = import_module(module)
    if module == "fantope.plotting":
        return dir(found)
    named = getattr(found, "__all__", None)
    if named is None:  # classes; functions are for the library itself
        named = [name for name, value in vars(found).items() if isinstance(value, type) and value.__module__ == module]
    return sorted((name for name in named if not name.startswith("_")), key=str.lower)


def examples() -> dict[str, str]:
    """Return the examples of names whose docstring has none, by name."""
    text = (Path(__file__).parent / "examples.txt").read_text(encoding="utf-8")
    found = {}
    for section in text.split("\n= ")[1:]:
        names, _, example = section.partition("\n")
        found |= dict.fromkeys(names.split(), example.rstrip() + "\n")
    return found


@cache
def borrowed() -> dict[str, str]:
    """Return for what a public function returns the function's example: one shows both."""
    found = {}
    for module, _, _ in MODULES:
        for name in public_names(module):
            value = getattr(import_module(module), name)
            text = inspect.getdoc(value) or ""
            if inspect.isfunction(value) and "Examples\n--------\n" in text:
                result = str(inspect.signature(value).return_annotation).strip("'")
                found[f"{module}.{result}"] = text.partition("Examples\n--------\n")[2]
    return found


def in_reading_order(name: str) -> int:
    """Return where an example stands in the gallery: as its folder's ORDER says, new ones last."""
    order = (Path(__file__).parents[2] / "examples" / "ORDER").read_text(encoding="utf-8").split()
    return order.index(name) if name in order else len(order)


def write_pages(app: Any) -> None:
    """Write one page for each module, and the page that lists them."""
    folder = Path(app.srcdir) / "reference"
    folder.mkdir(exist_ok=True)
    documented: dict[int, str] = {}
    lines = ["Reference", "=========", "", "Every public name, with its formula, its parameters and an example.", ""]
    for module, title, purpose in MODULES:
        own = []
        for name in public_names(module):
            value = getattr(import_module(module), name)
            if callable(value) and id(value) not in documented:  # a class is documented where it stands first
                documented[id(value)] = f"{module}.{name}"
                own.append(name)
        entries = "".join(f"   {name}\n" for name in own)
        text = (
            f"{title}\n{'=' * len(title)}\n\n``{module}``: {purpose[0].lower() + purpose[1:]}\n\n"
            f".. currentmodule:: {module}\n\n.. autosummary::\n   :toctree: api\n\n{entries}"
        )
        _write(folder / f"{module}.rst", text)
    entries = "".join(f"   {title} <{module}>\n" for module, title, _ in MODULES)
    _write(folder / "index.rst", "\n".join(lines) + f"\n.. toctree::\n   :maxdepth: 2\n\n{entries}")


def _write(file: Path, text: str) -> None:
    # A file that has not changed keeps its time, and its page is not built again.
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def add_example(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Show the example of a name whose docstring has none."""
    example = examples().get(name) or borrowed().get(name)
    if example and not any(">>>" in line for line in lines):
        lines += ["", "Examples", "--------", *example.splitlines(), ""]


def escape(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Let |x| be an absolute value and (n_features_in_,) a shape: reStructuredText would look for targets."""
    for i, line in enumerate(lines):
        if ">>>" not in line:
            line = re.sub(r"shape \([^)]*\)", lambda shape: re.sub(r"_(?=[,)])", r"\\_", shape[0]), line)
            # Every other part stands between double backquotes, where a bar is a bar.
            parts = line.split("``")
            lines[i] = "``".join(p.replace("|", r"\|") if k % 2 == 0 else p for k, p in enumerate(parts))


def setup(app: Any) -> dict[str, bool]:
    """Add the pages before Sphinx looks for pages."""
    app.connect("config-inited", lambda app, config: write_pages(app))
    app.connect("autodoc-process-docstring", add_example, priority=50)  # before numpydoc reads the sections
    app.connect("autodoc-process-docstring", escape, priority=100)
    return {"parallel_read_safe": True}
