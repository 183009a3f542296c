import numpy as np
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from fantope.kernels.scan import component_labels


@given(p=st.integers(1, 40), density=st.floats(0.0, 0.3), seed=st.integers(0, 10**6))
def test_labels_are_those_of_scipy(p, density, seed):
    rng = np.random.default_rng(seed)
    S = rng.uniform(-1, 1, (p, p)) * (rng.uniform(size=(p, p)) < density)
    S = np.triu(S) + np.triu(S, 1).T
    alpha = 0.2
    graph = np.abs(S) > alpha
    np.fill_diagonal(graph, False)
    count, wanted = connected_components(scipy.sparse.csr_array(graph), directed=False)
    labels = component_labels(S, alpha)
    assert labels.max() + 1 == count
    # The same partition, and numbered by the first variable of each component.
    assert len(set(zip(labels.tolist(), wanted.tolist(), strict=True))) == count
    _, first = np.unique(labels, return_index=True)
    assert (np.diff(first) > 0).all()


def test_an_entry_equal_to_alpha_is_no_edge():
    S = np.array([[1.0, 0.5, -0.6], [0.5, 1.0, 0.0], [-0.6, 0.0, 1.0]])
    assert component_labels(S, 0.5).tolist() == [0, 1, 0]
    assert component_labels(S, 0.6).tolist() == [0, 1, 2]
    assert component_labels(S, 0.4).tolist() == [0, 0, 0]


def test_a_chain_is_one_component():
    p = 50
    order = np.random.default_rng(0).permutation(p)
    S = np.zeros((p, p))
    S[order[:-1], order[1:]] = S[order[1:], order[:-1]] = 1.0
    assert not component_labels(S, 0.5).any()
