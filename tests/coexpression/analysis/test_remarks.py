"""Names and rows that are pointed out: control probes and duplicates."""

import numpy as np
import pandas as pd
import pytest

from fantope.coexpression import analyse
from fantope.coexpression.analysis.correlation import rewrite
from fantope.coexpression.analysis.remarks import CONTROLS, remarks


@pytest.mark.parametrize(
    "name",
    ["AFFX-BioB-5_at", "AFFX-r2-Ec-bioB-M_at", "ERCC-00002", "ercc_00171", "SIRV1", "RNA-SPIKE-1", "spike_in_3",
     "(+)E1A_r60_1", "(-)3xSLv1", "DarkCorner", "NegativeControl", "ILMN_negative_control", "__no_feature",
     "N_unmapped"],
)  # fmt: skip
def test_controls_are_known_by_their_names(name):
    assert CONTROLS.match(name)


@pytest.mark.parametrize("name", ["ERCC1", "ERCC6L2", "AFF1", "NEGR1", "SIRT1", "1007_s_at", "MYC", "N4BP1", "CORT"])
def test_genes_are_not_taken_for_controls(name):
    assert not CONTROLS.match(name)


def test_nearly_identical_only_if_so_in_every_group():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))
    X[:, 1] = X[:, 0] + 1e-4 * rng.standard_normal(40)
    X[:20, 3] = X[:20, 2]
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    columns = [rewrite(X[:20], "pearson"), rewrite(X[20:], "pearson")]
    found, notes = remarks(table, np.arange(4), columns)
    assert found == {"a": "nearly identical to 'b'", "b": "nearly identical to 'a'"}
    assert notes == [
        "2 genes in use have nearly identical values, in 1 set, as probes of one gene may have: 'a', 'b'; such genes "
        "are a module whatever the biology."
    ]
    assert remarks(table, np.array([0, 2, 3]), columns) == ({}, [])


@pytest.mark.slow
def test_an_analysis_points_them_out_and_leaves_nothing_out():
    rng = np.random.default_rng(1)
    X = 0.3 * rng.standard_normal((40, 60))
    X[:, :10] += rng.standard_normal((40, 1))
    X[:, 10:20] += rng.standard_normal((40, 1))
    X[:, 1] = X[:, 0]
    names = [f"G{j}" for j in range(60)]
    names[12] = "AFFX-BioB-5_at"
    found = analyse(pd.DataFrame(X, columns=names), n_components=2, alphas=[0.7, 0.6], min_genes=10, max_genes=40)
    genes = found.groups["all"].genes.set_index("gene")
    assert len(found.gene_names) == 60
    assert genes.loc["AFFX-BioB-5_at", "remark"] == "control probe"
    assert genes.loc["G0", "remark"] == "identical to 'G1'"
    assert (genes["remark"] != "").sum() == 3 and found.remarks == genes["remark"][genes["remark"] != ""].to_dict()
    assert any("looks like a control probe, 1 of them in use: 'AFFX-BioB-5_at'" in note for note in found.notes)
    assert any("2 genes analysed have identical values" in note for note in found.notes)
