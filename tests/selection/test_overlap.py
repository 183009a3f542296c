import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fantope.selection import select_by_overlap

SETS = {
    "a": [range(3), range(8), range(12), range(30)],
    "b": [range(2), range(2, 8), range(4, 12), range(30)],
}
ALPHAS = [0.9, 0.8, 0.7, 0.6]


def test_the_papers_rule():
    found = select_by_overlap(SETS, ALPHAS, min_variables=5, max_variables=15)
    assert found.eligible.tolist() == [False, True, True, False]
    np.testing.assert_allclose(found.overlap, [2 / 3, 6 / 8, 8 / 12, 1.0])
    assert found.alpha == 0.8  # 0.6 overlaps more but is too large
    table = found.to_frame()
    assert list(table.columns) == ["alpha", "n_a", "n_b", "overlap", "eligible", "chosen"]
    assert table["n_b"].tolist() == [2, 6, 8, 30] and table["chosen"].tolist() == [False, True, False, False]


def test_of_equals_the_sparsest():
    sets = {"a": [range(5), range(6)], "b": [range(5), range(6)]}
    assert select_by_overlap(sets, [0.5, 0.4], min_variables=2, max_variables=9).alpha == 0.5


def test_one_group_takes_the_largest_set_within_the_limits():
    found = select_by_overlap({"a": SETS["a"]}, ALPHAS, min_variables=5, max_variables=15)
    assert found.alpha == 0.7 and np.isnan(found.overlap).all()


def test_three_groups_share_what_all_have():
    sets = SETS | {"c": [range(3), range(4, 12), range(12), range(30)]}
    found = select_by_overlap(sets, ALPHAS, min_variables=5, max_variables=15)
    np.testing.assert_allclose(found.overlap[1:3], [4 / 12, 8 / 12])
    assert found.alpha == 0.7


@pytest.mark.slow
@given(st.lists(st.sets(st.integers(0, 20), min_size=1), min_size=2, max_size=2), st.integers(1, 5))
def test_overlap_is_a_share(pair, low):
    sets = {"a": [pair[0]], "b": [pair[1]]}
    if min(map(len, pair)) < low:
        with pytest.raises(ValueError, match="no alpha gives every group"):
            select_by_overlap(sets, [0.5], min_variables=low, max_variables=30)
    else:
        found = select_by_overlap(sets, [0.5], min_variables=low, max_variables=30)
        assert 0.0 <= found.overlap[0] <= 1.0
        assert (found.overlap[0] == 1.0) == (pair[0] == pair[1])


@pytest.mark.parametrize(
    ("low", "high", "match"),
    [
        (40, 50, r"alpha 0.9: 3 in a, 2 in b; .*all sets are too small: try alphas below 0.6"),
        (1, 1, "all sets are too large: try alphas above 0.9"),
        (13, 20, "step over the limits: try alphas between 0.6 and 0.7"),
    ],
)
def test_where_to_look(low, high, match):
    with pytest.raises(ValueError, match=match):
        select_by_overlap(SETS, ALPHAS, min_variables=low, max_variables=high)


def test_groups_that_do_not_go_together():
    sets = {"a": [range(3), range(5)], "b": [range(40), range(60)]}
    with pytest.raises(ValueError, match="one group has too few and another too many"):
        select_by_overlap(sets, [0.9, 0.8], min_variables=10, max_variables=30)


def test_sentences():
    with pytest.raises(ValueError, match="1 ≤ minimum ≤ maximum, got 9 and 3"):
        select_by_overlap(SETS, ALPHAS, min_variables=9, max_variables=3)
    with pytest.raises(ValueError, match="alphas must be descending"):
        select_by_overlap(SETS, ALPHAS[::-1])
    with pytest.raises(ValueError, match="each of the 1 alphas, got 4 for group 'a'"):
        select_by_overlap(SETS, [0.9])
