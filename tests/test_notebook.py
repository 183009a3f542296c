"""What notebooks show: well-formed, escaped, small, and without any plotting library."""

import subprocess
import sys
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fantope
from fantope.events import Event
from fantope.notebook import Progress, bars, curve
from fantope.solvers import Record

SIM = fantope.simulate(80, 24, sizes=(5, 4), random_state=0)
NAMES = ["<script>alert(1)</script>", *(f"v{j}" for j in range(1, 24))]
FRAME = pd.DataFrame(SIM.Z, columns=NAMES)


def parsed(html):
    """Return the document, which has to be well-formed."""
    return ElementTree.fromstring(f"<div>{html}</div>")


def test_a_solution_shows_bracket_support_and_loadings():
    solution = fantope.solve(fantope.covariance(FRAME), 2, 0.5)
    html = solution._repr_html_()
    text = "".join(parsed(html).itertext())
    assert f"{solution.objective:.8g} and {solution.dual_bound:.8g}" in text
    assert f"{len(solution.support)} of 24 variables" in text
    assert "&lt;script&gt;" in html and "<script>" not in html
    assert html.count("<svg") == 2 and len(html) < 20_000


def test_a_precision_matrix_shows_bracket_and_strongest_pairs():
    S = np.corrcoef(SIM.Z.T)
    solution = fantope.graphical_lasso(S, 0.3)
    text = "".join(parsed(solution._repr_html_()).itertext())
    partial = solution.partial_correlations.toarray()
    assert f"{solution.n_edges} of 276 pairs" in text and "nats" in text
    assert f"{partial.flat[np.abs(partial).argmax()]:+.3f}" in text
    assert "partial correlation" not in fantope.graphical_lasso(S, 1.0)._repr_html_()


def test_a_frame_has_a_row_for_each_variable_in_use():
    solution = fantope.solve(fantope.covariance(FRAME), 2, 0.5)
    frame = solution.to_frame()
    assert list(frame.index) == [NAMES[j] for j in solution.support]
    assert list(frame.columns) == ["leverage", "component_1", "component_2"]
    np.testing.assert_array_equal(frame["component_2"], solution.components[1, solution.support])
    assert frame["leverage"].sum() == pytest.approx(2)
    assert list(fantope.solve(np.diag([3.0, 2.0, 1.0]), 1, 0.1).to_frame().index) == [0]
    with pytest.raises(ValueError, match="one name for each of the 24 variables, got 1"):
        solution.to_frame(["a"])


@pytest.mark.slow
def test_a_path_shows_its_points():
    path = fantope.solve_path(SIM.Z.T @ SIM.Z / 80, 2, np.linspace(2.0, 0.5, 15))
    root = parsed(path._repr_html_())
    assert len(root.findall(".//{http://www.w3.org/2000/svg}circle")) == 15
    assert len(root.findall(".//tr")) == 2 + 1 + 12  # facts, head, and no more than twelve rows
    parsed(fantope.path.Path(())._repr_html_())


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [fantope.SparsePCA(alpha=0.5), fantope.OnlineSparsePCA(alpha=0.5), fantope.SparsePCACV(alphas=[1, 0.5])],
)
def test_a_fitted_estimator_shows_more_than_its_diagram(estimator):
    before = estimator._repr_mimebundle_()["text/html"]
    assert "component 1" not in before
    estimator.fit(FRAME)
    for html in (estimator._repr_mimebundle_()["text/html"], estimator._repr_html_()):
        assert "component 2" in html and "of 24 variables" in html and "<script>alert" not in html
    with sklearn.config_context(display="text"):
        assert set(estimator._repr_mimebundle_()) == {"text/plain"}
    assert "SparsePCA" in make_pipeline(StandardScaler(), estimator)._repr_html_()


def test_drawings_survive_odd_numbers():
    for drawing in (bars([]), bars([0.0, -1.0]), curve([1.0], [0.0], label="a"), curve([2.0, 1.0], [3, 5], label="<")):
        parsed(drawing)


def test_progress_updates_one_line(monkeypatch):
    shown = []

    class Handle:
        def update(self, what):
            shown.append(what._repr_html_())

    def display(what, display_id):
        assert display_id
        return Handle()

    module = ModuleType("IPython.display")
    module.display = display
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    progress = Progress(tol=1e-4)
    progress(Record(10, 0.5, 1.0, 1.01, 1e-2, 24))
    progress(Record(11, 0.5, 1.0, 1.01, 9e-3, 24))  # too soon after the one before
    progress(0.3, Record(20, 0.9, 1.0, 1.0, 1e-4, 24))
    assert len(shown) == 2
    assert 'value="0.500"' in shown[0] and "gap 0.01 after 10 iterations" in shown[0]
    assert 'value="1.000"' in shown[1] and "alpha 0.3: gap 0.0001" in shown[1]
    progress(Event("permutations", 3, 4, "a < b"))
    assert str(progress) == "a < b: 3 of 4 permutations" and 'value="0.750"' in progress._repr_html_()


@pytest.mark.slow
def test_showing_needs_no_plotting_library():
    code = (
        "import sys, numpy as np, fantope; fantope.solve(np.diag([3.0, 2.0, 1.0]), 1, 0.1)._repr_html_(); "
        "assert not {'matplotlib', 'pandas', 'IPython', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
