import numpy as np
import pandas as pd
import pytest

import fantope
from fantope.coexpression.analysis.correlation import rewrite
from fantope.coexpression.analysis.halves import match
from fantope.coexpression.analysis.modules import describe_modules, eigengene, find_modules, loadings_of


def directions(sizes, seed=0, noise=0.05):
    """Loadings of len(sizes) modules on as many components, with lengths that differ widely."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.eye(len(sizes)), sizes, axis=0) + noise * rng.standard_normal((sum(sizes), len(sizes)))
    return rows * rng.uniform(0.05, 1.0, (sum(sizes), 1)), np.repeat(np.arange(len(sizes)), sizes)


def test_directions_count_and_lengths_do_not():
    rows, truth = directions((8, 12, 6))
    found = find_modules(rows)
    assert [int((found.labels == k).sum()) for k in range(3)] == [12, 8, 6]  # by descending size
    assert len(set(zip(found.labels, truth, strict=True))) == 3
    chosen = found.choice[found.choice["chosen"]]
    assert chosen["k"].tolist() == [3] and list(found.choice["k"]) == [2, 3, 4, 5, 6, 7]
    assert chosen["silhouette"].item() == found.choice.loc[found.choice["smallest"] >= 5, "silhouette"].max()


def test_opposite_signs_are_apart():
    rows = np.array([[0.5], [0.2], [-0.4], [0.9], [-0.1]])
    assert find_modules(rows).labels.tolist() == [0, 0, 1, 0, 1]


def test_numbers_that_are_given():
    rows, _ = directions((8, 12, 6))
    found = find_modules(rows, 5)
    assert found.choice["k"].tolist() == [5] and found.names == ("M1", "M2", "M3", "M4", "M5")
    coarse = find_modules(rows, 3).labels
    assert len(set(zip(found.labels, coarse, strict=True))) == 5  # nested: each of the five lies in one of the three
    assert find_modules(np.ones((4, 1)), 3).names == ("M1",)  # one direction only
    with pytest.raises(ValueError, match="n_modules must be a whole number, 1 or larger, got 0"):
        find_modules(rows, 0)


@pytest.mark.slow
def test_tiny_modules_are_not_chosen():
    rows, _ = directions((20, 20, 2), noise=0.01)
    assert find_modules(rows).choice.query("chosen")["smallest"].item() >= 5
    assert find_modules(np.eye(3)).labels.max() == 1  # nothing has five genes: as few as possible


def test_loadings_give_back_the_projection():
    sim = fantope.simulate(60, 40, sizes=(8, 6))
    solution = fantope.solve(sim.Z.T @ sim.Z / 60, 3, 0.5)
    L = loadings_of(solution)
    X = solution.projection[solution.support][:, solution.support].toarray()
    np.testing.assert_allclose(L @ L.T, X, atol=1e-12)


def test_eigengene_is_the_first_component():
    rng = np.random.default_rng(0)
    f = rng.standard_normal(50)
    X = f[:, None] * rng.uniform(0.5, 1.0, 7) + 0.3 * rng.standard_normal((50, 7))
    Z = rewrite(X, "pearson")
    vector, explained = eigengene(Z)
    values = np.linalg.eigvalsh(np.corrcoef(X, rowvar=False))
    assert explained == pytest.approx(values[-1] / 7)
    assert np.corrcoef(vector, f)[0, 1] > 0.9  # and not −0.9
    assert eigengene(-Z)[0] @ f < 0  # the sign follows the genes


def test_description():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 6))
    X[:, :4] += 3 * rng.standard_normal((40, 1))
    genes, samples = pd.Index(list("abcdef")), pd.RangeIndex(40)
    modules = find_modules(np.array([[1, 0], [1, 0], [1, 0], [1, 0], [0, 1], [0, 1]], dtype=float), 2)
    by_gene, by_module, eigengenes = describe_modules(rewrite(X, "pearson"), modules, genes, samples)
    assert by_module["module"].tolist() == ["M1", "M2"] and by_module["n_genes"].tolist() == [4, 2]
    np.testing.assert_allclose(eigengenes.std(ddof=0), 1.0)
    for row in by_gene.itertuples():
        direct = np.corrcoef(X[:, genes.get_loc(row.gene)], eigengenes[row.module])[0, 1]
        assert row.kme == pytest.approx(direct)
    first = by_gene[by_gene["module"] == "M1"].sort_values("hub_rank")
    assert first["kme"].is_monotonic_decreasing
    assert by_module["hubs"][0] == ", ".join(first["gene"])
    inner = np.corrcoef(X[:, :4], rowvar=False)
    assert by_module["mean_correlation"][0] == pytest.approx((inner.sum() - 4) / 12)


def test_modules_of_halves_take_the_names_of_the_whole():
    rows, _ = directions((12, 8, 6), noise=0.0)
    whole = find_modules(rows, 3)
    genes = np.arange(26)
    half = np.r_[12:20, 20:26, 100:120]  # the second and third module, and something else
    labels = find_modules(np.repeat(np.eye(3), (8, 6, 20), axis=0), 3)
    names, shares = match(half, labels, genes, whole)
    assert names == ("new 1", "M2", "M3") and shares == (0.0, 1.0, 1.0)
