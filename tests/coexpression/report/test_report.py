"""The report as text: complete, safe, self-contained, calm."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

from coexpression_example import ODD, SCRIPT, equal_groups, one_group, two_groups
from fantope.coexpression import analyse
from fantope.coexpression.analysis.modules import fewest_genes
from fantope.coexpression.report import About, render_report

ABOUT = About(
    "<i>expression</i>.tsv", "fantope coexpress 'a & b.tsv' -o out", "1 January 2030", {"a & b.tsv": "ab" * 32},
    {"fantope": "0.1.0"}, {"genes.tsv": "active genes"},
)  # fmt: skip


class Outline(HTMLParser):
    """Collects tags, identifiers, headings and text outside scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.levels, self.links, self.parts = [], [], [], [], []
        self.open = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        self.tags.append((tag, known))
        self.open.append(tag)
        self.ids += [known["id"]] if "id" in known else []
        self.levels += [int(tag[1])] if re.fullmatch("h[1-6]", tag) else []
        self.links += [value for key, value in attrs if key in ("href", "src")]

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.parts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.parts).split())


@pytest.fixture(scope="module")
def text():
    return render_report(two_groups(), ABOUT)


@pytest.fixture(scope="module")
def outline(text):
    return Outline(text)


def test_it_needs_nothing_from_elsewhere(text, outline):
    assert all(link.startswith("#") for link in outline.links)
    assert not re.findall(r"url\(|@import|fetch\(|XMLHttpRequest|WebSocket", text)
    policy = next(known["content"] for tag, known in outline.tags if known.get("http-equiv"))
    assert "default-src 'none'" in policy and "script-src 'sha256-" in policy


def test_every_link_has_its_target_and_every_identifier_is_unique(outline):
    assert len(outline.ids) == len(set(outline.ids))
    genes = {link for link in outline.links if link.startswith("#gene=")}
    assert {link[1:] for link in set(outline.links) - genes} <= set(outline.ids)
    used = {name for group in two_groups().groups.values() for name in group.genes["gene"]}
    assert {unquote(link.removeprefix("#gene=")) for link in genes} == used
    for _, known in outline.tags:
        for key in ("for", "aria-labelledby"):
            assert known.get(key) is None or known[key] in outline.ids


def test_headings_descend_one_step_at_a_time(outline):
    assert outline.levels[0] == 1 and outline.levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(outline.levels, outline.levels[1:], strict=False))


def test_landmarks_captions_and_names(outline):
    tags = [tag for tag, _ in outline.tags]
    for landmark in ("header", "nav", "main", "footer"):
        assert tags.count(landmark) == 1
    assert tags.count("caption") == tags.count("table") and tags.count("figcaption") == tags.count("figure")
    assert all(known["aria-label"] for tag, known in outline.tags if tag == "canvas")


def test_text_from_data_stays_text(text, outline):
    assert "<script>document" not in text and "<b>blue" not in text and "<i>expression" not in text
    assert [tag for tag, _ in outline.tags].count("script") == 2
    assert SCRIPT in outline.text and ODD in outline.text and "<b>blue</b>" in outline.text


def test_it_says_what_was_found(outline):
    result = two_groups()
    for group in result.groups.values():
        assert f"{len(group.genes)} genes in {group.name}" in outline.text
        assert all(name in outline.text for name in group.genes["gene"])
        proven = (group.genes["proven"] == "in").sum()
        assert f"{proven} of the {len(group.genes)} genes in {group.name}" in outline.text
        assert f"Components of {group.name}, sparse basis" in outline.text
    assert f"{len(result.common)} genes are active in every group" in outline.text
    assert "fantope coexpress 'a & b.tsv' -o out" in outline.text and "Biometrika" in outline.text
    assert "All groups have the same alpha, as in the paper; they have about as many samples." in outline.text
    assert "Labelled, but not among the analysed genes: 2." in outline.text
    assert "nobody can improve the objective by more than a thousandth" in outline.text


