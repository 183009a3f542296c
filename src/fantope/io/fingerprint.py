"""What a result depends on, in a few hexadecimal digits: data and parameters, and the code that computes it."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

LIBRARIES = ("numpy", "scipy", "numba")  # whose versions change the last digits of a result


def fingerprint(*parts: Any) -> str:
    """Return 20 hexadecimal digits that depend on every array and value given.

    Examples
    --------
    >>> fingerprint(np.arange(3.0), "a") == fingerprint(np.arange(3.0), "a") != fingerprint(np.arange(3.0), "b")
    True
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype != object:
            data: np.ndarray[Any, Any] = np.ascontiguousarray(part)
            digest.update(f"{data.dtype.str}{data.shape}".encode())
            digest.update(data.data)
        else:
            digest.update(repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:20]


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file; of a folder, that of all its files' names and contents in sorted order."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    whole = hashlib.sha256()
    for file_path in sorted(file for file in path.rglob("*") if file.is_file()):
        # A digest has a fixed length, and no name holds a NUL: nothing can move from one file into the next.
        whole.update(file_path.relative_to(path).as_posix().encode() + b"\0")
        whole.update(bytes.fromhex(checksum(file_path)))
    return whole.hexdigest()


@cache
def code_fingerprint(module: str) -> str:
    """Return 20 hexadecimal digits that depend on the source of ``module`` and of everything in fantope it imports.

    Imports inside functions count, as do the versions of the numerical libraries. The package ``fantope`` itself, which
    can load every part, does not; it has no code that computes.

    Examples
    --------
    >>> code_fingerprint("fantope.operators") != code_fingerprint("fantope.simulation")
    True
    """
    code = [(name, hashlib.sha256(_file(name).read_bytes()).hexdigest()) for name in sorted(sources(module))]
    return fingerprint(code, [version(name) for name in LIBRARIES])


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
    for node in _statements(ast.parse((stub if stub.exists() else file).read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from package import name`: the name may be a module itself.
            origin = f"{module}.{node.module}" if node.level else node.module
            names.add(origin)
            names.update(f"{origin}.{alias.name}" for alias in node.names)
    parents = {".".join(name.split(".")[:k]) for name in names for k in range(2, name.count(".") + 2)}
    return frozenset(name for name in parents if name.startswith("fantope.") and _is_module(name))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements of a module, nested ones too; looking into expressions would take most of the time."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        children = getattr(node, part, ())
        for child in children if isinstance(children, list) else ():
            yield child
            yield from _statements(child)


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
