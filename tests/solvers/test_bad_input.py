"""Each sentence that a user may meet, and what provokes it."""

import numpy as np
import pytest
import scipy.sparse

import fantope
from fantope.solvers import Admm
from problems import BY_NAME, sample_covariance

S = sample_covariance(np.random.default_rng(0), 20, 6)


def changed(i, j, value):
    A = S.copy()
    A[i, j] = A[j, i] = value
    return A


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (changed(1, 4, np.nan), r"S must be finite, got nan in row 1, column 4; remove or impute missing values"),
        (changed(5, 5, np.inf), r"S must be finite, got inf in row 5, column 5"),
        (changed(2, 0, -np.inf), r"S must be finite, got -inf in row 0, column 2"),
        (S[:, :4], r"S must be a square \(p, p\) matrix, got shape \(6, 4\); for a data matrix use fantope.SparsePCA"),
        (S[0], r"S must be a square \(p, p\) matrix, got shape \(6,\)"),
        (np.zeros((2, 2, 2)), r"S must be a square \(p, p\) matrix, got shape \(2, 2, 2\)"),
        (3.0, r"S must be a square \(p, p\) matrix, got shape \(\)"),
        (np.zeros((0, 0)), r"S must have at least 2 variables, got shape \(0, 0\)"),
        (np.eye(1), r"S must have at least 2 variables, got shape \(1, 1\)"),
        (np.triu(S), r"S must be symmetric, got \|S − Sᵀ\| up to .*; pass \(S \+ S.T\) / 2"),
        ("covariance.csv", r"S must be a numeric \(p, p\) array or a covariance operator, got str that"),
        ([["a", "b"], ["c", "d"]], r"S must be a numeric .* got list that does not convert"),
        ([[1.0, 2.0], [3.0]], r"S must be a numeric .* got list"),
        ({"S": S}, r"S must be a numeric .* got dict"),
        (S.astype("datetime64[s]"), r"S must be a numeric .* got ndarray"),
        (np.ma.array(S, mask=S > 1.0), r"S must be an array without masked values, got \d+ of them; fill them in"),
        (1e160 * S, r"S must have its largest entry between 1e-140 and 1e\+140 .* divide S and alpha"),
        (1e-200 * S, r"S must have its largest entry between 1e-140 and 1e\+140"),
    ],
)
def test_matrix(matrix, message):
    with pytest.raises(ValueError, match=message):
        fantope.solve(matrix, 1, 0.1)
    with pytest.raises(ValueError, match=message):
        fantope.alpha_max(matrix, 1)


def test_large_matrix_with_one_bad_entry():
    A = np.eye(1200)
    A[1100, 3] = A[3, 1100] = np.nan
    with pytest.raises(ValueError, match="got nan in row 3, column 1100"):
        fantope.solve(A, 1, 0.1)
    A[1100, 3], A[3, 1100] = 0.5, 0.4
    with pytest.raises(ValueError, match=r"up to 0\.1"):
        fantope.solve(A, 1, 0.1)


def test_complex_matrix():
    with pytest.raises(ValueError, match="S must be a numeric"):
        fantope.solve(S + 1j * np.eye(6), 1, 0.1)


def test_sparse_matrix_is_accepted():
    assert fantope.solve(scipy.sparse.csr_array(S), 1, 0.1).objective == fantope.solve(S, 1, 0.1).objective


