import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

from fantope.coexpression import cross_table
from fantope.coexpression.analysis.correlation import rewrite

GENES = pd.Index([f"g{j}" for j in range(30)])
MODULES = pd.Series(["M1"] * 5 + ["M2"] * 4, index=GENES[:9])


@pytest.fixture
def Z():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 30))
    X[:, :5] += 2 * rng.standard_normal((20, 1))
    return rewrite(X, "pearson")


@pytest.fixture
def labels():
    colours = ["red"] * 8 + ["blue"] * 12 + ["green"] * 5  # g25 … have no label
    return pd.Series([*colours, "red"], index=[*GENES[:25], "unheard of"])


@pytest.mark.slow
def test_numbers(Z, labels):
    found = cross_table("WGCNA", labels, MODULES, GENES, Z)
    assert found.counts.loc["M1"].to_dict() == {"blue": 0, "red": 5, "size": 5}
    assert found.counts.loc["M2"].to_dict() == {"blue": 1, "red": 3, "size": 4}
    assert found.counts.loc["size"].to_dict() == {"blue": 12, "red": 8, "size": 9}  # green shares no gene
    assert found.p_values.loc["M1", "red"] == pytest.approx(hypergeom.sf(4, 25, 8, 5))
    assert found.p_values.loc["M1", "blue"] == 1.0
    assert found.purity.to_dict("list") == {
        "module": ["M1", "M2"], "n_labelled": [5, 4], "label": ["red", "red"], "purity": [1.0, 0.75],
    }  # fmt: skip
    assert found.unknown == 1


def test_cohesion_of_both_methods(Z, labels):
    cohesion = cross_table("WGCNA", labels, MODULES, GENES, Z).cohesion.set_index(["method", "module"])
    assert cohesion.loc[("fantope", "M1"), "mean_correlation"] == pytest.approx(
        ((Z[:, :5].T @ Z[:, :5]).sum() - 5) / 20
    )
    assert cohesion.loc[("WGCNA", "green"), "n_genes"] == 5  # theirs in full
    assert cohesion.loc[("fantope", "M1"), "mean_correlation"] > cohesion.loc[("WGCNA", "red"), "mean_correlation"]


def test_same_partition_has_rand_one(Z):
    same = MODULES.replace({"M1": "x", "M2": "y"})
    assert cross_table("same", same, MODULES, GENES, Z).adjusted_rand == 1.0


def test_labels_of_other_genes_only(Z, labels):
    found = cross_table("others", labels.iloc[9:], MODULES, GENES, Z)  # known genes, none in a module
    assert found.counts.shape == (3, 1) and found.purity["label"].tolist() == ["", ""]
    assert np.isnan(found.adjusted_rand)


def test_genes_with_several_labels(Z, labels):
    sets = pd.concat([labels, labels.iloc[:1], pd.Series(["cycle"] * 3, index=GENES[:3])])
    found = cross_table("GO", sets, MODULES, GENES, Z)
    assert found.counts.loc["M1"].to_dict() == {"blue": 0, "red": 5, "cycle": 3, "size": 5}
    assert found.counts.loc["size", "red"] == 8  # a pair that is given twice counts once
    assert found.p_values.loc["M1", "cycle"] == pytest.approx(hypergeom.sf(2, 25, 3, 5))
    assert found.purity["n_labelled"].tolist() == [5, 4]
    assert np.isnan(found.adjusted_rand)  # sets that overlap are no partition


def test_sentence(Z):
    with pytest.raises(ValueError, match=r"'WGCNA' name no analysed gene: they have 'ENSG1'.*the analysis has 'g0'"):
        cross_table("WGCNA", pd.Series(["a"], index=["ENSG1"]), MODULES, GENES, Z)
