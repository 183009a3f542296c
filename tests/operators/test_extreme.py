"""Data at the ends of double precision."""

import numpy as np
import pytest

import fantope


@pytest.mark.parametrize("kind", ["covariance", "correlation"])
@pytest.mark.parametrize("power", [-160, -170, -300])
def test_columns_whose_squares_vanish_are_not_called_constant(power, kind):
    Z = fantope.simulate(30, 8, sizes=(3, 2)).Z * 10.0**power
    with pytest.raises(ValueError, match=r"squares do not vanish, got column 0 .* multiply X by a large number"):
        fantope.covariance(Z, kind=kind)
    zeros = np.zeros((30, 8))
    assert fantope.covariance(zeros, kind="covariance").diagonal().max() == 0.0
    with pytest.raises(ValueError, match="constant columns"):
        fantope.covariance(zeros, kind="correlation")
