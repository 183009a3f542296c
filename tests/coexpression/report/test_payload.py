"""Numbers and names on their way into the report."""

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from coexpression_example import expression, one_group, two_groups
from fantope.coexpression.analysis.modules import genes_in_use
from fantope.coexpression.report.panels import GENES, PARTNERS, strongest_pairs
from fantope.coexpression.report.payload import as_script, payload, quantised


def decoded(text):
    return np.frombuffer(base64.b64decode(text), dtype=np.int8) / 127


@pytest.mark.slow
@given(arrays(np.float64, st.integers(1, 40), elements=st.floats(-1, 1)))
def test_correlations_keep_two_digits(values):
    assert np.abs(decoded(quantised(values)) - values).max() <= 0.5 / 127 + 1e-12


def test_missing_correlations_become_zero():
    np.testing.assert_array_equal(decoded(quantised(np.array([np.nan, 1.0]))), [0.0, 1.0])


@pytest.mark.slow
@given(st.recursive(st.text() | st.integers(-9, 9), lambda inner: st.lists(inner, max_size=4)))
def test_no_text_can_leave_the_script_element(value):
    text = as_script(value)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == value


@pytest.mark.slow
def test_the_slider_can_rebuild_every_active_set():
    result = two_groups()
    told = payload(result)["selection"]
    assert told["alphas"] == sorted(told["alphas"])
    assert told["alphas"][told["chosen"]] == result.alpha
    for group, steps in zip(result.groups.values(), told["steps"], strict=True):
        active = set()
        for alpha, step in reversed(list(zip(told["alphas"], steps, strict=True))):
            active = active - set(step["leave"]) | set(step["enter"])
            solution = next(s for s in group.path if abs(s.alpha - alpha) < 1e-9)
            assert {told["genes"][k] for k in active} == set(result.gene_names[genes_in_use(solution)])
            assert step["counts"] == [len(step["enter"]), len(step["leave"])]


@pytest.mark.slow
def test_matrices_are_in_the_order_of_the_genes():
    result = two_groups()
    for group, told in zip(result.groups.values(), payload(result)["modules"], strict=True):
        m = len(told["genes"])
        R = group.correlation(group.genes.set_index("gene").index[[0]].append(group.genes.set_index("gene").index[1:]))
        wanted = R.loc[told["genes"], told["genes"]].to_numpy()
        found = decoded(told["matrices"][0]["values"]).reshape(m, m)
        np.testing.assert_allclose(found, wanted, atol=0.5 / 127 + 1e-12)
        modules = group.genes.set_index("gene")["module"]
        assert [band["stop"] - band["start"] for band in told["bands"]] == group.modules["n_genes"].tolist()
        for band in told["bands"]:
            assert set(modules[told["genes"][band["start"] : band["stop"]]]) == {band["name"]}
        weights = decoded(told["loadings"]["values"]).reshape(m, -1) * told["loadings"]["limits"]
        wanted = group.genes.set_index("gene").loc[told["genes"], ["sparse1", "sparse2", "sparse3"]].to_numpy()
        np.testing.assert_allclose(weights, wanted, atol=0.005)


def test_a_comparison_shows_the_genes_of_one_group_only():
    result = two_groups()
    heat = payload(result)["pairs"][0]["heat"]
    assert set(heat["genes"]) == set(result.specific["control"]) | set(result.specific["case"])
    assert [matrix["title"] for matrix in heat["matrices"]] == ["control", "case"]


@pytest.mark.slow
def test_one_group_has_no_pairs_and_no_overlap():
    told = payload(one_group())
    assert told["pairs"] == [] and set(told["selection"]["overlap"]) == {None}


@pytest.mark.slow
def test_partners_are_the_strongest_of_all_analysed_genes():
    result = two_groups()
    told = payload(result)["panels"]
    table, groups = expression()
    tables = {name: table[groups == name].corr() for name in result.groups}
    assert told["used"] == len(next(iter(result.groups.values())).expression.columns) == len(told["partners"])
    for k, flat in enumerate(told["partners"]):
        found = {told["names"][flat[i]]: flat[i + 1 : i + 3] for i in range(0, len(flat), 3)}
        name, own = told["names"][k], tables["control"].columns
        for correlations in tables.values():
            strongest = correlations.loc[name, own != name].abs().nlargest(PARTNERS).index
            assert set(strongest) <= set(found)
        for other, (control, case) in found.items():
            assert abs(control / 1000 - tables["control"].loc[name, other]) < 6e-4
            assert abs(case / 1000 - tables["case"].loc[name, other]) < 6e-4


@pytest.mark.slow
def test_a_panel_knows_groups_modules_and_verdicts():
    result = two_groups()
    told = payload(result)["panels"]
    assert {name for pair in result.differential for name in pair.genes["gene"]} <= set(told["names"])
    for group, known, letters in zip(result.groups.values(), told["groups"], told["verdicts"], strict=True):
        assert [told["names"][k] for k in known["at"]] == group.genes["gene"].tolist()
        assert known["module"] == group.genes["module"].tolist()
        verdicts = dict(zip(result.gene_names, group.solution.verdicts(), strict=True))
        assert [verdicts[name][0] for name in told["names"]] == list(letters)


@pytest.mark.slow
def test_a_network_holds_the_strongest_pairs_of_its_module():
    result = two_groups()
    told = payload(result)
    for group, networks in zip(result.groups.values(), told["networks"], strict=True):
        assert [each["module"] for each in networks] == group.modules["module"].tolist()
        for each in networks:
            genes = group.genes.set_index("gene").index[(group.genes["module"] == each["module"]).to_numpy()]
            R = group.correlation(genes).to_numpy()
            names = [told["panels"]["names"][k] for k in each["genes"]]
            assert set(names) <= set(genes) and len(names) == len(set(names)) <= GENES
            assert each["pairs"] == len(genes) * (len(genes) - 1) // 2
            sizes = np.sort(np.abs(R[np.triu_indices(len(genes), 1)]))[::-1]
            assert len(each["edges"]) == min(each["pairs"], 2 * len(genes))
            wanted = sizes[: len(each["edges"])]
            np.testing.assert_allclose(
                sorted((abs(r) / 1000 for *_, r in each["edges"]), reverse=True), wanted, atol=6e-4
            )


def test_one_gene_alone_has_no_pairs():
    assert strongest_pairs(np.ones((1, 1))).shape == (0, 2)
