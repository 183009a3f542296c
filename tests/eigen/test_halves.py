"""Eigenpairs by two halves of the tridiagonal matrix, against what eigenpairs are."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fantope.eigen import halves
from fantope.eigen.halves import eigh_in_halves
from fantope.kernels.build import TWO_CORES


def rotated(values, seed=0):
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    G = (V * values) @ V.T
    return 0.5 * (G + G.T)


def wilkinson(n):
    """Return a tridiagonal matrix whose eigenvalues come in pairs that agree to many digits."""
    beside = np.ones(n - 1)
    return np.diag(np.abs(np.arange(n) - (n - 1) / 2)) + np.diag(beside, 1) + np.diag(beside, -1)


def in_two_blocks(n):
    G = rotated(np.linspace(-1.0, 1.0, n))
    G[: n // 2, n // 2 :] = G[n // 2 :, : n // 2] = 0.0
    return G


def low_rank(n):
    F = np.random.default_rng(3).standard_normal((n, 7))
    return F @ F.T


KINDS = {
    "spread": lambda n: rotated(np.linspace(-1.0, 3.0, n)),
    "one cluster": lambda n: rotated(np.r_[np.full(n - 5, 1.0), np.arange(5.0)]),
    "two signs": lambda n: rotated(np.where(np.arange(n) % 2 == 0, 1.0, -1.0)),
    "low rank": low_rank,
    "graded": lambda n: rotated(np.logspace(-30, 0, n)),
    "wilkinson": wilkinson,
    "two blocks": in_two_blocks,
    "diagonal": lambda n: np.diag(np.random.default_rng(1).standard_normal(n)),
    "identity": np.eye,
    "zero": lambda n: np.zeros((n, n)),
    "ones": lambda n: np.ones((n, n)),
    "tiny": lambda n: 1e-200 * rotated(np.linspace(-1.0, 3.0, n)),
    "huge": lambda n: 1e200 * rotated(np.linspace(-1.0, 3.0, n)),
}


def check(G, values, V):
    n, rounding = len(G), np.finfo(G.dtype).eps
    size = max(float(np.abs(values).max()), np.finfo(G.dtype).tiny)
    G, values, V = G.astype(np.float64) / size, values.astype(np.float64) / size, V.astype(np.float64)
    assert (np.diff(values) >= 0.0).all()
    assert np.abs(V.T @ V - np.eye(n)).max() < 50.0 * np.sqrt(n) * rounding
    assert np.linalg.norm(G @ V - V * values, 2) < 50.0 * np.sqrt(n) * rounding
    np.testing.assert_allclose(values, np.linalg.eigvalsh(G), rtol=0.0, atol=50.0 * np.sqrt(n) * rounding)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [TWO_CORES - 1, TWO_CORES, TWO_CORES + 1, 331])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_these_are_the_eigenpairs(kind, n, precision):
    if precision == np.float32 and kind in ("tiny", "huge"):
        pytest.skip("not a number of single precision")
    G = KINDS[kind](n).astype(precision)
    before = G.copy()
    values, V = eigh_in_halves(G)
    assert values.dtype == V.dtype == precision
    np.testing.assert_array_equal(G, before)
    check(G, values, V)


@given(
    st.integers(TWO_CORES, TWO_CORES + 60),
    st.integers(0, 2**32 - 1),
    st.sampled_from([np.float32, np.float64]),
    st.floats(0.0, 1.0),
    st.integers(-6, 6),
)
@settings(max_examples=25, deadline=None)
def test_whatever_deflates(n, seed, precision, share, power):
    """Some eigenvalues are equal, some rows are apart from all others."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(n)
    values[rng.random(n) < share] = 0.25
    G = rotated(values, seed)
    apart = rng.random(n) < 0.2 * share
    G[apart] = G[:, apart] = 0.0
    G = (10.0**power * G).astype(precision)
    check(G, *eigh_in_halves(G))


HASHED = """
import hashlib, numpy as np
from fantope.eigen.halves import eigh_in_halves
F = np.random.default_rng(0).standard_normal((300, 300))
found = hashlib.sha256()
for precision in (np.float32, np.float64):
    for part in eigh_in_halves((F + F.T).astype(precision)):
        found.update(part.tobytes())
print(found.hexdigest())
"""


def test_the_number_of_cores_changes_no_bit():
    """In processes of their own: tests may have one thread only."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_NUM")}
    found = set()
    for threads in ("1", "2"):
        command = [sys.executable, "-c", HASHED]
        run = subprocess.run(command, env=environment | {"NUMBA_NUM_THREADS": threads}, capture_output=True, check=True)
        found.add(run.stdout)
    assert len(found) == 1


def test_halves_are_merged_where_that_pays(monkeypatch):
    """Otherwise every test here would pass by LAPACK alone."""
    seen = []
    monkeypatch.setattr(halves, "_merge", lambda *args, _merge=halves._merge: seen.append(_merge(*args)) or seen[-1])
    eigh_in_halves(KINDS["spread"](TWO_CORES - 1))
    assert not seen
    eigh_in_halves(KINDS["spread"](TWO_CORES))
    assert seen[0] is not None
    eigh_in_halves(KINDS["identity"](TWO_CORES))
    assert seen[1] is None
