import numpy as np

from fantope.operators import DenseCovariance
from problems import sample_covariance

S = sample_covariance(np.random.default_rng(0), 20, 8)


def test_interface():
    operator = DenseCovariance(S)
    assert operator.size == 8
    np.testing.assert_array_equal(operator.diagonal(), S.diagonal())
    assert operator.S is S


def test_blocks_are_copies():
    operator = DenseCovariance(S.copy())
    everything = np.arange(8)
    pairs = [(everything, everything), (np.array([1, 3]), np.array([0, 7, 2])), (everything[::-1], everything)]
    for rows, cols in pairs:
        block = operator.block(rows, cols)
        np.testing.assert_array_equal(block, S[np.ix_(rows, cols)])
        block[:] = 0.0
        np.testing.assert_array_equal(operator.S, S)
    operator.diagonal()[:] = 0.0
    np.testing.assert_array_equal(operator.S, S)


def test_labels_are_integers_by_component():
    labels = DenseCovariance(np.diag([1.0, 2.0, 3.0])).component_labels(0.0)
    assert labels.dtype == np.intp
    assert labels.tolist() == [0, 1, 2]
    assert not DenseCovariance(S).component_labels(0.0).any()


def test_largest_off_diagonal():
    assert DenseCovariance(S).largest_off_diagonal() == np.abs(S - np.diag(S.diagonal())).max()
    assert DenseCovariance(np.diag([5.0, 1.0])).largest_off_diagonal() == 0.0


def test_the_last_strip_of_a_graph_may_be_short(monkeypatch):
    monkeypatch.setattr("fantope.operators.dense.STRIP", 100)
    wide = sample_covariance(np.random.default_rng(0), 20, 150)
    operator = DenseCovariance(wide)
    graph = operator.graph(0.5, apart=np.array([3, 120]))
    wide[3, 120] = wide[120, 3] = 0.0
    np.testing.assert_array_equal(graph.component_labels(0.5), operator.component_labels(0.5))
