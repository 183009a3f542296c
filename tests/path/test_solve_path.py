"""The regularisation path: each point certified on its own, from matrices and from operators over data."""

import numpy as np
import pandas as pd
import pytest

import fantope
from fantope.operators import DenseCovariance
from fantope.solvers import Admm
from problems import BY_NAME, Instance, assert_certified

TOL = 1e-3
ALPHAS = [0.15, 0.6, 0.3, 0.9]


@pytest.fixture(scope="module")
def path(S):
    return fantope.solve_path(S, 2, ALPHAS)


def test_falling_order_and_lengths(path):
    assert path.alphas.tolist() == [0.9, 0.6, 0.3, 0.15]
    assert len(path) == len(list(path)) == 4
    assert path[1].alpha == 0.6
    assert path[-1] is path.solutions[-1]
    assert (np.diff(path.explained_variance) > 0).all()
    np.testing.assert_array_equal(path.n_active, [len(solution.support) for solution in path])


def test_every_point_is_certified_on_its_own(path, S):
    assert (path.gaps <= TOL).all()
    for solution in path:
        assert solution.status is fantope.Status.SOLVED
        assert solution.verify(S).gap <= 1.2 * TOL
        assert_certified(Instance("path", S, 2, solution.alpha), solution, TOL)


@pytest.mark.slow
def test_warm_equals_cold(path, S):
    for solution in path:
        cold = fantope.solve(S, 2, solution.alpha, tol=1e-6)
        slack = 2e-6 * abs(cold.objective)
        assert solution.objective - slack <= cold.objective
        assert cold.dual_bound <= solution.dual_bound + slack


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["covariance", "correlation"])
def test_operator_equals_matrix(data, kind):
    op = fantope.covariance(data, kind=kind)
    everything = np.arange(op.size)
    matrix = op.block(everything, everything)
    alphas = np.array([0.8, 0.6, 0.45]) * op.largest_off_diagonal()
    for found, expected in zip(fantope.solve_path(op, 2, alphas), fantope.solve_path(matrix, 2, alphas), strict=True):
        assert found.objective == pytest.approx(expected.objective, rel=2 * TOL)
        assert found.verify().gap <= 1.2 * TOL
        assert found.verify(matrix).gap <= 1.2 * TOL
        assert expected.verify(op).gap <= 1.2 * TOL


def test_one_scan_serves_the_path(data, scans):
    fantope.solve_path(fantope.covariance(data, kind="correlation"), 2, [0.9, 0.8, 0.7])
    assert scans == [0.7]


@pytest.mark.slow
def test_max_variables_stops_before_the_first_that_is_larger(S, path):
    limit = int(path.n_active[2])
    stopped = fantope.solve_path(S, 2, ALPHAS, max_variables=limit)
    assert stopped.alphas.tolist() == [0.9, 0.6, 0.3]
    assert stopped.n_active.max() <= limit
    assert len(fantope.solve_path(S, 2, [0.01], max_variables=3)) == 1  # never empty


@pytest.mark.slow
def test_automatic_grid(S):
    grid = fantope.solve_path(S, 2, n_alphas=4)
    top = fantope.alpha_max(S, 2)
    np.testing.assert_allclose(grid.alphas, top * np.geomspace(1, 0.1, 4)[: len(grid)])
    assert grid.n_active[0] == 2  # alpha_max itself: isolated variables alone
    assert grid.n_active.max() <= 500
    diagonal = fantope.solve_path(np.diag([3.0, 1.0, 2.0]), 2)
    assert diagonal.alphas.tolist() == [0.0]
    assert diagonal[0].support.tolist() == [0, 2]


def test_repeated_alphas_are_solved_once(S):
    assert fantope.solve_path(S, 2, [0.6, 0.9, 0.6]).alphas.tolist() == [0.9, 0.6]
    assert fantope.solve_path(S, 2, 0.6).alphas.tolist() == [0.6]


@pytest.mark.parametrize("name", ["unsafe-screening", "block-diagonal", "fractional", "indefinite", "zero-matrix"])
def test_degenerate_problems(name):
    instance = BY_NAME[name]
    for solution in fantope.solve_path(instance.S, instance.d, [2 * instance.alpha, instance.alpha], tol=1e-6):
        assert_certified(Instance(name, instance.S, instance.d, solution.alpha), solution, 1e-6)
        assert solution.status is fantope.Status.SOLVED


