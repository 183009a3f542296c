"""Every constant of the method in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """When to decompose, when to look for an answer, when to change the metric, and how far to step.

    A residual is ‖X − Y‖ in the metric. The values were chosen on streams of the paper's model at p = 400. Around them
    the cost is flat: halving or doubling one at a time (a tenth and ten times where a value spans decades) changed the
    cost of two streams (p = 100, 24 samples, λ = 0.5 and 0.8√(log p/T), in decompositions) by −5 to +10 %, but for
    ``cap_rounds`` = 1, which took 63 % more. No tolerance was missed and the plain metric never needed.
    """

    # Steps to first order after the first decomposition, more after each further one, at most this number: the
    # first-order model holds longer the closer the iterates are to each other.
    first_inner: int = 3
    more_inner: int = 2
    most_inner: int = 16
    # Where the residual at a decomposition is more than this multiple of the one before it, the steps before went where
    # first order does not hold: half as many follow. (A sparse X has a hundred eigenvalues next
    # to zero: p = 400, λ = √(log p/T), t = 40, the residual fell fivefold in twelve steps and was then back threefold.)
    inner_jump: float = 1.2
    # A residual that has fallen to this part of the one at the last decomposition asks for the next one.
    inner_fall: float = 0.05
    # Residual above which a decomposition is in single precision, for half the time (1e-5: 3 % more work).
    rough_above: float = 2e-6
    # Iterations after which the metric is set anew, if the median of |log(Y_ii/expected)| is above this: X_ii is a
    # guess at first and known well enough after seven. (Nine: p = 400, λ = √(log p/T), 2 % more work, counted in
    # decompositions, steps and trials; always after seven: the same there, 5 % more at half that λ.)
    reviews: tuple[tuple[int, float], ...] = ((7, 0.1), (30, 0.5), (60, 0.5), (120, 0.5), (240, 0.5))
    least_expected: float = 0.03  # of what was expected: an X_ii that is smaller for the moment counts as this much
    floor: float = 1e-6  # of the mean: an expected X_ii below it counts as this much
    # Rows are left out while X loses no more than this part of the tolerance by all of them. Where at most this part of
    # the rows is used, the subproblem is solved on them to this part of the tolerance, in at most
    # rows_iter iterations; rows are added at most rows_rounds times.
    rows_loss: float = 0.25
    most_rows: float = 0.8
    rows_share: float = 0.6
    rows_iter: int = 600
    rows_rounds: int = 3
    # The dual point on all rows: ρ as a multiple of tr S in the metric with half the power, iterations after which it
    # is given up, decompositions in single precision before it is looked at, and what must be left from one look to the
    # next of the distance to the objective. A dual point further from it than this multiple of the tolerance is no
    # start for anything: 3 was seen where a few rows were missing, 2e5 and more after the second sample.
    bound_step: float = 4.0
    bound_iter: int = 60
    bound_rough: int = 2
    bound_fall: float = 0.8
    bound_far: float = 100.0
    # Iterations in a metric of its own before the plain one takes over, for this many further subproblems.
    give_up: int = 600
    rest: int = 3
    lost: float = 1e3  # a residual this many times the least one is not coming back
    # ρ as a multiple of the median curvature of the norm; larger where the dual point lags behind.
    least_step: float = 3.0
    most_step: float = 300.0
    # The dual point's path as a multiple of Y's at which ρ stays as it is, and the largest factor of its change from
    # one subproblem to the next.
    even: float = 3.0
    most_change: float = 1.5
    plain_step: float = 2.0  # ρ of the plain metric as a multiple of tr S
    # Differences that the acceleration keeps: with 7, four streams (p = 160, 60 samples: the paper's model with two λ,
    # counts, heavy tails) took 4 to 8 % more products and 1 to 4 % more decompositions than with 10; 20 take another
    # 3 % of the iterations, which the passes over them cost.
    memory: int = 12
    # Relative accuracy of ‖Y‖_{r,r} as a multiple of the residual; the plain splitting has a proof to keep.
    norm_tol: float = 100.0
    plain_norm_tol: float = 1e-3
    # Step of the multiplier PPᵀ of X ⪯ I as a multiple of the one that would remove the excess at once.
    cap_step: float = 0.25
    # Rounds of subspace iteration for the largest eigenvalues of X, and where nothing is known of them yet.
    cap_rounds: int = 2
    first_cap_rounds: int = 20
    # Below this largest eigenvalue X ⪯ I is not looked at for this number of steps.
    far_below: float = 0.8
    cap_rest: int = 5
    cap_scale: float = 1e-2  # scale of P in the accelerated vector, next to z
    good: float = 0.95  # of the tolerance: an expected gap below it is worth a trial
    loss_power: float = 0.7  # the residual falls about as this power of what X loses
    # What X loses is looked at below this multiple of the residual hoped for, or below this part of the residual of the
    # last look.
    look_from: float = 5.0
    look_part: float = 0.2
    next_trial: float = 0.9  # of the residual of a trial: the next one is not before it has fallen to this
    # Of the tolerance: where the multiplier of X ⪯ I is above it, the answer gets an eigenvalue of 1.
    full: float = 0.01
    # What Y, completed, still loses of X's loss on zeros: the least guess, and what is left of the guess where X itself
    # was good enough before Y was tried.
    least_left: float = 0.05
    forget_left: float = 0.7
    # The completion of Y: eigenvalues up to this multiple of the residual take part. Conjugate gradients: the most
    # steps, the residual to stop at as a part of the right-hand side, and what is added to the operator: directions
    # that hardly anything but zeros could change are left to the rounding.
    completion_reach: float = 10.0
    completion_steps: int = 40
    completion_accuracy: float = 0.1
    completion_ridge: float = 0.01
