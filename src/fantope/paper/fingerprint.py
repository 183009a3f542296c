"""A fingerprint of the code that an experiment runs, so that results of another state of it are not reused."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def fingerprint(module: str) -> str:
    """Hash the source of ``module`` and of everything in fantope that it imports, directly or not.

    Imports inside functions count. The package ``fantope`` itself, which can load every part, does not; it has no code
    that computes.

    Examples
    --------
    >>> fingerprint("fantope.paper.theory") != fingerprint("fantope.simulation")
    True
    """
    digest = hashlib.sha256()
    for name in sorted(sources(module)):
        digest.update(name.encode() + b"\0" + _file(name).read_bytes())
    return digest.hexdigest()[:12]


def sources(module: str) -> set[str]:
    """Return the names of the modules of fantope that ``module`` depends on, itself included."""
    found, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_imports(name) - found)
    return found


@cache
def _imports(module: str) -> frozenset[str]:
    names: set[str] = set()
    file = _file(module)
    stub = file.with_suffix(".pyi")  # where a package that loads its names on first use lists them
    for node in ast.walk(ast.parse((stub if stub.exists() else file).read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from package import name`: the name may be a module itself.
            origin = f"{module}.{node.module}" if node.level else node.module
            names.add(origin)
            names.update(f"{origin}.{alias.name}" for alias in node.names)
    parents = {".".join(name.split(".")[:k]) for name in names for k in range(2, name.count(".") + 2)}
    return frozenset(name for name in parents if name.startswith("fantope.") and _is_module(name))


@cache
def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is a module, not a package
        return False


def _file(module: str) -> Path:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"module must be one of fantope with a source file, got {module!r}.")
    return Path(spec.origin)
