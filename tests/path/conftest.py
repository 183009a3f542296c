import pytest

import fantope
from fantope.operators import DataCovariance


@pytest.fixture(scope="module")
def data():
    return fantope.simulate(80, 120, sizes=(12, 8), random_state=3).Z


@pytest.fixture(scope="module")
def S(data):
    return data.T @ data / len(data)


@pytest.fixture
def scans(monkeypatch):
    """The alphas at which data are scanned; any scan that serves one alpha alone fails."""
    seen = []
    scan = DataCovariance.graph
    monkeypatch.setattr(DataCovariance, "graph", lambda self, alpha: seen.append(alpha) or scan(self, alpha))
    monkeypatch.setattr(DataCovariance, "component_labels", None)
    return seen