def test_a_difference_is_stated_with_its_p_value(outline):
    pair = two_groups().differential[0]
    assert pair.p_value <= 0.05
    assert "The correlation structure differs between control and case" in outline.text
    assert "The difference of the two matrices sits mostly on" in outline.text
    assert "15 samples of control, 15 of case" in outline.text


@pytest.mark.slow
def test_no_difference_is_stated_calmly():
    result = equal_groups()
    pair = result.differential[0]
    assert pair.p_value > 0.05 and min(pair.genes["fdr"].min(), pair.modules["fdr"].min()) > 0.05
    text = Outline(render_report(result, ABOUT)).text
    assert "No difference in overall correlation structure" in text and "does not prove that there is none" in text
    assert "No module and no gene changes" in text and "sits mostly on" not in text


@pytest.mark.slow
def test_one_group_alone():
    outline = Outline(render_report(one_group(), ABOUT))
    assert "There is one group of samples, so there is nothing to compare." in outline.text
    assert "No other labelling of the genes was given" in outline.text
    assert "overlap" not in outline.text.lower()


@pytest.mark.slow
def test_three_groups_are_compared_in_pairs():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((75, 40))
    X[:, :12] += 4 * rng.standard_normal((75, 1))
    table = pd.DataFrame(X, columns=[f"G{j}" for j in range(40)])
    groups = np.repeat(["a", "b", "c"], 25)
    settings = {"n_components": 1, "alphas": [0.7], "min_genes": 5, "max_genes": 30, "permutations": 5}
    outline = Outline(render_report(analyse(table, groups, **settings), ABOUT))
    assert all(f"{a} and {b}" in outline.text for a, b in ("ab", "ac", "bc"))
    assert outline.text.count("Two-sample test:") == 3


@pytest.mark.slow
def test_three_hundred_genes_in_each_group_stay_within_a_megabyte():
    rng = np.random.default_rng(0)
    X = 0.3 * rng.standard_normal((60, 1000))
    X[:, :600] += np.repeat(rng.standard_normal((60, 4)), 150, axis=1)
    X[:30, 300:600] = 0.3 * rng.standard_normal((30, 300))
    X[30:, :300] = 0.3 * rng.standard_normal((30, 300))
    table = pd.DataFrame(X, columns=[f"GENE{j:04d}" for j in range(1000)])
    settings = {"n_components": 2, "alphas": [0.7], "min_genes": 200, "max_genes": 300, "permutations": 0}
    result = analyse(table, np.repeat(["a", "b"], 30), **settings)
    assert all(len(group.genes) == 300 for group in result.groups.values())
    text = render_report(result, ABOUT)
    assert "GENE0599" in text and len(text.encode()) < 1e6


@pytest.mark.slow
def test_the_same_result_gives_the_same_file(text):
    assert render_report(two_groups(), ABOUT) == text


@pytest.mark.slow
def test_it_says_why_there_are_so_many_modules():
    result = one_group()
    choice = pd.DataFrame({"k": [2, 3, 4], "silhouette": [0.5, 0.6, 0.7], "smallest": [9, 6, 1], "chosen": [0, 1, 0]})

    def told(table):
        group = replace(result.groups["all"], choice=table)
        return Outline(render_report(replace(result, groups={"all": group}), ABOUT)).text

    text = told(choice.astype({"chosen": bool}))
    assert (
        "3 modules were chosen because they separate the loadings best: mean silhouette 0.60 (others: 2: 0.50)." in text
    )
    fewest = fewest_genes(len(result.groups["all"].genes))
    assert f"4 modules were out of the question: one of them would have fewer than {fewest} genes." in text
    few = choice.assign(smallest=[1, 1, 1], chosen=[True, False, False])
    assert f"2 modules, the fewest: no number of them leaves each {fewest} genes." in told(few)
    assert "The number of modules" in told(choice[:1])
