"""`fantope verify` and the checker give the same verdict: on results that hold, and on results that were spoilt."""

import json
import os

import numpy as np
import pytest

import fantope
from checking import checker, reseal
from fantope.io import Reading, operator, read, verify_folder
from fantope.io.certificates import write_sealed
from fantope.io.results import write_record, write_solution
from fantope.penalties import WeightedL1

ROUNDS = int(os.environ.get("FANTOPE_ROUNDS", "100"))  # 2,000 have passed


def write_result(folder, rng):
    """Write a result of a small random problem, as `fantope fit` does; return the folder and the solution."""
    n, p = int(rng.integers(3, 12)), int(rng.integers(2, 9))
    X = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-3, 4)
    X[:, : p // 2] += X[:, [0]] * rng.integers(0, 3)
    kind = str(rng.choice(["covariance", "correlation", "precomputed"]))
    values = X.T @ X / n if kind == "precomputed" else X
    np.save(folder / "data.npy", values)
    data, S = operator(
        read(folder / "data.npy"), kind, center=bool(rng.integers(2)) if kind != "precomputed" else False
    )
    center = getattr(S, "center", False)
    d = int(rng.integers(1, p))
    alpha = float(rng.choice([0.0, 1.0, rng.random()]) * np.abs(S.diagonal()).max())
    penalty = alpha
    if rng.random() < 0.3:
        weights = rng.choice([0.0, 0.5, 1.0, 2.0], (p, p))
        weights = np.maximum(weights, weights.T)
        weights[0, 1] = weights[1, 0] = rng.choice([1.0, np.inf])
        penalty = WeightedL1(alpha, weights)
    tol = float(rng.choice([1e-2, 1e-4, 1e-6]))
    sol = fantope.solve(S, d, penalty, tol=tol, max_iter=int(rng.choice([3, 2000])))
    out = folder / "out"
    out.mkdir()
    parameters = {"kind": kind, "center": center, "n_components": d, "tol": tol}
    write_record(out, "fantope fit", data, out, Reading(), parameters, [write_solution(out, ".", sol)])
    return out, sol


def spoil(out, sol, rng):
    """Change one number of the certificate and all checksums; return what has become of it."""
    what = str(rng.choice(["nothing", "dual_bound", "objective", "X", "U", "alpha"]))
    if what in ("X", "U"):
        file = out / {"X": "solver.npz", "U": "certificate.npz"}[what]
        with np.load(file) as stored:
            arrays = dict(stored)
        name = {"X": "vectors", "U": "rows" if "rows" in arrays else "half"}[what]
        if arrays[name].size:
            bits = arrays[name].reshape(-1).view(np.uint64)
            bits[rng.integers(len(bits))] ^= np.uint64(1) << np.uint64(rng.integers(64))
        np.savez_compressed(file, **arrays)
    elif what != "nothing":
        for name in ("certificate.json", "run.json"):
            record = json.loads((out / name).read_text())
            claim = record["solutions"][0]
            if what == "alpha" and name == "certificate.json":
                claim["penalty"]["alpha"] *= 1.5
            elif what == "alpha":
                claim["alpha"] *= 1.5
            else:
                width = claim["dual_bound"] - claim["objective"]
                claim[what] += float(np.random.default_rng(sol.n_iter).choice([-3.0, -0.1, 0.1, 3.0])) * (
                    width + 1e-6 * abs(claim[what])
                )
                low, high = claim["objective"], claim["dual_bound"]
                scale = max(abs(low), abs(high))
                claim["gap"] = max(high - low, 0.0) / scale if scale else 0.0
            write_sealed(out / name, record)
    reseal(out)
    return what


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")  # a flipped exponent overflows, and that is refused
def test_both_programs_agree(tmp_path, capsys):
    for k in range(ROUNDS):
        rng = np.random.default_rng(k)
        folder = tmp_path / str(k)
        folder.mkdir()
        out, sol = write_result(folder, rng)
        exact = bool(rng.random() < 0.1)
        ours = verify_folder(out).holds
        theirs = checker.main([str(out), *(["--exact"] if exact else [])])
        assert ours and theirs == 0, f"seed {k}: {verify_folder(out).failures}, {capsys.readouterr().out}"
        what = spoil(out, sol, rng)
        ours, theirs = verify_folder(out).holds, checker.main([str(out)])
        assert theirs in (0, 1), f"seed {k}, {what}: {capsys.readouterr().out}"
        # `verify` compares X with projection.npz, to 1e-9; and it allows a bound a fiftieth of the width.
        if what in ("nothing", "alpha", "objective", "U"):
            assert ours == (theirs == 0), f"seed {k}, {what}: {verify_folder(out).failures}, {capsys.readouterr().out}"
        if theirs == 0 and what != "nothing":
            assert_true(out, sol)


def assert_true(out, sol):
    """What is accepted is true: the bracket that is claimed holds the optimum, by the solution before it was spoilt."""
    claim = json.loads((out / "certificate.json").read_text())["solutions"][0]
    scale = max(abs(sol.objective), abs(sol.dual_bound), float(np.abs(sol.covariance.diagonal()).max()), sol.alpha)
    scale *= sol.n_components  # the scale of all terms together
    assert claim["objective"] <= sol.dual_bound + 2e-9 * scale
    assert claim["dual_bound"] >= sol.objective - 2e-9 * scale


def test_almost_all_of_the_trace(tmp_path, capsys):
    """The optimum, 0, is a difference of terms of d in all, and what rounding may do to these is proved of it."""
    p, d = 47, 45
    np.save(tmp_path / "data.npy", -np.ones((p, p)))
    data, S = operator(read(tmp_path / "data.npy"), "precomputed", center=False)
    sol = fantope.solve(S, d, 0.0)
    out = tmp_path / "out"
    out.mkdir()
    parameters = {"kind": "precomputed", "center": False, "n_components": d, "tol": 1e-4}
    write_record(out, "fantope fit", data, out, Reading(), parameters, [write_solution(out, ".", sol)])
    assert checker.main([str(out)]) == 0, capsys.readouterr().out
    assert verify_folder(out).holds
