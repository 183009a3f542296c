"""A solution as arrays and plain values, without S, which the data give back."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np

from fantope.checkpoint import State
from fantope.operators import Covariance
from fantope.penalties import L1, Entrywise, WeightedL1
from fantope.problem.dual import DenseDual, ExtendedDual, LiftedDual, ReducedDual
from fantope.problem.projection import Factors
from fantope.solvers import Record, Solution, Status
from fantope.typing import Array, IntArray

NUMBERS = ("objective", "dual_bound", "n_iter", "solver", "n_components", "n_features", "step_size")


def pack(solution: Solution) -> State:
    """Return all of a solution but S, as a checkpoint holds it; :func:`unpack` gives it back to the bit."""
    return {
        **{name: getattr(solution, name) for name in NUMBERS},
        "status": solution.status.name,
        "factors": dict(vars(solution.factors)),
        "history": np.array([astuple(record) for record in solution.history]).reshape(-1, 6),
        "dual": pack_dual(solution.dual),
    }


def unpack(state: State, S: Covariance) -> Solution:
    """Return the solution that :func:`pack` took apart, with its matrix."""
    history = (Record(int(k), t, low, high, gap, int(n)) for k, t, low, high, gap, n in state["history"].tolist())
    dual = unpack_dual(state["dual"], S)
    return Solution(
        **{name: state[name] for name in NUMBERS},
        status=Status[state["status"]],
        penalty=dual.penalty,
        factors=Factors(**state["factors"]),
        dual=dual,
        covariance=S,
        history=tuple(history),
    )


def pack_dual(dual: LiftedDual) -> State:
    """Return the penalty, and what of U no rule gives: the rows of an active set, or the upper half of a dense U.

    Between components and among the other variables U follows from S (see docs/guarantees.md).
    """
    kept = np.flatnonzero(dual.position >= 0)
    parts: State = {"alpha": dual.alpha, "labels": dual.labels.astype(np.int32), "kept": kept.astype(np.int32)}
    if isinstance(dual.penalty, WeightedL1):
        parts |= {"weighted": dual.penalty.rows.astype(np.int32), "weights": dual.penalty.weights}
    if isinstance(dual.reduced, ExtendedDual):
        return parts | {"active": dual.reduced.active.astype(np.int32), "rows": dual.reduced.U}
    return parts | {"half": _half(dual, kept)}


def _half(dual: LiftedDual, kept: IntArray) -> Array:
    """Return the upper half of U, row by row, with zeros between components, where U follows from S."""
    m = len(kept)
    labels = dual.labels[kept]
    half = np.empty(m * (m + 1) // 2)
    filled = 0
    for i in range(m):
        row = dual.block(kept[i : i + 1], kept[i:])[0]
        half[filled : filled + m - i] = np.where(labels[i:] == labels[i], row, 0.0)
        filled += m - i
    return half


def unpack_dual(parts: State, S: Covariance) -> LiftedDual:
    """Return U for the matrix S that it is about.

    Raises
    ------
    ValueError, KeyError, TypeError or IndexError
        If the parts do not fit each other or S.
    """
    labels, kept = parts["labels"].astype(np.intp), parts["kept"].astype(np.intp)
    if len(labels) != S.size:
        raise ValueError(f"it is about {len(labels)} variables, but the data have {S.size}")
    _check_indices(labels, len(labels), distinct=False)
    _check_indices(kept, S.size)
    position = np.full(S.size, -1, dtype=np.intp)
    position[kept] = np.arange(len(kept))
    penalty = _penalty(parts, S.size)
    return LiftedDual(S, penalty, labels, position, _reduced(parts, penalty.restrict(kept), len(kept)))


def _penalty(parts: State, size: int) -> Entrywise:
    alpha = float(parts["alpha"])
    if "weights" not in parts:
        return L1(alpha)
    whole = len(parts["weights"]) == size
    penalty = (
        WeightedL1(alpha, parts["weights"])
        if whole
        else WeightedL1.on_block(alpha, parts["weighted"].astype(np.intp), parts["weights"])
    )
    penalty.check(size)
    return penalty


def _check_indices(indices: IntArray, size: int, *, distinct: bool = True) -> None:
    if indices.ndim != 1 or len(indices) == 0 or indices.min() < 0 or indices.max() >= size:
        raise ValueError("indices out of range")
    if distinct and (np.diff(indices) <= 0).any():
        raise ValueError("indices not ascending")


def _reduced(parts: State, penalty: Entrywise, m: int) -> ReducedDual:
    """Return the dual point of the reduced problem, over the kept variables."""
    if "half" in parts:
        U = np.zeros((m, m))
        upper = np.triu_indices(m)
        U[upper] = parts["half"]
        U.T[upper] = parts["half"]
        return DenseDual(U, penalty)
    active = parts["active"].astype(np.intp)
    if len(active):
        _check_indices(active, m)
    rows = np.asarray(parts["rows"], dtype=np.float64)
    if rows.shape != (len(active), m):
        raise ValueError(f"rows of shape {rows.shape} for {len(active)} active of {m} variables")
    return ExtendedDual(penalty, active, rows)