@pytest.mark.slow
def test_solvers_by_name_and_by_object(S, path):
    for solver in ("admm", Admm()):
        found = fantope.solve_path(S, 2, [0.6, 0.3], solver=solver)
        np.testing.assert_allclose([s.objective for s in found], [s.objective for s in path][1:3], rtol=2 * TOL)
        assert {solution.solver for solution in found} == {"admm"}


def test_max_iter_is_for_each_alpha(S):
    found = fantope.solve_path(S, 2, [0.3, 0.15], max_iter=2, tol=1e-8)
    assert [solution.status for solution in found] == [fantope.Status.MAX_ITER] * 2
    assert (found.gaps < 1).all()


def test_callback_sees_alpha_and_record(S):
    seen = []
    found = fantope.solve_path(S, 2, [0.6, 0.3], callback=lambda alpha, record: seen.append((alpha, record.gap)))
    assert sorted({alpha for alpha, _ in seen}, reverse=True) == [0.6, 0.3]
    for solution in found:
        last = [gap for alpha, gap in seen if alpha == solution.alpha][-1]
        assert last <= TOL


@pytest.mark.slow
def test_an_interrupt_keeps_what_is_done(S):
    def interrupt(alpha, record):
        if alpha < 0.5:
            raise KeyboardInterrupt

    found = fantope.solve_path(S, 2, ALPHAS, callback=interrupt)
    assert found.alphas.tolist() == [0.9, 0.6, 0.3]
    assert found[2].status is fantope.Status.INTERRUPTED
    for solution in found:
        assert solution.verify(S).gap <= solution.gap * 1.1 + 1e-9


def test_leverages_and_frame(path):
    variables, leverages = path.leverages()
    assert leverages.shape == (4, len(variables))
    np.testing.assert_allclose(leverages.sum(axis=1), 2.0)
    np.testing.assert_array_equal(variables, np.unique(np.concatenate([solution.support for solution in path])))
    frame = path.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["alpha"].tolist() == path.alphas.tolist()
    assert frame["n_variables"].tolist() == path.n_active.tolist()
    assert set(frame["status"]) == {"SOLVED"}
    assert (frame["objective"] <= frame["dual_bound"]).all()
    assert frame["is_projection"].dtype == bool


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alphas": []}, r"alphas must hold at least one number, got none; leave it out"),
        ({"alphas": [0.1, -0.2]}, r"alphas must be a finite number, 0 or larger, got -0\.2"),
        ({"alphas": [0.1, np.nan]}, r"alphas must be a finite number, 0 or larger, got nan"),
        ({"n_alphas": 0}, r"n_alphas must be a whole number, 1 or larger, got 0"),
        ({"n_alphas": 2.5}, r"n_alphas must be a whole number, 1 or larger, got 2\.5"),
        ({"alphas": [0.1], "tol": 1e-14}, r"tol must be at least"),
        ({"alphas": [0.1], "max_iter": 0}, r"max_iter must be a whole number"),
        ({"alphas": [0.1], "solver": "newton"}, r"solver must be one of .*'auto'.*, got 'newton'"),
    ],
)
def test_bad_arguments(S, arguments, message):
    with pytest.raises(ValueError, match=message):
        fantope.solve_path(S, 2, **arguments)


def test_alpha_max(S, data):
    off = np.abs(S - np.diag(S.diagonal())).max()
    assert fantope.alpha_max(S, 2) == off
    assert fantope.alpha_max(fantope.covariance(data, center=False), 2) == pytest.approx(off, rel=1e-13)
    with pytest.raises(ValueError, match="n_components"):
        fantope.alpha_max(S, 0)
    assert fantope.solve(DenseCovariance(S), 2, off).n_features == 120


def test_a_path_keeps_what_it_has_where_memory_ends(monkeypatch):
    Z = np.random.default_rng(0).standard_normal((20, 60))
    monkeypatch.setattr("fantope.problem.decomposition._physical_memory", lambda: 3 * 8 * 50.0**2)
    with pytest.warns(RuntimeWarning, match=r"The path ends at alpha = 0\.5: .* raise alpha"):
        path = fantope.solve_path(fantope.covariance(Z), 2, [0.5, 0.1])
    assert path.alphas.tolist() == [0.5]
