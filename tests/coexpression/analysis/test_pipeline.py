import numpy as np
import pandas as pd
import pytest

from fantope.coexpression import analyse
from fantope.coexpression.analysis.modules import genes_in_use
from fantope.coexpression.analysis.paths import GroupPath, grid
from fantope.io import Cache
from fantope.path.walk import Walk

OPTIONS = {"n_components": 2, "alphas": [0.7, 0.6, 0.5, 0.4], "min_genes": 10, "max_genes": 40, "permutations": 20}


def expression(n_groups=2, n=30, seed=0):
    """Modules of 12 and 8 genes in all groups; the first group has one of 10 of its own."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n * n_groups, 80))
    X[:, :12] += 2.5 * rng.standard_normal((len(X), 1))
    X[:, 12:20] += 2.5 * rng.standard_normal((len(X), 1))
    X[:n, 20:30] += 2.5 * rng.standard_normal((n, 1))
    index = [f"s{i}" for i in range(len(X))]
    groups = pd.Series(np.repeat([f"group {k}" for k in range(n_groups)], n), index=index)
    return pd.DataFrame(X, index=index, columns=[f"g{j}" for j in range(80)]), groups


@pytest.fixture(scope="module")
def two():
    table, groups = expression()
    return table, groups, analyse(table, groups, labels={"truth": truth()}, **(OPTIONS | {"n_components": 3}))


def truth():
    return pd.Series(["A"] * 12 + ["B"] * 8 + ["C"] * 10, index=[f"g{j}" for j in range(30)])


def test_selection_is_the_papers_rule(two):
    *_, found = two
    table = found.selection
    for row in table.itertuples():
        sets = [set(genes_in_use(group.path[row.Index])) for group in found.groups.values()]
        assert row.overlap == pytest.approx(len(sets[0] & sets[1]) / len(sets[0] | sets[1]))
        assert row.eligible == all(10 <= len(active) <= 40 for active in sets)
    eligible = table[table["eligible"]]
    assert found.alpha == eligible.loc[eligible["overlap"].idxmax(), "alpha"]
    assert table.loc[table["chosen"], "alpha"].tolist() == [found.alpha]
    gaps = table[["gap_group 0", "gap_group 1"]]
    assert (gaps.to_numpy() <= 1e-2).all() and (gaps[table["chosen"]].to_numpy() <= 1e-3).all()


def test_solutions_are_certified_over_all_genes(two):
    *_, found = two
    for group in found.groups.values():
        assert group.solution.n_features == len(found.gene_names) == 80
        group.solution.verify()


def test_common_and_specific_genes(two):
    *_, found = two
    assert set(found.common) >= {f"g{j}" for j in range(12)}
    assert len(set(found.specific["group 0"]) & {f"g{j}" for j in range(20, 30)}) >= 5
    for name, group in found.groups.items():
        specific = set(group.genes.loc[group.genes["specific"], "gene"])
        assert specific == set(found.specific[name])
        assert not specific & set(found.common)


def test_tables_of_a_group(two):
    table, groups, found = two
    group = found.groups["group 0"]
    assert list(group.genes.columns) == [
        "gene", "module", "leverage", "kme", "hub_rank", "specific", "proven", "remark", "pc1", "pc2", "pc3",
        "sparse1", "sparse2", "sparse3",
    ]  # fmt: skip
    assert group.genes["leverage"].sum() == pytest.approx(3.0)
    pcs, sparse = (group.genes[[f"{basis}{k}" for k in (1, 2, 3)]].to_numpy() for basis in ("pc", "sparse"))
    np.testing.assert_allclose(sparse @ sparse.T, pcs @ pcs.T, atol=1e-12)
    np.testing.assert_allclose(sparse.T @ sparse, np.eye(3), atol=1e-12)
    assert np.abs(sparse).sum() <= np.abs(pcs).sum()
    assert group.genes["proven"].tolist() == group.solution.verdicts()[group.solution.support].tolist()
    assert set(group.genes["remark"]) == {""}
    assert group.modules["n_genes"].sum() == len(group.genes)
    for row in group.modules.itertuples():
        weights = (sparse[(group.genes["module"] == row.module).to_numpy()] ** 2).sum(axis=0)
        assert row.component == weights.argmax() + 1
        assert row.component_share == pytest.approx(weights.max() / weights.sum())
    assert group.components["n_genes"].sum() == len(group.genes)
    variances = group.solution.loading_variances("sparse")
    np.testing.assert_allclose(group.components["explained_variance"], variances, rtol=1e-9)
    np.testing.assert_allclose(group.components["share"], variances / len(found.gene_names), rtol=1e-9)
    assert list(group.eigengenes.index) == list(groups.index[groups == "group 0"])
    chosen = pd.Index(["g0", "g1", "g25"])
    direct = np.corrcoef(table.loc[groups == "group 0", chosen].to_numpy(), rowvar=False)
    np.testing.assert_allclose(group.correlation(chosen), direct, atol=1e-12)
    with pytest.raises(ValueError, match="some group uses, got 'unheard of'"):
        group.correlation(pd.Index(["unheard of"]))
    (cross,) = group.cross_tables
    assert cross.purity["purity"].min() > 0.9


def test_same_genes_in_the_expression_of_all_groups(two):
    *_, found = two
    columns = [list(group.expression.columns) for group in found.groups.values()]
    assert columns[0] == columns[1]
    used = set().union(*(group.genes["gene"] for group in found.groups.values()))
    assert used == set(columns[0])


@pytest.mark.slow
def test_one_group_alone_takes_the_largest_set():
    table, groups = expression(1)
    found = analyse(table, groups, **OPTIONS)
    eligible = found.selection[found.selection["eligible"]]
    assert found.alpha == eligible["alpha"].min()
    assert found.differential == () and found.selection["overlap"].isna().all()
    assert len(found.specific["group 0"]) == 0


@pytest.mark.slow
def test_three_groups_are_compared_in_pairs():
    table, groups = expression(3)
    found = analyse(table, groups, **OPTIONS)
    assert [(pair.first, pair.second) for pair in found.differential] == [
        ("group 0", "group 1"), ("group 0", "group 2"), ("group 1", "group 2"),
    ]  # fmt: skip
    assert len(found.groups) == 3


@pytest.mark.slow
def test_small_groups_are_not_compared():
    table, groups = expression(2, n=15)
    found = analyse(table, groups, **OPTIONS)
    assert found.differential == ()
    assert any("it has 15 samples, and a comparison needs 20" in note for note in found.notes)


@pytest.mark.slow
def test_covariates_count_as_samples():
    table, groups = expression(2, n=22)
    covariates = pd.DataFrame({"age": np.random.default_rng(0).standard_normal(44)}, index=table.index)
    assert len(analyse(table, groups, covariates=covariates, **OPTIONS).differential) == 1
    covariates["batch"] = ["x", "y"] * 22
    found = analyse(table, groups, covariates=covariates, **OPTIONS)
    assert found.differential == ()
    assert any("22 samples, and a comparison needs 24" in note for note in found.notes)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", ["spearman", "bicor"])
def test_other_correlations(correlation):
    table, groups = expression()
    found = analyse(table, groups, correlation=correlation, **OPTIONS)
    assert set(found.common) >= {f"g{j}" for j in range(10)}
    assert found.groups["group 0"].method == correlation
    assert 0.0 < found.differential[0].p_value <= 1.0


@pytest.mark.slow
def test_path_stops_where_it_is_of_no_use():
    table, groups = expression()
    found = analyse(table, groups, **(OPTIONS | {"max_genes": 25, "alphas": [0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]}))
    sizes = found.selection[["n_group 0", "n_group 1"]].max(axis=1)
    assert (sizes <= 25).all() and len(sizes) < 7
    assert any("not in the table" in note and "more than 25 genes" in note for note in found.notes)


@pytest.mark.slow
def test_interrupted_run_goes_on(monkeypatch, tmp_path):
    table, groups = expression()
    store = Cache(tmp_path / "cache", print)
    original, calls = Walk.solve, []

    def interrupted(self, alpha, **options):
        calls.append(alpha)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return original(self, alpha, **options)

    monkeypatch.setattr(Walk, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        analyse(table, groups, store=store, **OPTIONS)
    assert store.n_kept == 5
    first = analyse(table, groups, store=store, **OPTIONS)
    assert store.n_reused == 5
    solved = len(calls)
    again = analyse(table, groups, store=store, **OPTIONS)
    assert len(calls) == solved  # nothing is solved twice
    plain = analyse(table, groups, **OPTIONS)
    for found in (first, again):
        pd.testing.assert_frame_equal(found.selection, plain.selection)
        for name, group in plain.groups.items():
            for mine, theirs in zip(found.groups[name].path, group.path, strict=True):
                assert (mine.objective, mine.dual_bound, mine.n_iter) == (
                    theirs.objective,
                    theirs.dual_bound,
                    theirs.n_iter,
                )
        pd.testing.assert_frame_equal(found.differential[0].genes, plain.differential[0].genes)
    again.groups["group 0"].solution.verify()  # a solution from the store has its data again


@pytest.mark.slow
def test_cache_tells_data_parameters_and_code_apart(monkeypatch, tmp_path):
    table, groups = expression()
    store = Cache(tmp_path / "cache", print)
    analyse(table, groups, store=store, **OPTIONS)
    hits = store.n_reused
    analyse(table, groups, store=store, **(OPTIONS | {"tol": 2e-2, "permutations": 0}))
    assert store.n_reused == hits
    changed = table.copy()
    changed.iloc[0, 0] += 1.0
    analyse(changed, groups, store=store, **(OPTIONS | {"permutations": 0}))
    assert len(OPTIONS["alphas"]) <= store.n_reused < 2 * len(OPTIONS["alphas"])  # of the group that did not change
    hits = store.n_reused
    analyse(table, groups, store=store, **(OPTIONS | {"alphas": [0.8, 0.7, 0.6], "permutations": 0}))
    assert store.n_reused == hits  # a solution starts from the one before it
    for module in ("paths", "permutation"):
        monkeypatch.setattr(f"fantope.coexpression.analysis.{module}.code_fingerprint", lambda name: "older")
    analyse(table, groups, store=store, **OPTIONS)
    assert store.n_reused == hits


@pytest.mark.slow
def test_progress_is_told():
    table, groups = expression()
    told = []
    analyse(table, groups, progress=told.append, **OPTIONS)
    assert any("group 0: alpha = 0.7" in str(event) for event in told)
    assert any(str(event) == "group 0 against group 1: 20 of 20 permutations" for event in told)
    assert {event.stage for event in told} == {"path", "discovery", "modules", "permutations"}
    assert all(0 < event.done <= event.total and 0.0 < event.share <= 1.0 for event in told)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"min_genes": 70, "max_genes": 75}, "alpha 0.4, the smallest, 62 genes of .*alphas below it"),
        ({"alphas": [1.5]}, "alphas must be numbers between 0 and 1"),
        ({"alphas": []}, "alphas must be numbers between 0 and 1"),
        ({"correlation": "kendall"}, "correlation must be one of 'pearson', 'spearman', 'bicor', got 'kendall'"),
        ({"permutations": -1}, "permutations must be a whole number"),
        ({"random_state": None}, "random_state must be a whole number, 0 or larger, got None"),
        ({"min_genes": 50, "max_genes": 10}, "1 ≤ minimum ≤ maximum, got 50 and 10"),
        ({"n_components": 80}, "n_components must be at least 1 and less than the number of variables, 80"),
    ],
)
def test_sentences(options, match):
    table, groups = expression()
    with pytest.raises(ValueError, match=match):
        analyse(table, groups, **(OPTIONS | options))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_modules": 0}, "n_modules must be a whole number, 1 or larger, got 0"),
        ({"labels": {"GO": pd.Series(["x"], index=["ENSG1"])}}, "labels 'GO' name no analysed gene"),
    ],
)
def test_sentences_come_before_the_long_work(options, match, monkeypatch):
    monkeypatch.setattr(GroupPath, "advance", lambda *args: pytest.fail("solved"))
    table, groups = expression()
    with pytest.raises(ValueError, match=match):
        analyse(table, groups, **(OPTIONS | options))


def test_grid():
    assert grid([0.5, 0.7, 0.5]) == [0.7, 0.5]
    assert grid(None)[0] == 0.99 and grid(None)[-1] == 0.3 and len(grid(None)) == 70
