"""What the penalties are for: curves from a known truth, and stocks by sector."""

from pathlib import Path

import numpy as np
import pytest

import fantope
from fantope.penalties import L1, Group, NonNegative, Smooth, Trend

pytestmark = pytest.mark.slow
STOCKS = Path(__file__).parents[3] / "shared" / "data" / "sp500_returns_2000_2016.npz"

T = np.linspace(0, 1, 100)
BUMPS = [np.exp(-0.5 * ((T - 0.3) / 0.04) ** 2), np.where(abs(T - 0.7) < 0.12, np.sin((T - 0.7) / 0.12 * np.pi), 0.0)]
STEPS = [1.0 * (abs(T - 0.3) < 0.08), np.where(abs(T - 0.7) < 0.1, np.sign(T - 0.7 + 1e-9), 0.0)]


def nearest(shapes, penalties, seed):
    """Return the smallest error over some penalties, and the share of those components outside the truth."""
    truth = np.array([shape / np.linalg.norm(shape) for shape in shapes])
    rng = np.random.default_rng(seed)
    curves = (rng.standard_normal((50, 2)) * (3.0, 2.0)) @ truth + 0.5 * rng.standard_normal((50, len(T)))
    S = np.cov(curves, rowvar=False)
    found = [fantope.solve(S, 2, penalty, tol=1e-3).components for penalty in penalties]
    outside = (truth**2).sum(axis=0) < 1e-6
    errors = [(np.linalg.norm(V.T @ V - truth.T @ truth), (V[:, outside] ** 2).sum()) for V in found]
    return min(errors)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("shapes", "own"),
    [(BUMPS, [Smooth(0.05, 30.0), Smooth(0.1, 100.0)]), (STEPS, [Trend(0.1, l1=0.3), Trend(0.2, l1=0.3)])],
    ids=["smooth", "trend"],
)
def test_nearer_to_the_truth_than_the_l1_norm_and_functional_pca(shapes, own, seed):
    error, leaked = nearest(shapes, own, seed)
    plain = nearest(shapes, [L1(alpha) for alpha in (0.03, 0.05, 0.1, 0.2)], seed)
    functional = nearest(shapes, [Smooth(0.0, rho) for rho in (1.0, 10.0, 30.0, 100.0)], seed)
    assert error < 0.8 * plain[0] and error < 0.8 * functional[0]
    assert leaked < plain[1] and leaked < functional[1]


@pytest.mark.skipif(not STOCKS.exists(), reason=f"needs {STOCKS.name}")
def test_sectors_come_whole():
    with np.load(STOCKS) as stored:
        R, sector = stored["R"].astype(float), stored["sector"]
    complete = np.isfinite(R).all(axis=0)
    R, sector = np.clip(R[-1000:, complete], -0.2, 0.2), sector[complete]
    Z = (R - R.mean(axis=0)) / R.std(axis=0)
    market = np.linalg.svd(Z, full_matrices=False)[0][:, :1]
    S = np.corrcoef(Z - market @ (market.T @ Z), rowvar=False)
    penalty = Group(1.0, sector)
    sol = fantope.solve(S, 3, penalty.scaled(0.9 * fantope.alpha_max(S, 3, penalty)), tol=1e-3)
    sol.verify(S)
    assert sorted(set(sector[sol.support])) == ["Energy", "Real Estate", "Utilities"]
    assert len(sol.support) == np.isin(sector, ["Energy", "Real Estate", "Utilities"]).sum()
    parts = fantope.solve(S, 3, NonNegative(0.3), tol=1e-3)
    parts.verify(S)
    assert parts.projection.toarray().min() >= 0.0
    assert fantope.solve(S, 3, 0.3, tol=1e-3).projection.toarray().min() < -1e-3