@pytest.mark.parametrize(
    ("d", "message"),
    [
        (0, "n_components must be at least 1 and less than the number of variables, 6, got 0; ask for 5 or fewer"),
        (-2, "n_components must be at least 1 .* got -2"),
        (6, "n_components must be at least 1 .* got 6; ask for 5 or fewer"),
        (60, "n_components must be at least 1 .* got 60"),
        (1.5, r"n_components must be a whole number from 1 to 5, got 1\.5"),
        (2.0, r"n_components must be a whole number from 1 to 5, got 2\.0"),
        ("2", r"n_components must be a whole number from 1 to 5, got '2'"),
        (True, r"n_components must be a whole number from 1 to 5, got True"),
        (None, r"n_components must be a whole number from 1 to 5, got None"),
    ],
)
def test_n_components(d, message):
    with pytest.raises(ValueError, match=message):
        fantope.solve(S, d, 0.1)
    with pytest.raises(ValueError, match=message):
        fantope.alpha_max(S, d)


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        (-0.1, r"alpha must be a finite number, 0 or larger, got -0\.1"),
        (np.nan, "alpha must be a finite number, 0 or larger, got nan"),
        (np.inf, "alpha must be a finite number, 0 or larger, got inf"),
        ("0.1", r"alpha must be a finite number, 0 or larger, got '0\.1' \(str\)"),
        (None, r"alpha must be a finite number, 0 or larger, got None \(NoneType\)"),
        (True, r"alpha must be a finite number, 0 or larger, got True \(bool\)"),
        (np.array([0.1, 0.2]), r"alpha must be a finite number, 0 or larger, got array.* \(ndarray\)"),
        (10**400, "alpha must be a finite number, 0 or larger, got inf"),
        (1j, r"alpha must be a finite number, 0 or larger, got 1j \(complex\)"),
    ],
)
def test_alpha(alpha, message):
    with pytest.raises(ValueError, match=message):
        fantope.solve(S, 1, alpha)


@pytest.mark.parametrize("number", [np.float32(0.5), np.int64(1), 1, np.float64(0.5)])
def test_numbers_of_other_types_are_accepted(number):
    assert fantope.solve(S, np.int32(2), number).alpha == float(number)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tol": 0}, "tol must be a finite number above 0, got 0"),
        ({"tol": -1e-3}, r"tol must be a finite number above 0, got -0\.001"),
        ({"tol": np.nan}, "tol must be a finite number above 0, got nan"),
        ({"tol": "tight"}, "tol must be a finite number above 0, got 'tight'"),
        ({"tol": 1e-15}, "tol must be at least 1e-10 for 6 variables, got 1e-15: double precision cannot certify"),
        ({"max_iter": 0}, "max_iter must be a whole number, 1 or larger, or None, got 0"),
        ({"max_iter": -5}, "max_iter must be a whole number, 1 or larger, or None, got -5"),
        ({"max_iter": 10.5}, r"max_iter must be a whole number, 1 or larger, or None, got 10\.5"),
        ({"max_iter": True}, "max_iter must be a whole number, 1 or larger, or None, got True"),
        ({"step_size": 0.0}, "step_size must be a finite number above 0, got 0"),
        ({"step_size": -1}, "step_size must be a finite number above 0, got -1"),
        ({"step_size": np.inf}, "step_size must be a finite number above 0, got inf"),
        ({"step_size": "auto"}, "step_size must be a finite number above 0, got 'auto'"),
        ({"solver": "newton"}, "solver must be one of 'auto', 'gradfps', 'admm', .* got 'newton'"),
        ({"solver": 3}, "solver must be a name or an object of fantope.solvers, got int"),
        ({"solver": None}, "solver must be a name or an object of fantope.solvers, got NoneType"),
        ({"solver": Admm(), "step_size": 0.1}, "step_size must be given to the solver object itself"),
        ({"init": np.eye(5)}, r"init must be a Solution or array for the same 6 variables, got shape \(5, 5\)"),
        ({"init": np.eye(6)[0]}, r"init must be a Solution or array for the same 6 variables, got shape \(6,\)"),
        ({"init": np.full((6, 6), np.nan)}, "init must be finite, got NaN or infinity; leave init out to start afresh"),
        ({"init": np.full((6, 6), np.inf)}, "init must be finite, got NaN or infinity"),
        ({"init": "last"}, "init must be"),
        ({"callback": 3}, "callback must be a function of one record, got 3"),
    ],
)
def test_options(options, message):
    with pytest.raises(ValueError, match=message):
        fantope.solve(S, 2, 0.1, **options)


def test_init_of_a_problem_of_another_size():
    instance = BY_NAME["random-30-d1"]
    other = fantope.solve(instance.S, 1, 0.2)
    with pytest.raises(ValueError, match=r"for the same 6 variables, got shape \(30, 30\)"):
        fantope.solve(S, 1, 0.1, init=other)


def test_options_are_keyword_only():
    with pytest.raises(TypeError):
        fantope.solve(S, 2, 0.1, "admm")


@pytest.mark.parametrize(("option", "value"), [("eigen", "some"), ("relax", 2.0), ("relax", 0.0)])
def test_options_of_admm(option, value):
    with pytest.raises(ValueError, match=f"{option} must be"):
        Admm(**{option: value})
