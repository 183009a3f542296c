import numpy as np
import pandas as pd
import pytest
from scipy.stats import f_oneway, hypergeom, pearsonr

from fantope.coexpression import analyse
from fantope.coexpression.analysis.annotation import associations, enrichment, kme, preservation

GENES = pd.Index([f"g{j}" for j in range(200)])


def test_enrichment_is_against_all_analysed_genes():
    modules = pd.Series(["M1"] * 10 + ["M2"] * 5, index=GENES[:15])
    sets = {
        "first": GENES[:8],
        "half": GENES[5:25],
        "none": GENES[100:120],
        "tiny": GENES[:2],
        "foreign": ["x", "y", "z"],
    }
    labels = pd.concat([pd.Series(name, index=list(members)) for name, members in sets.items()])
    found = enrichment(labels, modules, GENES).set_index(["module", "label"])
    assert set(found.index) == {("M1", "first"), ("M1", "half"), ("M2", "half")}
    row = found.loc[("M1", "half")]
    assert (row["n_common"], row["n_module"], row["n_label"]) == (5, 10, 20)
    assert row["p"] == pytest.approx(hypergeom.sf(4, 200, 20, 10))
    assert row["fold"] == pytest.approx(5 / (10 * 20 / 200))
    assert row["genes"].split(", ") == list(GENES[5:10])
    # Two modules by three sets of at least three genes: six tests, of which the smallest p counts for all.
    smallest = found["p"].min()
    assert found["fdr"].min() == pytest.approx(6 * smallest)


@pytest.mark.slow
def test_enrichment_of_random_modules_finds_nothing():
    rng = np.random.default_rng(0)
    labels = pd.concat([pd.Series(f"s{k}", index=rng.choice(GENES, 15, replace=False)) for k in range(60)])
    wrong = 0
    for _ in range(40):
        modules = pd.Series("M1", index=rng.choice(GENES, 20, replace=False))
        wrong += bool((enrichment(labels, modules, GENES)["fdr"] <= 0.05).any())
    assert wrong <= 6


def test_traits():
    rng = np.random.default_rng(1)
    samples = [f"s{i}" for i in range(60)]
    stage = np.repeat(["I", "II", "III"], 20)
    eigengenes = pd.DataFrame({"M1": rng.standard_normal(60), "M2": rng.standard_normal(60)}, index=samples)
    eigengenes["M1"] += 1.5 * (stage == "III")
    traits = pd.DataFrame(
        {"age": eigengenes["M2"] + rng.standard_normal(60), "stage": stage, "constant": 1.0, "sex": ["f", "m"] * 30,
         "name": samples}, index=samples,
    )  # fmt: skip
    traits.loc["s3", "age"] = np.nan
    found = associations(eigengenes, traits.iloc[::-1]).set_index(["trait", "module"])
    assert set(found.index.get_level_values(0)) == {"age", "stage", "sex"}
    age = found.loc[("age", "M2")]
    known = traits["age"].notna()
    assert age["n"] == 59 and age["measure"] == "r"
    assert age["estimate"] == pytest.approx(pearsonr(traits["age"][known], eigengenes["M2"][known]).statistic)
    assert age["low"] < age["estimate"] < age["high"] and age["fdr"] < 0.05
    share = found.loc[("stage", "M1")]
    parts = [eigengenes["M1"][stage == word] for word in ("I", "II", "III")]
    assert share["p"] == pytest.approx(f_oneway(*parts).pvalue) and share["measure"] == "η²"
    total = ((eigengenes["M1"] - eigengenes["M1"].mean()) ** 2).sum()
    between = sum(20 * (part.mean() - eigengenes["M1"].mean()) ** 2 for part in parts)
    assert share["estimate"] == pytest.approx(between / total)
    assert 0.0 < share["low"] < share["estimate"] < share["high"] < 1.0
    assert found.loc[("stage", "M2"), "low"] == 0.0
    assert found.loc[("sex", "M1"), "measure"] == "r"


def standardised(X):
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0)


@pytest.mark.slow
def test_preservation_tells_modules_from_random_sets():
    rng = np.random.default_rng(2)
    weights = rng.uniform(0.5, 2.0, 20)

    def samples(n, common):
        X = rng.standard_normal((n, 200))
        X[:, :20] += common * rng.standard_normal((n, 1)) * weights
        return standardised(X)

    found, again, gone = samples(50, 2.0), samples(40, 2.0), samples(40, 0.0)
    modules = [("M1", np.arange(20), kme(found[:, :20])), ("M2", np.arange(50, 70), kme(found[:, 50:70]))]
    kept = preservation(modules, again, np.random.default_rng(0)).set_index("module")
    assert kept.loc["M1", "z"] > 5 and kept.loc["M1", "p"] == pytest.approx(1 / 101)
    assert abs(kept.loc["M2", "z"]) < 3 and abs(kept.loc["M1", "density_by_chance"]) < 0.05
    lost = preservation(modules, gone, np.random.default_rng(0)).set_index("module")
    assert abs(lost.loc["M1", "z"]) < 3


@pytest.mark.slow
def test_in_an_analysis():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 80))
    X[:, :12] += 2.5 * rng.standard_normal((60, 1))
    X[:30, 12:20] += 2.5 * rng.standard_normal((30, 1))
    index = [f"s{i}" for i in range(60)]
    table = pd.DataFrame(X, index=index, columns=GENES[:80])
    traits = pd.DataFrame({"dose": X[:, 0]}, index=index)
    sets = pd.concat([pd.Series("A", index=GENES[:12]), pd.Series("B", index=GENES[6:20])])
    options = {"n_components": 2, "alphas": [0.7, 0.6], "min_genes": 5, "max_genes": 40}
    found = analyse(table, ["x"] * 30 + ["y"] * 30, traits=traits, labels={"sets": sets}, permutations=10, **options)
    (cross,) = found.groups["x"].cross_tables
    assert cross.enrichment["label"].iloc[0] in ("A", "B") and cross.enrichment["fdr"].iloc[0] < 1e-3
    assert found.groups["y"].traits["p"].min() < 1e-6
    tested = found.preservation
    assert set(tested["tested_in"]) == {"x", "y", "other half of x", "other half of y"}
    assert tested[tested["tested_in"].str.startswith("other")]["z"].max() > 3
    assert analyse(table, permutations=0, **options).preservation.empty
    with pytest.raises(ValueError, match="traits must have samples of the expression"):
        analyse(table, traits=traits.set_axis(range(60)), permutations=0, **options)
