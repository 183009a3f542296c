"""The penalty that meets a wish, against a generic convex solver on small problems."""

import warnings

import cvxpy as cp
import numpy as np
import pytest

import fantope
from fantope.path.targets import leading_variance
from problems import BY_NAME

NAMES = ["random-30-d1", "modules-noisy", "fractional", "equal-blocks", "random-7", "random-12", "blocks-22"]


def constrained_optimum(S, d, norm):
    """Return max ⟨S, X⟩ over the Fantope with Σ|X_ij| ≤ norm, by an interior-point method."""
    p = len(S)
    X = cp.Variable((p, p), symmetric=True)
    limits = [X >> 0, np.eye(p) - X >> 0, cp.trace(X) == d, cp.sum(cp.abs(X)) <= norm]
    problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(S, X))), limits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of reduced accuracy, where the norm is d and X has no interior
        problem.solve(solver="CLARABEL")
    return float(problem.value)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1.5, 3.0])
@pytest.mark.parametrize("name", NAMES)
def test_constrained_form(name, factor):
    instance = BY_NAME[name]
    S, d = instance.S, instance.d
    norm = factor * d
    found = fantope.solve_for_norm(S, d, norm)
    X = found.solution.projection.toarray()
    assert np.abs(X).sum() == pytest.approx(found.norm)
    assert found.norm <= norm * (1 + 1e-9)
    values = np.linalg.eigvalsh(X)
    assert values[0] > -1e-10
    assert values[-1] < 1 + 1e-10
    assert np.trace(X) == pytest.approx(d)
    assert found.objective == pytest.approx((S * X).sum(), rel=1e-10)
    assert found.gap <= 1e-3
    wanted = constrained_optimum(S, d, norm)
    slack = 1e-5 * instance.scale * d
    assert found.objective - slack <= wanted <= found.dual_bound + slack
    # The penalised solution is certified as such.
    assert found.solution.verify(S).gap <= found.solution.gap + 1e-9
    assert found.solution.gap <= 1e-3


def test_the_smallest_norm_gives_single_variables(S):
    found = fantope.solve_for_norm(S, 2, 2.0)
    assert found.norm == pytest.approx(2.0)
    assert found.solution.support.tolist() == sorted(np.argsort(-S.diagonal())[:2])
    assert found.gap < 1e-9


@pytest.mark.slow
def test_a_norm_that_does_not_bind_gives_pca(S):
    found = fantope.solve_for_norm(S[:20, :20], 2, 400.0)
    assert found.objective == pytest.approx(np.linalg.eigvalsh(S[:20, :20])[-2:].sum(), rel=1e-3)
    assert found.gap <= 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [2, 5, 12, 20, 40])
def test_size(S, wanted):
    solution = fantope.solve_for_size(S, 2, wanted)
    assert abs(len(solution.support) - wanted) <= 1 + 0.1 * wanted
    assert solution.gap <= 1e-3
    assert solution.verify(S).gap <= 1.2e-3


def test_size_of_everything():
    S = BY_NAME["random-12"].S
    p = len(S)
    assert len(fantope.solve_for_size(S, 1, p).support) == p


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_variance(S, share):
    solution = fantope.solve_for_variance(S, 2, share)
    pca = float(np.linalg.eigvalsh(S)[-2:].sum())
    assert leading_variance(fantope.covariance([[0, 1], [2, 0]]), 1) == pytest.approx(1.25)
    assert solution.explained_variance.sum() >= share * pca
    assert solution.gap <= 1e-3
    sparser = fantope.solve(S, 2, 1.3 * solution.alpha, tol=1e-3)
    assert len(sparser.support) <= len(solution.support)


@pytest.mark.slow
def test_operator_equals_matrix(data):
    op = fantope.covariance(data)
    everything = np.arange(op.size)
    matrix = op.block(everything, everything)
    for solve, wish in (
        (fantope.solve_for_size, 15),
        (fantope.solve_for_variance, 0.5),
        (lambda *args: fantope.solve_for_norm(*args).solution, 6.0),
    ):
        found, expected = solve(op, 2, wish), solve(matrix, 2, wish)
        assert found.alpha == pytest.approx(expected.alpha, rel=1e-2)
        assert found.objective == pytest.approx(expected.objective, rel=2e-2)
        assert found.verify(matrix).gap <= found.gap + 1e-9


@pytest.mark.slow
def test_a_search_needs_few_scans(data, scans):
    fantope.solve_for_size(fantope.covariance(data), 2, 20)
    assert 0 < len(scans) < 12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda S: fantope.solve_for_size(S, 2, 1), r"n_variables must be a whole number from 2 .* to 120, got 1"),
        (lambda S: fantope.solve_for_size(S, 2, 121), r"to 120, got 121"),
        (lambda S: fantope.solve_for_size(S, 2, 3.0), r"n_variables must be a whole number"),
        (lambda S: fantope.solve_for_norm(S, 2, 1.9), r"norm must be at least n_components, 2 .*, got 1\.9"),
        (lambda S: fantope.solve_for_norm(S, 2, np.inf), r"norm must be a finite number"),
        (lambda S: fantope.solve_for_variance(S, 2, 1.0), r"share must be between 0 and 1, got 1; only alpha = 0"),
        (lambda S: fantope.solve_for_variance(S, 2, 0.0), r"share must be a finite number above 0"),
        (lambda S: fantope.solve_for_size(S, 2, 10, tol=0.0), r"tol must be a finite number above 0"),
    ],
)
def test_bad_arguments(S, call, message):
    with pytest.raises(ValueError, match=message):
        call(S)
