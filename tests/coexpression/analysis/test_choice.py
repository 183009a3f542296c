import numpy as np
import pandas as pd
import pytest

from fantope.coexpression import analyse
from fantope.coexpression.analysis import choice
from fantope.coexpression.analysis.choice import check_rule, group_alphas
from fantope.coexpression.analysis.paths import GroupPath
from fantope.coexpression.analysis.pipeline import limits

ALPHAS = [round(0.9 - 0.04 * k, 2) for k in range(15)]


def factors(sizes, seed, p=150, n_factors=6):
    """Overlapping factors with heavy tails: sets grow gradually as alpha falls."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    loadings = rng.standard_normal((p, n_factors)) * (rng.random((p, n_factors)) < 0.25) * 2.0
    X = rng.standard_t(4, (n, n_factors)) @ loadings.T + rng.standard_t(4, (n, p)) * rng.gamma(2.0, 0.4, p)
    index = [f"s{i}" for i in range(n)]
    groups = pd.Series(np.repeat([f"group {k}" for k in range(len(sizes))], sizes), index=index)
    return pd.DataFrame(X, index=index, columns=[f"g{j}" for j in range(p)]), groups


def run(table, groups, **options):
    settings = {"n_components": 3, "alphas": ALPHAS, "permutations": 0, "min_genes": 15, "max_genes": 60}
    return analyse(table, groups, **(settings | options))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sizes", [(40,), (40, 35)])
def test_a_loose_walk_chooses_what_a_tight_one_does(sizes, seed, monkeypatch):
    table, groups = factors(sizes, seed)
    loose = run(table, groups, tol=2e-5)  # at 2e-4 a set of 30 may have a gene more or less, however it is reached
    monkeypatch.setattr(choice, "LOOSE", 0.0)
    tight = run(table, groups, tol=2e-5)
    if loose.alpha != tight.alpha:  # a tie, up to the gene more or less that any gap leaves open
        if len(sizes) == 1:  # the smaller alpha has as many genes as it may, and beyond them none would be chosen
            last = min(loose, tight, key=lambda found: found.alpha)
            assert last.selection.set_index("alpha").loc[last.alpha, "n_group 0"] >= 0.95 * 60
        else:
            overlaps = tight.selection.set_index("alpha")["overlap"]
            assert overlaps[loose.alpha] >= overlaps[tight.alpha] - 0.02
        return
    for name, group in loose.groups.items():
        assert group.solution.gap <= 2e-5
        assert len(set(group.genes["gene"]) ^ set(tight.groups[name].genes["gene"])) <= 0.1 * len(group.genes)


def test_rules():
    assert check_rule("auto", {"a": 95, "b": 33}) == "noise"
    assert check_rule("auto", {"a": 72, "b": 60}) == "paper"
    assert check_rule("size", {"a": 1}) == "size"
    with pytest.raises(ValueError, match="match must be one of 'auto', 'paper', 'noise', 'size', got 'fair'"):
        check_rule("fair", {"a": 1})


def test_noise_of_a_smaller_group_is_larger():
    n, alphas = {"a": 90, "b": 30}, [0.9, 0.6, 0.3]
    assert group_alphas(alphas, n, 1000, "paper") == {"a": alphas, "b": alphas}
    found = group_alphas(alphas, n, 1000, "noise")
    assert found["a"] == alphas
    assert (np.diff(found["b"]) < 0).all() and max(found["b"]) < 1.0
    # Chance alone: the largest of 1,000 independent correlations is reached at about the same row in both groups.
    rng = np.random.default_rng(0)
    largest = {}
    for name, size in n.items():
        x, Y = rng.standard_normal((20, size)), rng.standard_normal((size, 1000))
        Y = (Y - Y.mean(0)) / Y.std(0)
        x = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
        largest[name] = np.abs(x @ Y / size).max(axis=1).mean()
    (matched,) = group_alphas([largest["a"]], n, 1000, "noise")["b"]
    assert matched == pytest.approx(largest["b"], abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["noise", "size"])
def test_groups_of_unequal_size(rule):
    table, groups = factors((90, 30), 1)
    found = run(table, groups, match=rule)
    small, large = found.groups["group 1"], found.groups["group 0"]
    assert large.solution.alpha == found.alpha < small.solution.alpha
    assert found.parameters["match"] == rule
    chosen = found.selection[found.selection["chosen"]].iloc[0]
    assert chosen["alpha_group 1"] == small.solution.alpha
    paper = run(table, groups, match="paper", max_genes=100)
    assert "alpha_group 1" not in paper.selection
    ratio = {name: found.selection[f"n_{name}"].sum() for name in found.groups}
    assert ratio["group 1"] / ratio["group 0"] < (
        paper.selection["n_group 1"].sum() / paper.selection["n_group 0"].sum()
    )


@pytest.mark.slow
def test_few_eligible_alphas_are_pointed_out():
    table, groups = factors((40, 35), 0)
    found = run(table, groups, alphas=[0.9, 0.7, 0.5])
    assert any("little to choose from" in note for note in found.notes)
    assert not any("little to choose from" in note for note in run(table, groups).notes)


@pytest.mark.slow
def test_limits_follow_the_number_of_genes(monkeypatch):
    assert limits(None, None, 13_822, 5) == (50, 300)
    assert limits(None, 20, 13_822, 5) == (20, 20)
    assert limits(None, None, 60, 5) == (10, 30)
    assert limits(None, None, 3, 2) == (1, 1)
    table, groups = factors((40, 35), 0, p=60)
    assert len(run(table, groups, min_genes=None, max_genes=None).groups["group 0"].genes) <= 30
    monkeypatch.setattr(GroupPath, "advance", lambda *args: pytest.fail("solved"))
    with pytest.raises(ValueError, match="min_genes must be at most 60, the number of genes, got 61"):
        run(table, groups, min_genes=61, max_genes=70)
    with pytest.raises(ValueError, match="the smallest, 2 genes of 'group 0' have a partner"):
        run(table, groups, alphas=[0.99, 0.98])


@pytest.mark.slow
def test_genes_without_a_partner_do_not_choose_alpha():
    # Above every correlation each group has the first d genes, which the order of the table decides: an overlap of 1.
    table, groups = factors((40, 35), 0, p=60)
    found = run(table, groups, alphas=[0.995, 0.6, 0.5], n_components=5, min_genes=4, max_genes=50)
    assert found.alpha < 0.9 and found.selection.set_index("alpha")["n_group 0"][0.995] == 0


@pytest.mark.slow
def test_components_that_single_genes_fill_are_pointed_out():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 40))
    X[:, :10] += 3.0 * rng.standard_normal((50, 1))
    table = pd.DataFrame(X, columns=[f"g{j}" for j in range(40)])
    found = analyse(table, n_components=3, alphas=[0.8, 0.7], min_genes=5, max_genes=20)
    group = found.groups["all"]
    assert found.selection["n_all"].max() == 10 == len(group.genes) < len(group.solution.support)
    assert group.modules["n_genes"].sum() == 10 and len(group.components) == 1 and group.modules.notna().all(axis=None)
    assert any("fewer than 3 components have genes" in note for note in found.notes)
