import numpy as np
import pytest

from fantope.paper.chapters.base import Chapter, Claim, Picture, Table, Verdict, duration, judge, number
from fantope.paper.page import html_page, markdown, summary, write_pictures
from fantope.plotting import (
    plot_bound,
    plot_error_over_time,
    plot_gaps,
    plot_online_errors,
    plot_penalty_constant,
    plot_recovery,
    plot_regret,
)
from fantope.plotting.style import new_figure

CLAIM = Claim("2 | 3", "a < b", "|x| = 1", Verdict.FAILS, "seed 0, 1")


def test_text_that_would_break_a_table_or_a_page_is_escaped():
    chapter = Chapter("Title <i>", ["`code` & **bold**", Table(["a", "b"], [["x|y", 1]])], [CLAIM])
    page = markdown("T", ["opening"], [chapter], {"online": "10 of 10 runs have not been done yet"})
    assert "| 2 \\| 3 | a < b | \\|x\\| = 1 | seed 0, 1 | **does not hold** |" in page
    assert "| x\\|y | 1 |" in page and "- online: 10 of 10 runs have not been done yet." in page
    site = html_page("T", page)
    assert "<td>a &lt; b</td>" in site and "<h2>Title &lt;i&gt;</h2>" in site and "<td>|x| = 1</td>" in site
    assert "<code>code</code> &amp; <strong>bold</strong>" in site and "Not here" not in markdown("T", [], [], {})
    assert '<td><strong class="fails">does not hold</strong></td>' in site


def test_a_page_without_results_says_so():
    assert "No claim has been checked yet" in markdown("T", [], [], {"batch": "nothing"})


def test_pictures_appear_whole(tmp_path):
    figure = new_figure(2, 2)
    write_pictures([Chapter("x", [Picture("one", "caption", figure)])], tmp_path / "images")
    assert [file.name for file in (tmp_path / "images").iterdir()] == ["one.png"]


def test_summaries():
    assert summary([CLAIM]) == "Of 1 claims 0 hold, 0 hold partly and 1 does not."
    assert (number(None), number(1234.5), duration(0.0123), duration(75.0)) == ("–", "1.23e+03", "12.3 ms", "75 s")
    with pytest.raises(ValueError, match="at least one"):
        judge([])


def test_plots_draw_where_they_are_told():
    figure = new_figure(4, 3)
    axes = figure.subplots(1, 4)
    assert plot_error_over_time({"a": ([0, 1, 2], [3, 2, 1])}, optimum=1.0, ax=axes[0]) is axes[0]
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == ["a", "certified optimum"]
    assert plot_bound([1, 10], {"m": [0.5, None]}, [2, 1], rate=-0.5, ax=axes[1]) is axes[1]
    assert plot_penalty_constant([0.1, 1], [1, 0], [1, 0.5], ax=axes[2]) is axes[2]
    assert plot_gaps({"admm": ([0.1, 0.2], [1e-2, 0.0])}, tol=1e-3, ax=axes[3]) is axes[3]
    assert len(axes[3].lines[0].get_xdata()) == 1  # a gap of zero has no place on a log scale


def test_the_start_is_drawn_at_the_left_edge():
    ax = plot_error_over_time({"a": ([0.0, 2.0], [3, 2])})
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [1.4, 2.0])


def test_figures_with_several_panels():
    regret = plot_regret({"FTL": np.ones((3, 5)), "Online-P": np.ones((3, 5))})
    assert [len(ax.lines) for ax in regret.axes] == [8, 8]
    errors = plot_online_errors({"Online-T": [([1, 2], [0.1, 0.2], [1, 0.5])]})
    assert errors.axes[1].get_xscale() == "log"
    scores = {"error": {"PCA": [1.0, 2.0]}, "time (s)": {"PCA": [0.1, 0.2]}}
    recovery = plot_recovery(["a", "b"], scores)
    assert [ax.get_yscale() for ax in recovery.axes] == ["linear", "log"]
