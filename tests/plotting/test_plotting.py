import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from fantope.plotting import plot_convergence, plot_loadings, plot_projection, plot_setting
from fantope.simulation import simulate

RECORDS = [SimpleNamespace(time=0.1 * k, gap=10.0**-k) for k in range(5)]


def png(figure, folder):
    file = folder / "figure.png"
    figure.savefig(file)
    return file.read_bytes()[:4]


@pytest.mark.slow
def test_setting_draws_a_heat_map_and_the_eigenvectors(tmp_path):
    figure = plot_setting(simulate(1, 60), n_vectors=3)
    left, right = figure.subfigs
    assert len(left.axes) == 2  # heat map and colour bar
    assert len(right.axes) == 3
    assert png(figure, tmp_path) == b"\x89PNG"


@pytest.mark.parametrize("n_vectors", [0, 61])
def test_setting_rejects_a_wrong_number_of_vectors(n_vectors):
    with pytest.raises(ValueError, match=r"n_vectors must lie between 1 and p = 60"):
        plot_setting(simulate(1, 60), n_vectors=n_vectors)


@pytest.mark.slow
def test_loadings_leave_zeros_blank(tmp_path):
    truth = np.zeros((2, 30))
    truth[0, :4] = truth[1, 4:9] = 0.5
    figure = plot_loadings({"truth": truth, "dense": np.full((2, 30), 0.1)}, groups=(4, 5))
    assert [ax.texts[0].get_text() for ax in figure.axes] == [
        "4 non-zero", "5 non-zero", "30 non-zero", "30 non-zero",
    ]  # fmt: skip
    assert png(figure, tmp_path) == b"\x89PNG"


@pytest.mark.parametrize("matrices", [{}, {"a": np.ones((2, 3)), "b": np.ones((1, 3))}])
def test_loadings_need_one_shape(matrices):
    with pytest.raises(ValueError, match="matrices of one shape"):
        plot_loadings(matrices)


def test_convergence_takes_a_solution_or_its_history():
    from_history = plot_convergence(RECORDS, tol=1e-3)
    from_solution = plot_convergence(SimpleNamespace(history=RECORDS), ax=from_history)
    assert from_solution is from_history
    one, other = from_history.lines[0], from_history.lines[2]
    np.testing.assert_array_equal(one.get_xydata(), other.get_xydata())
    assert from_history.get_yscale() == "log"


def test_convergence_skips_gaps_without_a_logarithm():
    odd = [*RECORDS, SimpleNamespace(time=1.0, gap=0.0), SimpleNamespace(time=2.0, gap=np.inf)]
    assert len(plot_convergence(odd).lines[0].get_xdata()) == len(RECORDS)


@pytest.mark.slow
def test_projection_is_the_same_for_sparse_and_dense():
    X = np.zeros((8, 8))
    X[2:5, 2:5] = 1 / 3
    images = [plot_projection(kind(X)).images[0].get_array() for kind in (np.array, sparse.csr_array, sparse.coo_array)]
    for image in images:
        np.testing.assert_array_equal(image, X[2:5, 2:5])
    assert plot_projection(X, variables=[0, 1]).images[0].get_array().shape == (2, 2)


def test_projection_needs_variables():
    with pytest.raises(ValueError, match="variables must name at least one"):
        plot_projection(np.zeros((3, 3)))


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"fantope\[plot\]"):
        plot_convergence(RECORDS)


def test_the_users_settings_are_left_alone():
    import matplotlib

    before = dict(matplotlib.rcParams)
    plot_convergence(RECORDS)
    assert dict(matplotlib.rcParams) == before


def test_loadings_of_a_solution_need_a_name():
    with pytest.raises(ValueError, match=r"components_by_name must be a dictionary .* got ndarray; write"):
        plot_loadings(np.eye(3))
