"""Estimators, operators over data, streams, files and interrupts."""

from __future__ import annotations

import io
import json
import pickle
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

import fantope
from checking import checker
from fantope.checkpoint import CheckpointError
from fantope.io import Reading, operator, read, read_result, verify_folder
from fantope.io.results import write_record, write_solution
from fuzz.problems import Finding, judge
from interrupting import counted_calls

REFUSALS = (ValueError, CheckpointError)  # FileError is one; a sentence each


class Planted:
    """What must never be unpickled."""

    def __reduce__(self) -> Any:
        return (_fired, ())


def _fired() -> None:
    raise SystemExit("a pickle was executed")


def _data(rng: np.random.Generator) -> Any:
    n, p = int(rng.integers(3, 15)), int(rng.integers(2, 10))
    X = rng.standard_normal((n, p)) + rng.choice([0.0, 1.0, 1e3])
    X[:, : p // 2] += X[:, [0]]
    return X * 10.0 ** rng.choice([0, 0, 0, -20, 20])


def estimators(seed: int) -> None:
    """Fit SparsePCA or an operator to data of a random type and layout; judge the answer by the data."""
    rng = np.random.default_rng(seed)
    X = _data(rng)
    d, kind = int(rng.integers(1, X.shape[1])), str(rng.choice(["covariance", "correlation"]))
    layout = str(rng.choice(["C", "F", "strided", "float32", "sparse"]))
    given: Any = {
        "C": X, "F": np.asfortranarray(X), "strided": np.repeat(X, 2, axis=0)[::2], "float32": X.astype(np.float32),
        "sparse": scipy.sparse.csr_array(X),
    }[layout]  # fmt: skip
    dense = (given.toarray() if layout == "sparse" else np.asarray(given)).astype(np.float64)
    tol = float(rng.choice([1e-2, 1e-4]))
    if rng.random() < 0.5:
        size = float(fantope.covariance(dense, kind=kind).diagonal().max())
        sol = fantope.solve(fantope.covariance(given, kind=kind), d, float(rng.random()) * size, tol=tol)
    else:
        found = fantope.SparsePCA(d, kind=kind, tol=tol).fit(dense)
        sol = found.solution_
        if not np.isfinite(found.transform(dense)).all() or found.components_.shape != (d, X.shape[1]):
            raise Finding("scores are not finite, or components have the wrong shape")
    judge(sol, checker.Matrix(dense, kind, True), tol)
    sol.verify()


def streams(seed: int) -> None:
    """Learn by rows, by blocks, and resumed from a saved state: the same to the bit, at any scale."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** float(rng.choice([0, 0, -20, -5, 5, 20]))
    X = rng.standard_normal((int(rng.integers(4, 14)), int(rng.integers(3, 8)))) * scale
    algorithm = str(rng.choice(["online-t", "online-t", "online-p", "ftl"]))
    d, alpha = int(rng.integers(1, min(3, X.shape[1]))), float(rng.random()) * scale**2
    forgetting = float(rng.choice([1.0, 0.9]))

    def fresh() -> Any:
        return fantope.OnlineSparsePCA(d, alpha=alpha, algorithm=algorithm, forgetting=forgetting)

    whole, rows, resumed = fresh().partial_fit(X), fresh(), fresh()
    for row in X:
        rows.partial_fit(row[None])
    cut = int(rng.integers(1, len(X)))
    resumed.partial_fit(X[:cut])
    with tempfile.TemporaryDirectory() as folder:
        resumed.save(Path(folder) / "state")
        resumed = fantope.load(Path(folder) / "state")
    resumed.partial_fit(X[cut:])
    for other, how in ((rows, "by rows"), (resumed, f"resumed after {cut}")):
        if not np.array_equal(whole.components_, other.components_):
            raise Finding(f"{algorithm}, {how}: another answer than in one block")
    if not np.isfinite(whole.components_).all():
        raise Finding(f"{algorithm}: components are not finite")


def write_result(folder: Path, rng: np.random.Generator) -> tuple[Path, Any]:
    """Write a result of a small random problem, as `fantope fit` does; return its folder and the solution."""
    X = _data(rng)
    X = X if np.abs(X).max() < 1e6 else X / np.abs(X).max()
    np.save(folder / "data.npy", X)
    kind, d = str(rng.choice(["covariance", "correlation"])), int(rng.integers(1, X.shape[1]))
    data, S = operator(read(folder / "data.npy"), kind)  # type: ignore[arg-type]
    sol = fantope.solve(S, d, float(rng.random() * S.diagonal().max()), tol=1e-3)
    (folder / "out").mkdir()
    parameters = {"kind": kind, "center": True, "n_components": d, "tol": 1e-3}
    write_record(
        folder / "out",
        "fantope fit",
        data,
        folder / "out",
        Reading(),
        parameters,
        [write_solution(folder / "out", ".", sol)],
    )
    return folder / "out", sol


def _damage(file: Path, rng: np.random.Generator) -> str:
    """Damage a file; return how."""
    content = bytearray(file.read_bytes())
    how = str(rng.choice(["bits", "cut", "empty", "foreign", "grown", "pickle", "shape"]))
    if how == "bits":
        for _ in range(int(rng.integers(1, 9))):
            content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    elif how == "cut":
        del content[int(rng.integers(len(content))) :]
    elif how == "empty":
        content.clear()
    elif how == "foreign":
        content[:] = rng.bytes(len(content))
    elif how == "grown":
        content += rng.bytes(int(rng.integers(1, 99)))
    elif zipfile.is_zipfile(file):
        content = bytearray(_rewritten(file, how, rng))
    elif how == "pickle":
        content[:] = pickle.dumps(Planted())
    file.write_bytes(content)
    return how


def _rewritten(file: Path, how: str, rng: np.random.Generator) -> bytes:
    """Return an archive with one array replaced by a pickle, or by one of another shape or type."""
    out = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        chosen = names[int(rng.integers(len(names)))]
        for name in names:
            content = old.read(name)
            if name == chosen:
                other = io.BytesIO()
                array = np.array([Planted()], dtype=object) if how == "pickle" else _other_array(rng)
                np.save(other, array, allow_pickle=True)
                content = other.getvalue()
            new.writestr(name, content)
    return out.getvalue()


def _other_array(rng: np.random.Generator) -> Any:
    shape = tuple(rng.integers(0, 4, int(rng.integers(0, 4))))
    with np.errstate(invalid="ignore", over="ignore"):  # whatever not a number is as a whole one
        return np.full(shape, rng.choice([np.nan, np.inf, -1.0, 0.0, 1e300])).astype(
            rng.choice(["f8", "i8", "U3", "f4", "c16"])
        )


def files(seed: int) -> None:
    """Damage a file of a result, or a saved state: it is refused in a sentence, or what is read is still true."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        if rng.random() < 0.3:
            _damaged_state(Path(name) / "state", rng)
            return
        out, _ = write_result(Path(name), rng)
        if not verify_folder(out).holds or checker.main([str(out)]) != 0:
            raise Finding("a result as it was written is refused")
        victims = [*sorted(file for file in out.rglob("*") if file.is_file()), Path(name) / "data.npy"]
        victim = victims[int(rng.integers(len(victims)))]
        before = victim.read_bytes()
        how = _damage(victim, rng)
        changed = victim.read_bytes() != before and not _same_json(before, victim)
        for reader, accepted in ((_verify, "verify"), (read_result, "read_result")):
            try:
                held = reader(out)
            except REFUSALS:
                continue
            if changed and held and (accepted == "verify" or victim.suffix == ".npz"):
                raise Finding(f"{accepted} accepts {victim.name} after {how}")
        code = checker.main([str(out)])
        if changed and code == 0:
            raise Finding(f"the checker accepts {victim.name} after {how}")


def _verify(out: Path) -> bool:
    return verify_folder(out).holds


def _same_json(before: bytes, file: Path) -> bool:
    """Whether a record says the same as before, such as after a space was added."""
    try:
        return file.suffix == ".json" and json.loads(before) == json.loads(file.read_bytes())
    except ValueError:
        return False


def _damaged_state(file: Path, rng: np.random.Generator) -> None:
    algorithm = str(rng.choice(["online-t", "online-p", "ftl"]))
    X = rng.standard_normal((5, 4))
    fantope.OnlineSparsePCA(2, alpha=0.1, algorithm=algorithm).partial_fit(X).save(file)
    _damage(file, rng)
    try:
        found = fantope.load(file)
    except REFUSALS:
        return
    found.partial_fit(X)  # whatever was read: nothing may crash


def interrupts(seed: int) -> None:
    """Ctrl-C at a random call: an answer that says so and is proved, or KeyboardInterrupt and nothing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, int(rng.integers(4, 12))))
    S = X.T @ X / 20
    d, alpha = int(rng.integers(1, 3)), float(rng.random())
    try:
        with counted_calls(int(rng.integers(1, 400))):
            sol = fantope.solve(S, d, alpha, tol=1e-8)
    except KeyboardInterrupt:
        return
    if sol.status.name == "INTERRUPTED":
        sol.verify()
    else:
        judge(sol, checker.Matrix(0.5 * (S + S.T), "precomputed", False), 1e-8)
