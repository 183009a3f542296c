"""Change of co-expression between two groups: genes, modules and the structure as a whole, by permutation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

from fantope.checkpoint import State
from fantope.coexpression.analysis.correlation import Correlation
from fantope.coexpression.analysis.halves import Discovery
from fantope.coexpression.analysis.permutation import CLEAR, LEADING, SOLVE, TIE, PermutationTest, Statistics
from fantope.coexpression.analysis.result import Differential
from fantope.coexpression.analysis.store import Store, kept
from fantope.coexpression.analysis.two_sample import leading_difference
from fantope.typing import Array, IntArray

CHUNK = 50  # permutations between two visits to the store
KEPT = ("genes", "modules", "leading")  # of each chunk


def compare(
    found: tuple[Discovery, Discovery],
    gene_names: pd.Index,
    method: Correlation,
    *,
    permutations: int,
    seed: tuple[int, ...],
    store: Store | None,
    report: Callable[[int, float], object],
) -> Differential:
    """Compare what was found in two groups, by the samples that found nothing of it.

    ``gene_names`` are those of all analysed genes; ``report`` is called with the number of permutations done, and the
    share of the work.
    """
    first, second = found
    tested = np.union1d(first.genes, second.genes)
    modules, members = _module_rows(found, tested)
    designs = None if first.design is None or second.design is None else (first.design, second.design)
    test = PermutationTest(first.test[:, tested], second.test[:, tested], members, method, seed, designs)
    observed, D = test.observed()
    leading = leading_difference(D, test.alpha)
    reached_genes, reached_modules, null = _permute(test, observed, leading.value, permutations, store, report)
    return Differential(
        first=first.group,
        second=second.group,
        genes=_gene_table(found, tested, gene_names, observed, _p_values(reached_genes, permutations)),
        modules=_module_table(modules, observed, _p_values(reached_modules, permutations)),
        statistic=leading.value,
        p_value=_structure_p(null, leading.value),
        null=null,
        leading_genes=_leading_table(leading.loadings, gene_names[tested]),
        n_permutations=permutations,
        alpha=test.alpha,
        larger_in=first.group if leading.sign > 0 else second.group,
        n_test=(len(first.test), len(second.test)),
    )


def _permute(
    test: PermutationTest,
    observed: Statistics,
    value: float,
    permutations: int,
    store: Store | None,
    report: Callable[[int, float], object],
) -> tuple[IntArray, IntArray, Array]:
    """Run the permutations, chunk by chunk through the store; ``value`` is the leading eigenvalue that was observed."""
    genes = np.zeros(len(observed.genes), dtype=np.intp)
    modules = np.zeros(len(observed.modules), dtype=np.intp)
    null = np.zeros(0)
    name = "" if store is None else test.key
    for start in range(0, permutations, CHUNK):
        stop = min(start + CHUNK, permutations)
        key = f"permutations-{name}-{start}-{stop}"
        chunk = kept(store, key, lambda state: _counts(state, len(observed.genes), len(observed.modules)))
        if chunk is None:
            limit = value, CLEAR - _reached(null, value)
            chunk = dict(zip(KEPT, test.exceedances(observed, start, stop, limit), strict=True))
            if store is not None:
                store.put(key, chunk)
        genes += chunk["genes"]
        modules += chunk["modules"]
        null = np.concatenate([null, chunk["leading"]])
        solves = len(null) if _reached(null, value) == CLEAR else min(permutations, LEADING)
        report(stop, (stop + SOLVE * len(null)) / (permutations + SOLVE * solves))
    return genes, modules, null


def _reached(null: Array, value: float) -> int:
    return int((null >= value - TIE).sum())


def _structure_p(null: Array, value: float) -> float:
    """Return the p-value of the leading eigenvalue, by permutations that stop when 20 have reached it.

    With the 20th in the l-th permutation it is 20/l, which is as valid as the usual one (Besag and Clifford, 1991).
    """
    reached = _reached(null, value)
    return CLEAR / len(null) if reached == CLEAR else float(_p_values(reached, len(null)))


def _counts(state: State, n_genes: int, n_modules: int) -> State:
    """Return what was kept of a chunk of permutations, if it has the shapes and types of one."""
    for name, length in zip(KEPT, (n_genes, n_modules, None), strict=True):
        array, kinds = state[name], "f" if name == "leading" else "iu"
        if array.dtype.kind not in kinds or array.ndim != 1 or length not in (None, len(array)):
            raise ValueError(f"{name} is not what was counted")
    return state


def _p_values(reached: Any, permutations: int) -> Array:
    """Return (1 + reached) / (1 + permutations): the observed labelling is one of those it is compared with."""
    return np.asarray((1.0 + reached) / (1.0 + permutations))


def _module_rows(
    found: tuple[Discovery, Discovery], tested: IntArray
) -> tuple[list[tuple[str, str, int, float]], Array]:
    """Return (group, module, size, share found again) of every module with a pair of genes, and who is in it."""
    rows: list[tuple[str, str, int, float]] = []
    columns = []
    for half in found:
        for k in np.argsort(half.names, kind="stable"):
            genes = half.genes[half.modules.labels == k]
            if len(genes) > 1:
                rows.append((half.group, half.names[k], len(genes), half.shares[k]))
                columns.append(np.isin(tested, genes))
    return rows, np.array(columns, dtype=np.float64).reshape(len(columns), len(tested)).T


def _changes(means: Array, p: Array) -> dict[str, Array]:
    """Return the columns that tables of genes and of modules have in common, from means in both groups."""
    return {
        "mean_first": means[:, 0],
        "mean_second": means[:, 1],
        "change": means[:, 1] - means[:, 0],
        "p": p,
        "fdr": false_discovery_control(p),
    }


def _gene_table(
    found: tuple[Discovery, Discovery], tested: IntArray, gene_names: pd.Index, observed: Statistics, p: Array
) -> pd.DataFrame:
    inside = [np.isin(tested, half.genes) for half in found]
    specific = np.where(inside[0] & inside[1], "", np.where(inside[0], found[0].group, found[1].group))
    module = []
    for gene, in_first in zip(tested, inside[0], strict=True):
        half = found[0] if in_first else found[1]
        module.append(half.names[int(half.modules.labels[np.searchsorted(half.genes, gene)])])
    named = {"gene": gene_names[tested], "specific_to": specific, "module": module}
    table = pd.DataFrame({**named, **_changes(observed.genes, p)})
    order = np.lexsort((-np.abs(table["change"]), table["p"]))
    return table.iloc[order].reset_index(drop=True)


def _module_table(modules: list[tuple[str, str, int, float]], observed: Statistics, p: Array) -> pd.DataFrame:
    table = pd.DataFrame(modules, columns=["group", "module", "n_genes", "found_again"])
    again = table.pop("found_again")
    return table.assign(**_changes(observed.modules, p), found_again=again)


def _leading_table(loadings: Array, genes: pd.Index) -> pd.DataFrame:
    order = np.argsort(-np.abs(loadings), kind="stable")
    order = order[loadings[order] != 0.0]
    return pd.DataFrame({"gene": genes[order], "loading": loadings[order]})
