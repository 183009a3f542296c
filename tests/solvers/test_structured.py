"""Penalties that couple entries, and smooth ones: against a generic convex solver, and through every layer."""

import cvxpy as cp
import numpy as np
import pytest

import fantope
from fantope.io.solutions import pack, unpack
from fantope.operators import DenseCovariance
from fantope.penalties import L1, Group, NonNegative, Smooth, Trend
from fantope.penalties.structured import differences
from fantope.problem.certificate import CertificateError
from fantope.problem.dual import StructuredDual
from fantope.solvers import Admm, StructuredAdmm
from problems import sample_covariance

P = 10
GROUPS = [[0, 3], [1, 2, 4], [5, 6, 7, 8, 9]]
RING = 2 * np.eye(P) - np.roll(np.eye(P), 1, axis=0) - np.roll(np.eye(P), -1, axis=0)
S = sample_covariance(np.random.default_rng(0), 30, P)


def blocks(X, share=0.0):
    norms = sum(np.sqrt(len(g) * len(h)) * cp.norm(X[np.ix_(g, h)], "fro") for g in GROUPS for h in GROUPS)
    return share * cp.sum(cp.abs(X)) + (1 - share) * norms


def total(X):
    return cp.sum(cp.abs(X))


def rough(X, L):
    return cp.sum(cp.multiply(L, X))


D1, D2 = differences(P, 1), differences(P, 2)
CASES = {
    "non-negative": (NonNegative(0.1), lambda X: 0.1 * cp.sum(X)),
    "group": (Group(0.1, GROUPS), lambda X: 0.1 * blocks(X)),
    "sparse group": (Group(0.1, GROUPS, l1_share=0.5), lambda X: 0.1 * blocks(X, 0.5)),
    "smooth": (Smooth(0.1, 0.3), lambda X: 0.3 * rough(X, D2.T @ D2) + 0.1 * total(X)),
    "graph": (Smooth(0.1, 0.3, laplacian=RING), lambda X: 0.3 * rough(X, RING) + 0.1 * total(X)),
    "trend": (Trend(0.1), lambda X: 0.1 * total(D1 @ X)),
    "sparse trend": (Trend(0.05, order=2, l1=0.5), lambda X: 0.05 * total(D2 @ X) + 0.025 * total(X)),
}


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("name", CASES)
def test_optimum_is_inside_the_bracket(name, d):
    penalty, omega = CASES[name]
    X = cp.Variable((P, P), symmetric=True)
    constraints = [X >> 0, np.eye(P) - X >> 0, cp.trace(X) == d] + ([X >= 0] if name == "non-negative" else [])
    problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(S, X)) - omega(X)), constraints)
    problem.solve(solver="CLARABEL")
    sol = fantope.solve(S, d, penalty, tol=1e-6)
    assert sol.status is fantope.Status.SOLVED
    slack = 2e-5
    assert sol.objective - slack <= problem.value <= sol.dual_bound + slack
    found = sol.verify(S)
    assert found.gap <= 1.1e-6
    independent(sol, penalty, d)


