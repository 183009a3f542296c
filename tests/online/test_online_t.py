"""Online-T against Algorithm 2 written out with full decompositions, and what must hold of its state."""

import os
import subprocess
import sys

import numpy as np
import pytest

from fantope.online import OnlineT, fantope_distance
from fantope.simulation import simulate


def soft(X, t):
    return X - np.clip(X, -t, t)


def algorithm_2(Z, d, alpha, step_size, nu, clip):
    """The paper's steps, one by one, with numpy's eigh: (iterates, thresholded matrices)."""
    p = Z.shape[1]
    X, iterates = np.zeros((p, p)), []
    for t, z in enumerate(Z, 1):
        step = step_size if t == 1 else step_size / np.sqrt(t - 1)
        X = soft(X, step * alpha)
        values, vectors = np.linalg.eigh(X)
        high, low = step * nu * np.sqrt(p * d), step * nu * p
        top, bottom = vectors[:, -1], vectors[:, 0]
        if values[-1] > 1:
            X = X - (min(high, values[-1] - 1) if clip else high) * np.outer(top, top)
        if values[0] < 0:
            X = X + (min(low, -values[0]) if clip else low) * np.outer(bottom, bottom)
        s = (d - np.trace(X)) / p
        if s != 0:
            X = X + min(step * nu / (np.sqrt(d + 1) * abs(s)), 1.0) * s * np.eye(p)
        X = X + step * np.outer(z, z)
        X = X * min(1.0, np.sqrt(d) / np.linalg.norm(X))
        iterates.append(X)
    return iterates


@pytest.mark.slow
@pytest.mark.parametrize("clip", [True, False])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_iterates_are_those_of_the_paper(clip, storage):
    # 20 variables: the search space can hold all of them, so the eigenvectors are exact.
    Z = np.random.default_rng(3).standard_normal((25, 20)) * np.linspace(3.0, 0.5, 20)
    nu = 12.0 if clip else 0.05
    expected = algorithm_2(Z, 2, 0.3, 0.02, nu, clip)
    learner = OnlineT(20, 2, 0.3, step_size=0.02, nu=nu, correction="clipped" if clip else "paper", storage=storage,
                      eigen_tol=1e-13)  # fmt: skip
    for z, X in zip(Z, expected, strict=True):
        learner.update_many(z[None])
        np.testing.assert_allclose(learner.iterate(), X, atol=5e-6)
    if storage == "dense":
        np.testing.assert_allclose(learner.average_iterate(), np.mean(expected, axis=0), atol=5e-6)


@pytest.mark.slow
def test_the_sparse_mean_is_that_of_the_thresholded_iterates():
    Z = simulate(60, 40).Z
    learner = OnlineT(40, 2, 2.0, step_size=0.02, storage="sparse")
    kept = []
    for z in Z:
        learner.update_many(z[None])
        kept.append(soft(learner.iterate(), learner.next_step * 2.0))
    np.testing.assert_allclose(learner.average_iterate(), np.mean(kept, axis=0), atol=1e-12)


def test_the_trace_step_is_the_prox_of_its_penalty():
    """min over κ of α·c·|tr X + pκ − d| + ½pκ², c = ν/√(d + 1), by brute force."""
    p, d, nu, step = 6, 2, 0.3, 0.1
    for trace in (0.0, 1.9, 5.0):
        kappa = np.linspace(-1, 1, 200_001)
        value = step * nu / np.sqrt(d + 1) * np.abs(trace + p * kappa - d) + 0.5 * p * kappa**2
        s = (d - trace) / p
        beta = step * nu / (np.sqrt(d + 1) * abs(s))
        assert min(beta, 1.0) * s == pytest.approx(kappa[value.argmin()], abs=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"storage": "sparse"}, {"forgetting": 0.97}, {"average": False}])
def test_blocks_equal_rows_bit_for_bit(options):
    Z = simulate(300, 36).Z
    whole, single = OnlineT(36, 2, 0.5, **options), OnlineT(36, 2, 0.5, **options)
    for start in (0, 1, 40, 41, 290):
        end = {0: 1, 1: 40, 40: 41, 41: 290, 290: 300}[start]
        whole.update_many(Z[start:end])
    for z in Z:
        single.update_many(z[None])
    for key, value in whole.state().items():
        np.testing.assert_array_equal(value, single.state()[key], err_msg=key)


@pytest.mark.slow
def test_it_finds_sparse_components_on_long_streams():
    sim = simulate(12_000, 100)
    learner = OnlineT(100, 2, 0.05)
    learner.update_many(sim.Z)
    X = learner.estimate()
    assert np.linalg.norm(X.matrix(100).toarray() - sim.projection) < 0.2
    assert set(range(35)) <= set(X.rows.tolist()) and len(X.rows) <= 60
    assert fantope_distance(X.matrix(100).toarray(), 2) < 1e-9


@pytest.mark.slow
def test_forgetting_follows_a_change_that_memory_does_not():
    old, new = simulate(3000, 60, random_state=1), simulate(3000, 60, random_state=2)
    mixed = np.vstack([old.Z, new.Z[:, ::-1]])
    truth = new.projection[::-1, ::-1]
    errors = {}
    for forgetting in (1.0, 0.998):
        learner = OnlineT(60, 2, 0.05, forgetting=forgetting)
        learner.update_many(mixed)
        errors[forgetting] = np.linalg.norm(learner.estimate().matrix(60).toarray() - truth)
    assert errors[0.998] < 0.6 * errors[1.0]


def test_sparse_storage_follows_the_non_zeros():
    rng = np.random.default_rng(0)
    learner = OnlineT(5000, 2, 9.0, storage="sparse", average=False)
    for _ in range(10):
        z = rng.standard_normal(5000)
        z[:5] += 5 * rng.standard_normal()
        learner.update_many(z[None])
    assert 0 < len(learner.data) < 20_000
    assert learner.estimate().rows.size < 5000


def test_zero_samples_and_bad_options():
    learner = OnlineT(10, 2, 0.1)
    learner.update_many(np.zeros((5, 10)))
    assert np.isfinite(learner.iterate()).all()
    learner.update_many(np.ones((3, 10)))
    assert np.isfinite(learner.iterate()).all()
    with pytest.raises(ValueError, match="forgetting must be above 0"):
        OnlineT(10, 2, 0.1, forgetting=0.0)
    with pytest.raises(ValueError, match="correction must be"):
        OnlineT(10, 2, 0.1, correction="x")
    with pytest.raises(ValueError, match="storage must be"):
        OnlineT(10, 2, 0.1, storage="x")


@pytest.mark.slow
def test_kernels_from_the_cache_serve_both_storages(tmp_path):
    """Each process finds what those before it compiled; a call into a parallel build crashed the third one."""
    code = """
import sys
import numpy as np
from fantope.online import OnlineT
OnlineT(50, 1, 0.1, storage=sys.argv[1]).update_many(np.random.default_rng(0).standard_normal((5, 50)))
"""
    for storage in ("dense", "sparse", "sparse"):
        subprocess.run(
            [sys.executable, "-c", code, storage], check=True, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
        )
