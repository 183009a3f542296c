"""Work that was kept by a store."""

import numpy as np
import pytest

from fantope.coexpression.analysis.store import kept
from fantope.io import Cache


@pytest.mark.parametrize("state", [{"x": 1}, {"genes": "a", "modules": 1.0, "leading": None}])
def test_a_state_of_another_kind_is_as_good_as_none(state, tmp_path):
    cache = Cache(tmp_path / "cache", print)
    cache.put("a", state)
    assert kept(cache, "a", lambda found: found["genes"].shape) is None
    cache.put("a", {"genes": np.zeros(2)})
    assert kept(cache, "a", lambda found: found["genes"].shape) == (2,)
    assert kept(None, "a", len) is None
