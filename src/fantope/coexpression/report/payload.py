"""The numbers behind the report's figures, small enough to travel inside it."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fantope.coexpression.analysis.modules import genes_in_use
from fantope.coexpression.analysis.result import Coexpression, Differential, GroupResult
from fantope.coexpression.report.panels import network, panels
from fantope.coexpression.view import bands, by_module, by_specificity, densities, loadings

LISTED = 300  # names of genes that enter or leave at one alpha; more would not be read
Floats = NDArray[np.float64]


def quantised(values: Floats) -> str:
    """Return numbers within ±1 as base64 of one signed byte each; 127 stands for 1.

    Correlations keep two digits, which is what a colour and a tooltip can show, at an eighth of the size.

    Examples
    --------
    >>> list(np.frombuffer(base64.b64decode(quantised(np.array([1.0, 0.0, -0.5]))), dtype=np.int8))
    [np.int8(127), np.int8(0), np.int8(-64)]
    """
    scaled = np.rint(127 * np.clip(np.nan_to_num(values), -1.0, 1.0)).astype(np.int8)
    return base64.b64encode(scaled.tobytes()).decode("ascii")


def as_script(value: Any) -> str:
    """Return JSON that can stand inside a script element: no text in it can end the element or start a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def payload(result: Coexpression) -> dict[str, Any]:
    """Return all that the report's script draws."""
    known = panels(result)
    used = {name: k for k, name in enumerate(known["names"][: known["used"]])}
    groups = result.groups.values()
    return {
        "groups": list(result.groups),
        "selection": _selection(result),
        "modules": [_modules(group) for group in groups],
        "panels": known,
        "networks": [[network(group, name, used) for name in group.modules["module"]] for group in groups],
        "pairs": [_pair(result, pair) for pair in result.differential],
    }


def _selection(result: Coexpression) -> dict[str, Any]:
    table = result.selection.sort_values("alpha").reset_index(drop=True)
    groups = list(result.groups)
    union = sorted(
        {int(j) for group in result.groups.values() for solution in group.path for j in genes_in_use(solution)}
    )
    position = {j: k for k, j in enumerate(union)}
    return {
        "alphas": _numbers(table["alpha"]),
        "overlap": _numbers(table["overlap"]),
        "eligible": [bool(value) for value in table["eligible"]],
        "chosen": int(np.argmax(table["chosen"].to_numpy(dtype=bool))),
        "sizes": [_numbers(table[f"n_{name}"]) for name in groups],
        "gaps": [_numbers(table[f"gap_{name}"]) for name in groups],
        "limits": [result.parameters["min_genes"], result.parameters["max_genes"]],
        "genes": [str(result.gene_names[j]) for j in union],
        "steps": [_steps(group, position) for group in result.groups.values()],
    }


def _steps(group: GroupResult, position: dict[int, int]) -> list[dict[str, Any]]:
    """Return, for each alpha in ascending order, the genes that enter and leave compared with the next larger one."""
    supports = [{int(j) for j in genes_in_use(solution)} for solution in reversed(group.path.solutions)]
    steps: list[dict[str, Any]] = []
    for support, before in zip(supports, [*supports[1:], set[int]()], strict=True):
        entering, leaving = sorted(support - before), sorted(before - support)
        steps.append(
            {
                "enter": [position[j] for j in entering[:LISTED]],
                "leave": [position[j] for j in leaving[:LISTED]],
                "counts": [len(entering), len(leaving)],
            }
        )
    return steps


def _modules(group: GroupResult) -> dict[str, Any]:
    table = by_module(group.genes)
    weights = loadings(table)
    # One gene may carry a component alone: a common scale would make all other components pale.
    limits = np.abs(weights).max(axis=0, initial=1e-12)
    return {
        **_heat_map(table, [group]),
        "loadings": {"count": len(limits), "limits": _numbers(limits), "values": quantised(weights / limits)},
    }


def _pair(result: Coexpression, pair: Differential) -> dict[str, Any]:
    shown = by_specificity(result, pair.first, pair.second)
    sides = [result.groups[name] for name in (pair.first, pair.second)]
    grid, curves = densities([group.correlation(_index(shown)) for group in sides])
    return {
        "groups": [pair.first, pair.second],
        "heat": {**_heat_map(shown, sides), "loadings": None},
        "density": {"x": _numbers(grid), "curves": [_numbers(curve) for curve in curves]},
        "volcano": {
            "genes": [str(name) for name in pair.genes["gene"]],
            **{name: _numbers(pair.genes[name]) for name in ("change", "p", "fdr")},
        },
        "null": _numbers(pair.null),
        "statistic": float(pair.statistic),
    }


def _heat_map(table: pd.DataFrame, groups: list[GroupResult]) -> dict[str, Any]:
    return {
        "genes": [str(name) for name in table["gene"]],
        "bands": [{"name": name, "start": start, "stop": stop} for name, start, stop in bands(table)],
        "matrices": [
            {"title": group.name, "values": quantised(group.correlation(_index(table)).to_numpy(dtype=float))}
            for group in groups
        ],
    }


def _index(table: pd.DataFrame) -> pd.Index[Any]:
    return table.set_index("gene").index


def _numbers(values: Any) -> list[float | None]:
    """Return numbers to five digits; None for what is none, because JSON has no NaN."""
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in np.asarray(values, dtype=float)]
