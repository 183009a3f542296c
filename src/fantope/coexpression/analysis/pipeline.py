"""The whole analysis: paths in all groups, the common alpha, active sets, modules, comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, get_args

import numpy as np
import pandas as pd

from fantope.checks import check_whole
from fantope.coexpression.analysis.annotation import associations, kme, preservation
from fantope.coexpression.analysis.choice import LIMITS, Choice, Rule, check_possible, check_rule, choose, group_alphas
from fantope.coexpression.analysis.correlation import Correlation, operator, rewrite
from fantope.coexpression.analysis.cross_table import check_labels, cross_table
from fantope.coexpression.analysis.differential import compare
from fantope.coexpression.analysis.estimate import estimated_cost
from fantope.coexpression.analysis.expression import Mangled, Missing, Prepared, Transform, prepare
from fantope.coexpression.analysis.halves import ENOUGH, SMALLEST_HALF, TOL, Discovery, match, split
from fantope.coexpression.analysis.modules import (
    Modules,
    describe_components,
    describe_modules,
    find_modules,
    genes_in_use,
    loadings_of,
)
from fantope.coexpression.analysis.paths import GroupPath, first_of_size, grid
from fantope.coexpression.analysis.remarks import remarks
from fantope.coexpression.analysis.result import Coexpression, Differential, GroupResult
from fantope.coexpression.analysis.store import Store
from fantope.errors import check_choice, listed, renamed, require
from fantope.events import Event, Listener, ignore
from fantope.path import Path
from fantope.selection.overlap import check_limits
from fantope.solvers import Solution
from fantope.solvers.validation import check_n_components, check_tol
from fantope.typing import Array, IntArray

# Parameters that are written down, beside those of the preparation.
SOLVING = ("n_components", "alphas", "match", "correlation", "min_genes", "max_genes", "n_modules", "permutations")


@dataclass(frozen=True)
class Settings:
    """What the steps need to know."""

    n_components: int
    alphas: list[float]
    match: str
    correlation: Correlation
    min_genes: int
    max_genes: int
    n_modules: int | None
    permutations: int
    tol: float
    random_state: int
    store: Store | None
    progress: Listener

    def path(self, Z: Array, alphas: list[float]) -> GroupPath:
        """Return the path of rewritten columns over some alphas, before its first step."""
        return GroupPath(operator(Z), Z, self.n_components, alphas, self.store)


@dataclass(frozen=True, eq=False)
class Group:
    """A group of samples with its solution at the chosen alpha."""

    name: str
    table: pd.DataFrame  # samples × all analysed genes
    Z: Array  # the same, rewritten
    path: Path
    solution: Solution
    active: IntArray  # genes in use, among all analysed ones
    modules: Modules
    design: Array | None  # covariates that were regressed out


def analyse(
    expression: pd.DataFrame,
    groups: Any = None,
    *,
    n_components: int = 5,
    alphas: Any = None,
    match: Rule = "auto",
    correlation: Correlation = "pearson",
    min_genes: int | None = None,
    max_genes: int | None = None,
    n_modules: int | None = None,
    labels: Mapping[str, pd.Series[Any]] | None = None,
    traits: pd.DataFrame | None = None,
    permutations: int = 1000,
    transform: Transform = "none",
    min_expressed: float = 0.5,
    covariates: pd.DataFrame | None = None,
    missing: Missing = "error",
    mangled: Mangled = "error",
    tol: float = 1e-3,
    random_state: int = 0,
    progress: Listener = ignore,
    store: Store | None = None,
) -> Coexpression:
    """Find co-expressed genes in one or more groups of samples, and what differs between the groups.

    Parameters
    ----------
    expression : DataFrame of samples × genes
    groups : Series, dict or sequence, optional
        Group of each sample; by default all samples are one group.
    n_components : int, default 5
    alphas : sequence of float, optional
        Penalties between 0 and 1, those of the largest group. They are solved in descending order until some group uses
        more than ``max_genes``. By default 0.99, 0.98, … 0.30.
    match : {"auto", "paper", "noise", "size"}
        Which alphas of different groups belong together. "paper": the same for all. "noise": a group of fewer samples
        has larger chance correlations, and an alpha that is larger by as much (:func:`group_alphas`). "size": those at
        which the groups use about as many genes. "auto" is "noise" where one group has more than 1.5 times the samples
        of another, and "paper" otherwise.
    correlation : {"pearson", "spearman", "bicor"}
        "bicor" is the biweight midcorrelation.
    min_genes, max_genes : int, optional
        Limits on the active set of every group at the chosen alpha. By default 50 and 300, with fewer than 600 genes a
        twelfth and a half of them, but at least two for each component. Genes without a partner do not count.
    n_modules : int, optional
        In each group; by default chosen by silhouette.
    labels : dict of str to Series, optional
        Other labellings of the genes to compare modules with, by name: WGCNA colours, for example, or sets of genes (a
        gene has a row for each). Modules are tested for each label against all analysed genes.
    traits : DataFrame, optional
        Numbers or words about the samples, by name of sample, to compare eigengenes with.
    permutations : int, default 1000
        For each pair of groups; the two-sample test, which solves a problem for each, takes at most 200, and ends when
        20 of them have reached the observed value. 0 leaves the comparison of groups out.
    transform, min_expressed, covariates, missing, mangled
        See :func:`fantope.coexpression.prepare`.
    tol : float, default 1e-3
        Relative gap, certified over all genes, of every solution that may be chosen; 1e-2 is enough for those whose
        sets are far too small.
    random_state : int, default 0
        Splits samples into halves, and permutes them.
    progress : callable, optional
        Called with an :class:`~fantope.events.Event` when a step is done; its text is a sentence.
    store : object with ``get(key)`` and ``put(key, value)``, optional
        Keeps solutions and permutations as they finish; :class:`fantope.io.Cache` does so in a folder. Keys name data,
        parameters and code, so one store serves many runs.

    Returns
    -------
    Coexpression

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from fantope.coexpression import analyse
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 200))
    >>> X[:, :30] += 3 * rng.standard_normal((60, 1))
    >>> X[:, 30:50] += 3 * rng.standard_normal((60, 1))
    >>> table = pd.DataFrame(X, columns=[f"G{j}" for j in range(200)])
    >>> found = analyse(table, n_components=2, alphas=[0.7, 0.6, 0.5], min_genes=20, max_genes=100)
    >>> found.groups["all"].modules[["module", "n_genes"]].to_numpy().tolist()
    [['M1', 30], ['M2', 20]]
    """
    preparation: dict[str, Any] = {"transform": transform, "min_expressed": min_expressed}
    preparation |= {"covariates": covariates, "missing": missing, "mangled": mangled}
    prepared = prepare(expression, groups, **preparation)
    d = check_n_components(n_components, prepared.expression.shape[1])
    low, high = limits(min_genes, max_genes, prepared.expression.shape[1], d)
    for name, value in (("permutations", permutations), ("random_state", random_state)):
        check_whole(name, value, 0)
    check_choice("correlation", correlation, get_args(Correlation))
    # What is wrong should come before the long work, not after it.
    for name, other in (labels or {}).items():
        check_labels(name, other, prepared.expression.columns)
    settings = Settings(
        n_components=d,
        alphas=grid(alphas),
        match=check_rule(match, {str(name): int(n) for name, n in prepared.groups.value_counts().items()}),
        correlation=correlation,
        min_genes=low,
        max_genes=high,
        n_modules=None if n_modules is None else check_whole("n_modules", n_modules, 1),
        permutations=int(permutations),
        tol=check_tol(tol, prepared.expression.shape[1]),
        random_state=int(random_state),
        store=store,
        progress=progress,
    )
    preparation["covariates"] = [] if covariates is None else [str(name) for name in covariates.columns]
    parameters = {name: getattr(settings, name) for name in SOLVING} | preparation
    parameters |= {"tol": settings.tol, "random_state": settings.random_state}
    if traits is not None:
        common = traits.index.isin(prepared.expression.index)
        require(common.any(), "traits", "have samples of the expression", listed([str(name) for name in traits.index]))
        require(not traits.index.duplicated().any(), "traits", "have each sample once", "some of them twice")
    return _analyse(prepared, settings, dict(labels or {}), traits, parameters)


def _analyse(
    prepared: Prepared,
    settings: Settings,
    labels: Mapping[str, pd.Series[Any]],
    traits: pd.DataFrame | None,
    parameters: Mapping[str, Any],
) -> Coexpression:
    notes = list(prepared.notes)
    genes = prepared.expression.columns
    tables = {name: prepared.expression[prepared.groups == name] for name in prepared.groups.unique()}
    columns = {name: rewrite(table.to_numpy(), settings.correlation) for name, table in tables.items()}
    choice = _choose(columns, settings)
    paths, selected = choice.paths, choice.selected
    notes += choice.notes
    groups = []
    for name, table in tables.items():
        solution = paths[name][selected.chosen]
        modules = _modules(solution, settings.n_modules)
        design = prepared.designs.get(name)
        groups.append(Group(name, table, columns[name], paths[name], solution, genes_in_use(solution), modules, design))
    common, specific = _shared({group.name: group.active for group in groups})
    used = np.unique(np.concatenate([group.active for group in groups]))
    remarked, said = remarks(prepared.expression, used, columns.values())
    notes += said
    results = {}
    for group in groups:
        results[group.name] = _result(group, used, specific[group.name], remarked, labels, traits, settings.correlation)
        found = f"{len(group.active)} genes in {len(group.modules.names)} modules"
        settings.progress(Event("modules", len(results), len(tables), group.name, found))
    halves = _halves(groups, settings, notes)
    table = selected.to_frame()
    for name, path in paths.items():
        if settings.match != "paper":
            table[f"alpha_{name}"] = path.alphas
        table[f"gap_{name}"] = path.gaps
    return Coexpression(
        gene_names=genes,
        alpha=selected.alpha,
        selection=table,
        groups=results,
        common=genes[common],
        specific={name: genes[indices] for name, indices in specific.items()},
        differential=_compare(halves, genes, settings),
        parameters=parameters,
        preservation=_preservation(groups, halves, settings),
        notes=tuple(notes),
        remarks=remarked,
    )


def limits(low: int | None, high: int | None, n_genes: int, n_components: int) -> tuple[int, int]:
    """Return the limits on the number of genes in use, and refuse those that ``n_genes`` genes cannot meet.

    Examples
    --------
    >>> limits(None, None, 20_000, 5), limits(None, None, 60, 5), limits(6, None, 60, 5)
    ((50, 300), (10, 30), (6, 30))
    """
    high = min(300, max(n_genes // 2, low or 1)) if high is None else high
    # A component needs two genes at least: with fewer the groups agree on next to nothing, which counts as agreement.
    low = min(max(min(50, n_genes // 12), 2 * n_components), high) if low is None else low
    with renamed(**LIMITS):
        check_limits(low, high)
    require(low <= n_genes, "min_genes", f"be at most {n_genes}, the number of genes", str(low))
    return low, high


def _choose(columns: Mapping[str, Array], settings: Settings) -> Choice:
    """Solve the paths and choose the alphas."""
    n_samples = {name: len(Z) for name, Z in columns.items()}
    n_genes = next(iter(columns.values())).shape[1]
    alphas = group_alphas(settings.alphas, n_samples, n_genes, settings.match)
    paths = {name: settings.path(Z, alphas[name]) for name, Z in columns.items()}
    first = next(iter(paths.values()))
    said = estimated_cost(
        list(n_samples.values()), n_genes, settings.max_genes, settings.permutations,
        lambda: first.S.component_labels(first.alphas[-1]),
    )  # fmt: skip
    settings.progress(Event("path", 1, settings.max_genes, message=said))
    check_possible(paths, settings.min_genes)
    return choose(paths, settings.match, settings.min_genes, settings.max_genes, settings.tol, settings.progress)


def _modules(solution: Solution, n_modules: int | None) -> Modules:
    return find_modules(loadings_of(solution), n_modules, n_components=solution.n_components)


def _shared(active: Mapping[str, IntArray]) -> tuple[IntArray, dict[str, IntArray]]:
    """Return the genes active in all groups, and for each group those active in no other."""
    genes, counts = np.unique(np.concatenate(list(active.values())), return_counts=True)
    once = genes[counts == 1] if len(active) > 1 else genes[:0]
    return genes[counts == len(active)], {name: np.intersect1d(mine, once) for name, mine in active.items()}


def _result(
    group: Group,
    used: IntArray,
    specific: IntArray,
    remarked: Mapping[str, str],
    labels: Mapping[str, pd.Series[Any]],
    traits: pd.DataFrame | None,
    method: Correlation,
) -> GroupResult:
    table, solution, active, names = group.table, group.solution, group.active, group.table.columns
    by_gene, by_module, eigengenes = describe_modules(group.Z[:, active], group.modules, names[active], table.index)
    by_gene.insert(2, "leverage", solution.projection.diagonal()[active])
    by_gene["specific"] = np.isin(active, specific)
    by_gene["proven"] = solution.verdicts()[active]
    by_gene["remark"] = [remarked.get(str(name), "") for name in names[active]]
    basis = solution.loadings("sparse")[active]
    loadings = {f"pc{k + 1}": row for k, row in enumerate(solution.components[:, active])}
    loadings |= {f"sparse{k + 1}": row for k, row in enumerate(basis.T)}
    components, places = describe_components(basis, group.Z[:, active], group.modules, len(names))
    assigned = pd.Series(by_gene["module"].to_numpy(), index=names[active])
    return GroupResult(
        name=group.name,
        expression=table.iloc[:, used],
        path=group.path,
        solution=solution,
        genes=pd.concat([by_gene, pd.DataFrame(loadings)], axis=1),
        modules=pd.concat([by_module, places], axis=1),
        components=components,
        eigengenes=eigengenes,
        choice=group.modules.choice,
        cross_tables=tuple(cross_table(key, other, assigned, names, group.Z) for key, other in labels.items()),
        traits=pd.DataFrame() if traits is None else associations(eigengenes, traits),
        method=method,
    )


def _halves(groups: Sequence[Group], settings: Settings, notes: list[str]) -> list[Discovery]:
    """Find genes and modules in one half of each group that is large enough; the other half is to test them."""
    if settings.permutations == 0:
        return []
    large = []
    for group in groups:
        needed = 2 * (SMALLEST_HALF + (0 if group.design is None else group.design.shape[1]))
        if len(group.table) >= needed:
            large.append(group)
        elif len(groups) > 1:
            beside = "" if group.design is None else " beside covariates"
            notes.append(
                f"Group {group.name!r} is not compared with others: it has {len(group.table)} samples, and a "
                f"comparison needs {needed}, half to find genes and half to test them{beside}."
            )
    halves = []
    for k, group in enumerate(large):
        half = _discover(k, group, settings)
        if half is not None:
            halves.append(half)
        else:
            notes.append(
                f"Group {group.name!r} is not compared with others: in half of its samples no two genes are correlated "
                f"above {settings.alphas[-1]:.3g}, the smallest alpha."
            )
    return halves


def _compare(halves: Sequence[Discovery], genes: pd.Index, settings: Settings) -> tuple[Differential, ...]:
    """Compare every pair of groups that were halved."""
    pairs = list(combinations(halves, 2))
    return tuple(
        compare(
            pair,
            genes,
            settings.correlation,
            permutations=settings.permutations,
            seed=(settings.random_state, 1, number),
            store=settings.store,
            report=partial(_permuted, pair, number, len(pairs), settings),
        )
        for number, pair in enumerate(pairs)
    )


def _permuted(
    pair: tuple[Discovery, Discovery], number: int, pairs: int, settings: Settings, done: int, share: float
) -> None:
    """Report the permutations of a pair of groups, in thousandths of the work for each pair."""
    subject = f"{pair[0].group} against {pair[1].group}"
    message = f"{done} of {settings.permutations} permutations"
    settings.progress(Event("permutations", round(1000 * (number + share)), 1000 * pairs, subject, message))


def _discover(number: int, group: Group, settings: Settings) -> Discovery | None:
    """Find genes and modules in a random half of a group, about as many genes as the whole group has; None of none."""
    X = group.table.to_numpy()
    discovery, test = split(len(X), np.random.default_rng((settings.random_state, 0, number)))
    # Half the samples have larger chance correlations, so that as many genes are in use at a larger alpha.
    larger = [alpha for alpha in grid(None) if alpha > settings.alphas[0]]
    Z = rewrite(X[discovery], settings.correlation)
    path = settings.path(Z, larger + settings.alphas)
    solution = first_of_size(path, int(ENOUGH * len(group.active)), TOL, settings.progress)
    genes = genes_in_use(solution)
    if not len(genes):
        return None
    modules = _modules(solution, len(group.modules.names))
    names, shares = match(genes, modules, group.active, group.modules)
    design = None if group.design is None else group.design[test]
    own = tuple(kme(Z[:, genes[modules.labels == i]]) for i in range(len(modules.names)))
    return Discovery(group.name, genes, modules, names, shares, own, X[test], design)


def _preservation(groups: Sequence[Group], halves: Sequence[Discovery], settings: Settings) -> pd.DataFrame:
    """Ask whether the modules of each group are found again in the others, and in a half that had no part in them."""
    rng = np.random.default_rng((settings.random_state, 2))
    parts = []
    for group in groups if settings.permutations else ():
        members = [group.active[group.modules.labels == i] for i in range(len(group.modules.names))]
        own = [(name, at, kme(group.Z[:, at])) for name, at in zip(group.modules.names, members, strict=True)]
        for other in groups:
            if other is not group:
                found = preservation(own, other.Z, rng)
                parts.append(found.assign(group=group.name, tested_in=other.name))
    for half in halves:
        members = [half.genes[half.modules.labels == i] for i in range(len(half.names))]
        found = preservation(
            list(zip(half.names, members, half.kme, strict=True)), rewrite(half.test, settings.correlation), rng
        )
        parts.append(found.assign(group=half.group, tested_in=f"other half of {half.group}"))
    if not parts:
        return pd.DataFrame()
    table = pd.concat(parts, ignore_index=True)
    first = ["group", "module", "tested_in"]
    return table[first + [name for name in table if name not in first]]
