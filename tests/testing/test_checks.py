"""The public checks pass on what is right, and say what is wrong with what is not."""

import numpy as np
import pytest

import fantope
from fantope.operators import DenseCovariance
from fantope.penalties import L1, Group, NonNegative, Smooth, Trend
from fantope.solvers import Admm
from fantope.testing import check_covariance, check_penalty, check_solver


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["auto", "admm", "gradfps"])
def test_solvers(solver):
    check_solver(solver)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["subgradient", "projected-subgradient"])
def test_baselines(solver):
    check_solver(solver, max_iter=300, reach=0.9)


@pytest.mark.parametrize("kind", ["covariance", "correlation"])
def test_operators(kind):
    Z = fantope.simulate(60, 45).Z
    check_covariance(fantope.covariance(Z, kind=kind))
    check_covariance(DenseCovariance(np.cov(Z, rowvar=False)))


@pytest.mark.parametrize(
    "penalty",
    [
        NonNegative(0.3),
        Group(0.3, [[0, 3], [1, 2, 4], range(5, 12)]),
        Group(0.3, list("aabbbccccccd"), l1_share=0.4),
        Smooth(0.2, 0.5),
        Smooth(0.2, 0.5, laplacian=np.diag(np.arange(12.0))),
        pytest.param(Trend(0.3), marks=pytest.mark.slow),
        pytest.param(Trend(0.3, order=2, l1=0.5), marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_penalties(penalty):
    check_penalty(penalty)


class Halved(L1):
    def value(self, X):
        return 0.5 * super().value(X)


class Squared(L1):
    def value(self, X):
        return super().value(X) ** 2


class Wide(L1):
    def clip(self, U, rows=None, cols=None):
        return np.clip(U, -2 * self.alpha, 2 * self.alpha, out=U)


class Hard(L1):
    def prox(self, A, step):
        return np.where(np.abs(A) > step * self.alpha, A, 0.0)


class Stuck(L1):
    def scaled(self, alpha):
        return self


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (Halved, "too large, or the value too small"),
        (Squared, "value must be homogeneous"),
        (Wide, "clip must end in the dual set"),
        (Hard, "prox must be one"),
        (Stuck, "scaled"),
    ],
)
def test_a_broken_penalty_is_caught(broken, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_penalty(broken(0.5))


class Shifted(DenseCovariance):
    def diagonal(self):
        return super().diagonal() + 1.0


class View(DenseCovariance):
    def block(self, rows, cols):
        if len(rows) == len(cols) == self.size:
            return self.S.copy()
        kept = self.__dict__.setdefault("kept", {})
        return kept.setdefault((tuple(rows), tuple(cols)), super().block(rows, cols))


class Blind(DenseCovariance):
    def component_labels(self, alpha):
        return np.arange(self.size)


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (Shifted, "diagonal must be that of the matrix"),
        (View, "block must be the caller's to overwrite"),
        (Blind, "component_labels must be the connected components"),
    ],
)
def test_a_broken_operator_is_caught(broken, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_covariance(broken(np.cov(fantope.simulate(60, 40).Z, rowvar=False)))


class Idle(Admm):
    def step(self, problem, state, budget):
        return 1


class Greedy(Admm):
    def step(self, problem, state, budget):
        for _ in range(20):
            super().step(problem, state, budget)
        return 20


@pytest.mark.slow
@pytest.mark.parametrize(("broken", "sentence"), [(Idle, "the gap is"), (Greedy, "20 iterations where max_iter was 3")])
def test_a_broken_solver_is_caught(broken, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_solver(broken())
