"""MCP and SCAD through solve and solve_path: every step certified, the concave objective never worse."""

import importlib
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import fantope
from fantope.penalties import MCP, SCAD, WeightedL1
from fantope.solvers import concave
from problems import BY_NAME, MEDIUM, Instance, assert_certified, correlation

KINDS = [MCP, SCAD]


def weights_of(sol):
    """Return the last step's weights as a (p, p) array."""
    everything = np.arange(sol.n_features)
    return sol.penalty.scaled(1.0).limits(everything, everything)


def certified(sol, S, alpha, tol=1e-4):
    """Check the last step by an independent computation, and the records."""
    assert isinstance(sol.penalty, WeightedL1)
    assert sol.alpha == alpha
    assert_certified(Instance("step", S, sol.n_components, alpha, weights_of(sol)), sol, tol=tol)
    values = [step.concave_objective for step in sol.steps]
    assert values == sorted(values)
    last = sol.steps[-1]
    assert (last.objective, last.dual_bound, last.gap) == (sol.objective, sol.dual_bound, sol.gap)
    assert last.n_variables == len(sol.support)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("instance", MEDIUM[:5], ids=repr)
def test_every_step_is_certified_and_none_is_worse(instance, kind):
    sol = fantope.solve(instance.S, instance.d, kind(instance.alpha))
    assert sol.status is fantope.Status.SOLVED
    assert len(sol.steps) == 3
    assert all(step.gap <= 1e-4 and step.status == "SOLVED" for step in sol.steps)
    certified(sol, instance.S, instance.alpha)
    sol.verify(instance.S)


def test_all_steps_but_the_last_may_have_a_wider_gap():
    Z = np.random.default_rng(0).standard_normal((40, 60))
    S = Z.T @ Z / 40
    loose = fantope.solve(S, 2, MCP(0.3, between=0.05))
    assert loose.steps[-1].gap <= 1e-4 < max(step.gap for step in loose.steps[:-1]) <= 0.05
    certified(loose, S, 0.3)


@pytest.mark.parametrize("kind", KINDS)
def test_the_concave_objective_is_what_it_is_said_to_be(kind):
    S, b = BY_NAME["paper-60"].S, 0.04
    sol = fantope.solve(S, 2, kind(0.3, b=b))
    X = np.abs(sol.projection.toarray())
    if kind is MCP:
        heights = np.where(b > X, X - X**2 / (2 * b), b / 2)
    else:
        k = b / 3.7
        middle = X - (X - k) ** 2 / (2 * (b - k))
        heights = np.select([k >= X, b > X], [X, middle], k + (b - k) / 2)
    expected = np.vdot(S, sol.projection.toarray()) - 0.3 * heights.sum()
    assert sol.steps[-1].concave_objective == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_a_worse_point_is_not_taken(monkeypatch):
    """A loose solver may return a point below the one it started from: then that one is the answer to the step."""
    S = BY_NAME["paper-60"].S
    calls = []

    def honest(penalty, init, enough=0.0):
        return fantope.solve(S, 2, penalty, init=init, tol=max(1e-4, enough))

    def convex(*args):
        calls.append(honest(*args))
        if len(calls) < 3:
            return calls[-1]
        poor = fantope.solve(S, 2, 2.0).factors
        return replace(calls[-1], factors=poor, objective=-100.0)

    good, found = (
        concave.concave_steps(fantope.operators.DenseCovariance(S), MCP(0.3), each) for each in (honest, convex)
    )
    np.testing.assert_array_equal(found.support, calls[1].support)
    assert found.objective > -100.0
    assert found.steps[1].concave_objective == found.steps[0].concave_objective == good.steps[0].concave_objective
    found.verify(S)


@pytest.mark.slow
def test_on_the_model_it_finds_the_groups_and_l1_does_not():
    sim = fantope.simulate(100, 200, random_state=3)
    Z = sim.Z - sim.Z.mean(axis=0)
    S = Z.T @ Z / 100
    sol = fantope.solve(S, 2, MCP(0.23))
    found, plain = (sim.recovery(each.components) for each in (sol, fantope.solve(S, 2, 0.115)))
    assert found.error < 0.8 * plain.error
    assert found.recall > 0.97 and found.precision > 0.9 > 0.7 > plain.precision
    assert sol.is_projection


def test_one_step_a_start_and_a_width_of_ones_own(monkeypatch):
    monkeypatch.setattr("fantope.solvers.concave.ROUGH", 0.0)
    S = BY_NAME["paper-60"].S
    sol = fantope.solve(S, 2, MCP(0.3, b=0.05, steps=1, start=0.2))
    start = fantope.solve(S, 2, 0.2)
    X = start.projection.toarray()[np.ix_(start.support, start.support)]
    expected = np.maximum(0.0, 1.0 - np.abs(X) / 0.05)
    np.testing.assert_array_equal(sol.penalty.rows, start.support)
    np.testing.assert_allclose(sol.penalty.weights, expected, atol=1e-12)
    assert sol.steps[0].n_free == (expected == 0.0).sum()
    assert sol.steps[0].mean_weight == pytest.approx(expected.mean())


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-6, 1e5])
def test_scale_equivariant(scale):
    S = BY_NAME["paper-60"].S
    one, other = fantope.solve(S, 2, MCP(0.3)), fantope.solve(scale * S, 2, MCP(0.3 * scale))
    np.testing.assert_array_equal(one.support, other.support)
    assert other.objective == pytest.approx(scale * one.objective, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["admm", "gradfps"])
def test_other_solvers(solver):
    S = BY_NAME["paper-60"].S
    sol = fantope.solve(S, 2, MCP(0.3), solver=solver, tol=1e-3)
    certified(sol, S, 0.3, tol=1e-3)


