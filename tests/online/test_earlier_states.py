import numpy as np
import pytest

import fantope
from fantope.checkpoint import read_checkpoint, write_checkpoint
from fantope.online.persist import KIND


def without_unit(state):
    return {
        key: without_unit(value) if isinstance(value, dict) else value
        for key, value in state.items()
        if key not in ("unit", "size")
    }


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["online-t", "online-p", "ftl"])
def test_a_state_from_before_units_goes_on_to_the_bit(algorithm, tmp_path):
    """Version 4 had no unit, which was 1: as it is for data of size about one."""
    Z = np.random.default_rng(0).standard_normal((40, 8))
    learner = fantope.OnlineSparsePCA(2, alpha=0.1, algorithm=algorithm).partial_fit(Z[:25])
    file = tmp_path / "state"
    learner.save(file)
    header, state = read_checkpoint(file, KIND)
    earlier = without_unit(state)
    assert earlier != state
    write_checkpoint(file, (KIND[0], 4), header, earlier)
    again = fantope.load(file)
    for each in (learner, again):
        each.partial_fit(Z[25:])
    assert np.array_equal(again.components_, learner.components_)


@pytest.mark.slow
def test_a_state_from_before_windows_and_networks_goes_on_to_the_bit(tmp_path):
    """Version 5 knew neither, nor checks."""
    Z = np.random.default_rng(0).standard_normal((40, 8))
    learner = fantope.OnlineSparsePCA(2, alpha=0.1).partial_fit(Z[:25])
    file = tmp_path / "state"
    learner.save(file)
    header, state = read_checkpoint(file, KIND)
    for new in ("estimator", "watch"):
        del header[new]
    for new in ("window", "solve_every"):
        del header["parameters"][new]
    write_checkpoint(file, (KIND[0], 5), header, state)
    again = fantope.load(file)
    for each in (learner, again):
        each.partial_fit(Z[25:])
    assert np.array_equal(again.components_, learner.components_)


def test_a_state_from_before_the_guess_for_a_trial_goes_on_without_it(tmp_path):
    """Online-P had another one in its place. It decides when an answer is tried, not which is accepted."""
    Z = np.random.default_rng(0).standard_normal((12, 8))
    learner = fantope.OnlineSparsePCA(2, alpha=0.1, algorithm="online-p").partial_fit(Z[:10])
    file = tmp_path / "state"
    learner.save(file)
    header, state = read_checkpoint(file, KIND)
    inner = next(part for part in (state, *state.values()) if isinstance(part, dict) and "warm_left" in part)
    inner["warm_excess"] = 10.0 * inner.pop("warm_left")
    write_checkpoint(file, KIND, header, state)
    again = fantope.load(file)
    for each in (learner, again):
        each.partial_fit(Z[10:])
    np.testing.assert_allclose(np.abs(again.components_), np.abs(learner.components_), atol=0.02)


def test_still_earlier_states_are_refused(tmp_path):
    file = tmp_path / "state"
    fantope.OnlineSparsePCA(1, alpha=0.1).partial_fit(np.eye(3)).save(file)
    header, state = read_checkpoint(file, KIND)
    write_checkpoint(file, (KIND[0], 3), header, state)
    with pytest.raises(ValueError, match="format version 3"):
        fantope.load(file)
