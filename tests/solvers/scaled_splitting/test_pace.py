"""When the solver of Online-P decomposes."""

from fantope.solvers.scaled_splitting.pace import Pace
from fantope.solvers.scaled_splitting.schedule import Schedule


def steps_after(pace, before, at):
    """Decompose with these residuals; return the number of steps to first order that follow."""
    assert pace.decomposes(before, True)
    pace.decomposed(at)
    n = 0
    while not pace.decomposes(at, False):
        n += 1
    pace.inner_left = 0
    return n


def test_fewer_steps_to_first_order_follow_where_they_went_too_far():
    schedule = Schedule()
    pace, first = Pace(schedule), schedule.first_inner
    assert steps_after(pace, 1.0, 1.0) == first
    assert [steps_after(pace, 1.0, 1.0) for _ in range(2)] == [first + 2, first + 4]
    far = 1.01 * schedule.inner_jump
    assert [steps_after(pace, 1.0, far) for _ in range(3)] == [first, first, first]
    assert steps_after(pace, 1.0, 1.0) == first + 2