@pytest.mark.slow
def test_an_operator_is_the_same_as_its_matrix():
    Z = fantope.simulate(80, 150, random_state=2).Z
    op = fantope.covariance(Z, kind="correlation")
    S = op.block(np.arange(150), np.arange(150))
    sol, dense = fantope.solve(op, 2, MCP(0.25)), fantope.solve(S, 2, MCP(0.25))
    np.testing.assert_array_equal(sol.support, dense.support)
    assert sol.objective == pytest.approx(dense.objective, rel=1e-4)
    certified(sol, S, 0.25)
    sol.verify(op)


@pytest.mark.slow
def test_twenty_thousand_variables():
    """The weights are one number and a small block; nothing p × p is formed."""
    p, n = 20_000, 60
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, p))
    for k, width in enumerate((40, 30)):
        Z[:, 40 * k : 40 * k + width] += 2.0 * rng.standard_normal((n, 1))
    op = fantope.covariance(Z, kind="correlation")
    tracemalloc.start()
    try:
        sol = fantope.solve(op, 2, MCP(0.7, start=0.66), tol=1e-3)
        found = sol.verify()
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sol.status is fantope.Status.SOLVED and found.gap <= 1.01e-3
    assert used < 4e8
    assert len(sol.penalty.rows) < 500
    np.testing.assert_array_equal(sol.support, np.r_[:70])


def test_an_empty_alpha_and_a_huge_one():
    S = correlation(BY_NAME["paper-60"].S)
    assert fantope.solve(S, 2, MCP(0.0)).objective == pytest.approx(np.linalg.eigvalsh(S)[-2:].sum(), rel=1e-4)
    alone = fantope.solve(S, 2, MCP(50.0))
    assert 2 <= len(alone.support) <= 60 and alone.projection.trace() == pytest.approx(2.0)
    with pytest.raises(ValueError, match="alpha must be at most 1e"):
        fantope.solve(S, 2, MCP(1e200))


def test_paths_have_warm_starts_at_both_levels(monkeypatch):
    walk = importlib.import_module("fantope.path.walk")
    solve_parts, solved = walk.solve_parts, []

    def noted(S, parts, solver, tol, max_iter, init, *rest):
        solved.append((init, solve_parts(S, parts, solver, tol, max_iter, init, *rest)))
        return solved[-1][1]

    monkeypatch.setattr(walk, "solve_parts", noted)
    fantope.solve_path(BY_NAME["paper-60"].S, 2, [0.5, 0.35], penalty=MCP(9.0, steps=2))
    begins, ends = zip(*solved, strict=True)
    assert begins[0] is None  # then a start, and two steps, for each alpha
    for begin, end in ((1, 0), (2, 1), (3, 0), (4, 3), (5, 4)):
        np.testing.assert_array_equal(begins[begin].factors.vectors, ends[end].factors.vectors)
        assert begins[begin].dual is ends[end].dual and begins[begin].step_size is None


@pytest.mark.slow
def test_paths_are_what_single_solutions_are():
    S = BY_NAME["paper-60"].S
    path = fantope.solve_path(S, 2, [0.5, 0.35, 0.25], penalty=MCP(9.0, steps=2))
    assert path.alphas.tolist() == [0.5, 0.35, 0.25]
    for sol in path:
        certified(sol, S, sol.alpha, tol=1e-3)
        alone = fantope.solve(S, 2, MCP(sol.alpha, steps=2), tol=1e-3)
        assert alone.steps[-1].concave_objective == pytest.approx(sol.steps[-1].concave_objective, rel=5e-3)
    top = fantope.alpha_max(S, 2, SCAD(1.0))
    assert top == pytest.approx(fantope.alpha_max(S, 2) / 0.4)  # where the start has isolated variables alone
    automatic = fantope.solve_path(S, 2, penalty=SCAD(1.0), n_alphas=3)
    assert automatic.alphas[0] == top and len(automatic[0].support) == 2
    Z = fantope.simulate(80, 90, random_state=2).Z
    op = fantope.covariance(Z)
    over, dense = (
        fantope.solve_path(A, 2, [0.6, 0.4], penalty=MCP(1.0)) for A in (op, op.block(np.arange(90), np.arange(90)))
    )
    for one, other in zip(over, dense, strict=True):
        np.testing.assert_array_equal(one.support, other.support)


@pytest.mark.slow
def test_targets_take_them():
    sol = fantope.solve_for_size(BY_NAME["paper-60"].S, 2, 20, penalty=MCP(1.0))
    assert abs(len(sol.support) - 20) <= 2


@pytest.mark.slow
def test_the_summary_says_what_is_certified_and_what_is_not():
    S = BY_NAME["paper-60"].S
    text = fantope.solve(S, 2, MCP(0.3)).summary()
    assert "Certified is the optimum of each step" in text
    assert "Not certified is that no other X does better" in text
    assert "concave" not in fantope.solve(S, 2, 0.3).summary()


def test_ctrl_c_returns_the_last_finished_step(monkeypatch):
    S = BY_NAME["paper-60"].S
    module = importlib.import_module("fantope.solvers.solve")
    runs, solve_parts = [], module.solve_parts

    def counted(*args):
        runs.append(args)
        return solve_parts(*args)

    def stop(record):
        if len(runs) == 3:  # the start and one step are done
            raise KeyboardInterrupt

    monkeypatch.setattr(module, "solve_parts", counted)
    sol = fantope.solve(S, 2, MCP(0.3), callback=stop)
    assert sol.status is fantope.Status.INTERRUPTED
    assert len(sol.steps) == 1
    sol.verify(S)