def independent(sol, penalty, d):
    """Recompute the bracket with NumPy alone, and the penalty's own value."""
    X = sol.projection.toarray()
    values = np.linalg.eigvalsh(X)
    assert values[0] >= -1e-9 and values[-1] <= 1 + 1e-9 and X.trace() == pytest.approx(d)
    assert np.vdot(S, X) - penalty.value(X) == pytest.approx(sol.objective, abs=1e-8)
    U = sol.dual.block(np.arange(P), np.arange(P))
    matrix = S - penalty.rho * penalty.roughness(P) if isinstance(penalty, Smooth) else S
    assert np.linalg.eigvalsh(matrix - U)[-d:].sum() == pytest.approx(sol.dual_bound, abs=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_saved_and_read_back(name):
    penalty = CASES[name][0]
    sol = fantope.solve(S, 2, penalty, tol=1e-4)
    assert sol.penalty == penalty
    again = unpack(pack(sol), DenseCovariance(S))
    assert again.penalty == penalty and again.alpha == penalty.alpha
    np.testing.assert_array_equal(again.projection.toarray(), sol.projection.toarray())
    assert again.verify(S) == sol.verify(S)
    with pytest.raises(CertificateError, match="not the matrix that was solved"):
        again.verify(2 * S)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_path_and_warm_start(name):
    penalty = CASES[name][0]
    path = fantope.solve_path(S, 2, penalty=penalty, n_alphas=4, tol=1e-4)
    assert len(path) == 4 and all(sol.status is fantope.Status.SOLVED for sol in path)
    assert path[2].penalty == penalty.scaled(path.alphas[2])
    assert path.alphas[0] == pytest.approx(fantope.alpha_max(S, 2, penalty))
    for sol in path:
        sol.verify(S)
    cold = fantope.solve(S, 2, penalty, tol=1e-6)
    warm = fantope.solve(S, 2, penalty, tol=1e-6, init=cold)
    assert warm.n_iter <= cold.n_iter / 4
    assert warm.objective >= cold.objective and warm.dual_bound <= cold.dual_bound
    other = fantope.solve(S, 2, 0.1, init=cold)  # another penalty's X is a start all the same
    assert other.status is fantope.Status.SOLVED


@pytest.mark.slow
def test_estimator_and_operator():
    Z = fantope.simulate(80, 30, sizes=(6, 5)).Z
    penalty = Group(0.2, np.arange(30) // 5)
    fitted = fantope.SparsePCA(2, penalty=penalty).fit(Z)
    sol = fantope.solve(fantope.covariance(Z), 2, penalty)
    np.testing.assert_allclose(np.abs(fitted.components_), np.abs(sol.components), atol=0.05)
    sol.verify()
    chosen = fantope.SparsePCACV(2, penalty=Trend(1.0), alphas=[0.3, 0.1], cv=2).fit(Z)
    assert chosen.solution_.penalty == Trend(chosen.alpha_)


@pytest.mark.slow
def test_special_cases_are_the_l1_norm():
    plain = fantope.solve(S, 2, 0.1, tol=1e-6)
    for same in (Group(0.1, range(P)), Group(0.1, ["all"] * P, l1_share=1.0), Smooth(0.1, 0.0)):
        sol = fantope.solve(S, 2, same, tol=1e-6)
        assert max(sol.objective, plain.objective) <= min(sol.dual_bound, plain.dual_bound) + 1e-9


@pytest.mark.slow
def test_a_large_rho_is_solved_to_the_tolerance():
    """Beside ρL every optimum is about zero; what counts is its size beside S."""
    t, rng = np.linspace(0.0, 1.0, 60), np.random.default_rng(0)
    bump = np.exp(-0.5 * ((t - 0.3) / 0.05) ** 2)
    curves = np.outer(rng.standard_normal(60), bump) + 0.7 * rng.standard_normal((60, 60))
    sol = fantope.solve(np.cov(curves, rowvar=False), 2, Smooth(0.05, 1e4))
    assert sol.gap <= 1e-4 and sol.status is fantope.Status.SOLVED


def test_groups_by_name_are_lists_of_variables():
    assert Group(0.1, {"a": [0, 2], "b": [1]}) == Group(0.1, [[0, 2], [1]]) == Group(0.1, ["a", "b", "a"])


def test_whole_groups_come_and_go():
    sim = fantope.simulate(200, 40, sizes=(10, 5))
    sol = fantope.solve(np.cov(sim.Z, rowvar=False), 2, Group(0.3, np.arange(40) // 5))
    assert sorted(set(sol.support // 5)) == [0, 1, 2]
    assert len(sol.support) == 15


@pytest.mark.slow
def test_ctrl_c_at_once_and_a_limit():
    def stop(record):
        raise KeyboardInterrupt

    for penalty, _ in CASES.values():
        sol = fantope.solve(S, 2, penalty, tol=1e-9, callback=stop)
        assert sol.status is fantope.Status.INTERRUPTED
        sol.verify(S)
        assert fantope.solve(S, 2, penalty, tol=1e-9, max_iter=3).verify(S).gap > 0


def test_a_damaged_dual_point_is_found():
    sol = fantope.solve(S, 2, Trend(0.1))
    parts = (2.0 * sol.dual.reduced.parts[0],)
    broken = StructuredDual(parts, sol.dual.reduced.penalty)
    object.__setattr__(sol.dual, "reduced", broken)
    with pytest.raises(CertificateError, match="leaves the dual set of the penalty by"):
        sol.verify(S)


def test_solvers():
    sol = fantope.solve(S, 1, NonNegative(0.1), solver=StructuredAdmm(step_size=0.2))
    assert sol.solver == "structured-admm" and sol.step_size == 0.2
    with pytest.raises(
        ValueError, match="solver must be 'auto' or 'admm' for a penalty that couples entries, Trend, got"
    ):
        fantope.solve(S, 1, Trend(0.1), solver="gradfps")
    with pytest.raises(ValueError, match=r"solver must be 'auto' or 'admm' .* got Admm"):
        fantope.solve(S, 1, Group(0.1, range(P)), solver=Admm())
    with pytest.raises(TypeError, match="this solver needs a structured penalty"):
        fantope.solve(S, 1, L1(0.1), solver=StructuredAdmm())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Group(0.1, [[0, 1], [1, 2]]), "groups must not overlap, but variable 1 is in groups 0 and 1; keep it"),
        (lambda: Group(0.1, [[0, 1], [3]]), "groups must hold every variable, but 2 is in none; give it a group"),
        (lambda: Group(0.1, [[0.5]]), "groups must hold variables by their numbers, 0 or larger, got 0.5"),
        (lambda: Group(0.1, []), "groups must be a label for each variable, or lists of variables, got"),
        (lambda: Group(0.1, "abc"), "groups must be a label for each variable, or lists of variables, got 'abc'"),
        (lambda: Group(0.1, ["a", ["b"]]), "got a mixture; use one of both"),
        (
            lambda: Group(0.1, np.array([1.0, np.nan])),
            "groups must have a label for each variable, got nan for variable 1",
        ),
        (lambda: Group(0.1, ["a", None, "b"]), "got None for variable 1; give it a group of its own"),
        (lambda: Group(0.1, [0, 1], l1_share=1.5), "l1_share must be from 0 to 1, got 1.5"),
        (lambda: Group(-0.1, [0, 1]), "alpha must be a finite number, 0 or larger"),
        (lambda: Smooth(0.1, -1.0), "rho must be a finite number, 0 or larger"),
        (lambda: Smooth(0.1, 1.0, order=0), "order must be a whole number, 1 or larger"),
        (lambda: Smooth(0.1, 1.0, order=1, laplacian=RING), "order and laplacian both say what is smooth; give one"),
        (lambda: Smooth(0.1, 1.0, laplacian=np.eye(3)[:2]), r"laplacian must be a square \(p, p\) array, got shape"),
        (lambda: Smooth(0.1, 1.0, laplacian=np.triu(RING)), "laplacian must be symmetric, got"),
        (lambda: Smooth(0.1, 1.0, laplacian=-RING), "laplacian must be positive semidefinite, .* got an eigenvalue"),
        (lambda: Smooth(0.1, 1.0, laplacian=np.full((2, 2), np.nan)), "laplacian must be finite, got nan"),
        (lambda: Smooth(0.1, 1.0, laplacian=np.zeros((0, 0))), r"laplacian must be a square \(p, p\) array, got shape"),
        (lambda: Smooth(0.1, 1.0, laplacian=1j * RING), r"laplacian must be a numeric \(p, p\) array, got ndarray"),
        (
            lambda: fantope.solve(S, 1, Smooth(0.1, 1e200)),
            "rho must be such that rho·L is at most 1e\\+140, got 1e\\+200",
        ),
        (lambda: Smooth(0.1, 1.0, laplacian="ring"), r"laplacian must be a numeric \(p, p\) array, got str"),
        (lambda: Trend(0.1, order=0), "order must be a whole number, 1 or larger"),
        (lambda: Trend(0.1, order=1.5), "order must be a whole number, 1 or larger"),
        (lambda: Trend(0.1, l1=-1.0), "l1 must be a finite number, 0 or larger"),
        (lambda: NonNegative("much"), "alpha must be a finite number, 0 or larger"),
        (
            lambda: fantope.solve(S, 1, Group(0.1, [0, 1])),
            "groups must have each of the 10 variables of S in one group",
        ),
        (
            lambda: fantope.solve(S, 1, Trend(0.1, order=10)),
            "order must be less than the number of variables, 10, got 10",
        ),
        (lambda: fantope.solve(S, 1, Smooth(0.1, 1.0, order=12)), "order must be less than the number of variables"),
        (lambda: fantope.solve(S, 1, Smooth(0.1, 1.0, laplacian=np.eye(3))), r"laplacian must have shape \(10, 10\)"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_too_many_variables_is_a_sentence(monkeypatch):
    monkeypatch.setattr("fantope.problem.decomposition.DENSE_UP_TO", 5)
    with pytest.raises(ValueError, match="where S has more than 5 variables, got Trend and 10; choose fewer variables"):
        fantope.solve(S, 1, Trend(0.1))
