"""A solution as arrays and plain values, without S, which the data give back."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np

from fantope.checkpoint import State
from fantope.operators import Covariance
from fantope.penalties import L1, Entrywise, Group, NonNegative, Penalty, Smooth, Structured, Trend, WeightedL1
from fantope.problem.bounds import UNIT
from fantope.problem.decomposition import pose
from fantope.problem.dual import DenseDual, ExtendedDual, LiftedDual, StructuredDual
from fantope.problem.projection import Factors
from fantope.solvers import Record, Solution, Status
from fantope.solvers.result import Step
from fantope.typing import Array, IntArray

NUMBERS = ("objective", "dual_bound", "n_iter", "solver", "n_components", "n_features", "step_size")


def pack(solution: Solution) -> State:
    """Return all of a solution but S, as a checkpoint holds it; :func:`unpack` gives it back to the bit."""
    return {
        **{name: getattr(solution, name) for name in NUMBERS},
        "status": solution.status.name,
        "factors": dict(vars(solution.factors)),
        "history": np.array([astuple(record) for record in solution.history]).reshape(-1, 6),
        "dual": pack_dual(solution.dual, solution.penalty),
    }


def unpack(state: State, S: Covariance) -> Solution:
    """Return the solution that :func:`pack` took apart, with its matrix."""
    history = (Record(int(k), t, low, high, gap, int(n)) for k, t, low, high, gap, n in state["history"].tolist())
    dual, penalty = unpack_dual(state["dual"], S), unpack_penalty(state["dual"], S.size)
    return Solution(
        **{name: state[name] for name in NUMBERS},
        status=Status[state["status"]],
        penalty=penalty,
        factors=Factors(**state["factors"]),
        dual=dual,
        covariance=S,
        history=tuple(history),
        steps=tuple(Step(**step) for step in state.get("steps", ())),
    )


def pack_dual(dual: LiftedDual, penalty: Penalty) -> State:
    """Return the penalty, and what of U no rule gives: the rows of an active set, or the upper half of a dense U.

    Between components and among the other variables U follows from S (see docs/guarantees.md). Where a penalty couples
    entries these are the parts of U.
    """
    kept = np.flatnonzero(dual.position >= 0)
    parts: State = {"alpha": dual.alpha, "labels": dual.labels.astype(np.int32), "kept": kept.astype(np.int32)}
    parts |= pack_penalty(penalty)
    if isinstance(dual.reduced, StructuredDual):
        return parts | {f"part{k}": P for k, P in enumerate(dual.reduced.parts)}
    if isinstance(dual.reduced, ExtendedDual):
        parts |= {"active": dual.reduced.active.astype(np.int32), "rows": dual.reduced.U}
        return parts if dual.reduced.columns is None else parts | {"columns": dual.reduced.columns.astype(np.int32)}
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


def pack_penalty(penalty: Penalty) -> State:
    """Return what a penalty is, beside alpha; nothing for the ℓ₁ norm."""
    if isinstance(penalty, WeightedL1):
        return {"weighted": penalty.rows.astype(np.int32), "weights": penalty.weights}
    if isinstance(penalty, Smooth):
        own = {"order": penalty.order} if penalty.laplacian is None else {"laplacian": penalty.laplacian}
        return {"penalty": "smooth", "rho": penalty.rho, **own}
    if isinstance(penalty, Group):
        return {"penalty": "group", "groups": penalty.codes.astype(np.int32), "l1_share": penalty.l1_share}
    if isinstance(penalty, Trend):
        return {"penalty": "trend", "order": penalty.order, "l1": penalty.l1}
    if isinstance(penalty, NonNegative):
        return {"penalty": "non-negative"}
    return {}


def unpack_penalty(parts: State, size: int) -> Penalty:
    """Return the penalty that :func:`pack_penalty` took apart."""
    alpha, kind = float(_real(parts, "alpha")), str(parts.get("penalty", ""))
    penalty: Penalty
    if kind == "smooth":
        own = {"laplacian": parts["laplacian"]} if "laplacian" in parts else {"order": int(parts["order"])}
        penalty = Smooth(alpha, float(parts["rho"]), **own)
    elif kind == "group":
        penalty = Group(alpha, parts["groups"].tolist(), float(parts["l1_share"]))
    elif kind == "trend":
        penalty = Trend(alpha, int(parts["order"]), float(parts["l1"]))
    elif kind == "non-negative":
        penalty = NonNegative(alpha)
    elif kind:
        raise ValueError(f"a penalty that is not known, {kind!r}")
    else:
        penalty = _entrywise(parts, size)
    penalty.check(size)
    return penalty


def unpack_dual(parts: State, S: Covariance) -> LiftedDual:
    """Return U for the matrix S that it is about.

    Raises ValueError, KeyError, TypeError or IndexError if the parts do not fit each other or S.
    """
    labels, kept = _whole(parts, "labels"), _whole(parts, "kept")
    if len(labels) != S.size:
        raise ValueError(f"it is about {len(labels)} variables, but the data have {S.size}")
    _check_indices(labels, len(labels), distinct=False)
    _check_indices(kept, S.size)
    position = np.full(S.size, -1, dtype=np.intp)
    position[kept] = np.arange(len(kept))
    posed = pose(S, unpack_penalty(parts, S.size))
    if isinstance(posed.own, Structured):
        own = tuple(_real(parts, name) for name in sorted(parts) if name.startswith("part"))
        return LiftedDual(posed.S, posed.own, labels, position, StructuredDual(own, posed.own))
    reduced = _reduced(parts, posed.own.restrict(kept), len(kept))
    if isinstance(posed.own, L1 | WeightedL1):
        _check_box(reduced, labels[kept])
    return LiftedDual(posed.S, posed.own, labels, position, reduced)


def _check_box(dual: DenseDual | ExtendedDual, labels: IntArray) -> None:
    """Refuse a U outside the box: what was written is inside, and clipping would hide that it was changed."""
    every = np.arange(len(labels))
    rows, cols = (dual.active, dual.stored) if isinstance(dual, ExtendedDual) else (every, every)
    inside = np.abs(dual.U) <= (1.0 + 8.0 * UNIT) * np.asarray(dual.penalty.limits(rows, cols))
    inside |= (labels[rows][:, None] != labels[cols]) | (rows[:, None] == cols)  # where a rule says what U is
    if not inside.all():
        raise ValueError("U leaves the box of the penalty, or holds what is no number")


def _whole(parts: State, name: str) -> IntArray:
    found = np.asarray(parts[name])
    if found.dtype.kind not in "iu":
        raise ValueError(f"{name} are not whole numbers but {found.dtype}")
    return found.astype(np.intp)


def _real(parts: State, name: str) -> Array:
    found = np.asarray(parts[name])
    if found.dtype.kind not in "iuf":
        raise ValueError(f"{name} are not real numbers but {found.dtype}")
    return found.astype(np.float64, copy=False)


def _entrywise(parts: State, size: int) -> Entrywise:
    alpha = float(_real(parts, "alpha"))
    if "weights" not in parts:
        return L1(alpha)
    whole = len(parts["weights"]) == size
    if whole:
        return WeightedL1(alpha, parts["weights"])
    return WeightedL1.on_block(alpha, _whole(parts, "weighted"), parts["weights"])


def _check_indices(indices: IntArray, size: int, *, distinct: bool = True) -> None:
    if indices.ndim != 1 or len(indices) == 0 or indices.min() < 0 or indices.max() >= size:
        raise ValueError("indices out of range")
    if distinct and (np.diff(indices) <= 0).any():
        raise ValueError("indices not ascending")


def _reduced(parts: State, penalty: Entrywise, m: int) -> DenseDual | ExtendedDual:
    """Return the dual point of the reduced problem, over the kept variables."""
    if "half" in parts:
        U = np.zeros((m, m))
        upper = np.triu_indices(m)
        U[upper] = U.T[upper] = _real(parts, "half")
        return DenseDual(U, penalty)
    active = _whole(parts, "active")
    if len(active):
        _check_indices(active, m)
    rows, columns = _real(parts, "rows"), _whole(parts, "columns") if "columns" in parts else None
    if columns is not None:
        _check_indices(columns, m)
        if not np.isin(active, columns).all():
            raise ValueError("columns lack active variables")
    if rows.shape != (len(active), m if columns is None else len(columns)):
        raise ValueError(f"rows of shape {rows.shape} for {len(active)} active of {m} variables")
    return ExtendedDual(penalty, active, rows, columns)
