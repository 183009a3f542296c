import numpy as np
import pandas as pd
import pytest

import fantope
from fantope.coexpression import analyse
from fantope.coexpression.analysis.estimate import estimated_cost
from fantope.coexpression.analysis.two_sample import leading_difference


def test_time_and_memory_are_estimated_and_solves_counted():
    said = []
    X = fantope.simulate(60, 80, sizes=(12, 8)).Z
    table = pd.DataFrame(X, columns=[f"G{j}" for j in range(80)])
    analyse(table, n_components=2, alphas=[0.5, 0.4], permutations=0, progress=lambda event: said.append(str(event)))
    assert said[0].startswith("80 genes, 60 samples: 10 s to ") and said[0].endswith("the same command goes on")
    assert said[1].startswith("all: solve 1 of at most 2, alpha = 0.5")
    assert any("gap " in text and " after " in text for text in said)


def test_more_groups_and_permutations_take_longer():
    scans = []
    said = estimated_cost([50, 50], 5000, 100, 0, lambda: scans.append(1))
    assert len(scans) == 1 and "5,000 genes, 50 and 50 samples" in said and " GB" in said


@pytest.mark.slow
def test_the_statistic_is_within_its_gap_whatever_the_sign():
    rng = np.random.default_rng(0)
    for _ in range(4):
        A = 0.2 * rng.standard_normal((30, 30))
        D = A + A.T
        np.fill_diagonal(D, 0.0)
        found, turned = leading_difference(D, 0.3), leading_difference(-D, 0.3)
        assert found.sign == -turned.sign and abs(found.value - turned.value) <= 1e-9
        exact = max(fantope.solve(sign * D, 1, 0.3, tol=1e-6).objective + 0.3 for sign in (1, -1))
        assert 0.95 * exact - 1e-9 <= found.value <= exact + 1e-6
