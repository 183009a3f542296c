"""The whole analysis: paths in all groups, the common alpha, active sets, modules, comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, get_args

import numpy as np
import pandas as pd

from fantope.coexpression.analysis.correlation import Correlation, operator, rewrite
from fantope.coexpression.analysis.cross_table import check_labels, cross_table
from fantope.coexpression.analysis.differential import compare
from fantope.coexpression.analysis.expression import Mangled, Missing, Prepared, Transform, prepare
from fantope.coexpression.analysis.halves import ENOUGH, SMALLEST_HALF, TOL, Discovery, match, split
from fantope.coexpression.analysis.modules import Modules, check_n_modules, describe_modules, find_modules, loadings_of
from fantope.coexpression.analysis.paths import GroupPath, first_of_size, grid, solve_groups
from fantope.coexpression.analysis.result import Coexpression, Differential, GroupResult
from fantope.coexpression.analysis.store import Store
from fantope.errors import check_choice, renamed, require
from fantope.events import Event, Listener, ignore
from fantope.path import Path
from fantope.selection.overlap import Overlap, check_limits, select_by_overlap
from fantope.solvers import Solution
from fantope.solvers.validation import check_n_components, check_tol
from fantope.typing import Array, IntArray

# Parameters that are written down, beside those of the preparation.
SOLVING = ("n_components", "alphas", "correlation", "min_genes", "max_genes", "n_modules", "permutations")
LIMITS = {"min_variables": "min_genes", "max_variables": "max_genes"}


@dataclass(frozen=True)
class Settings:
    """What the steps need to know."""

    n_components: int
    alphas: list[float]
    correlation: Correlation
    min_genes: int
    max_genes: int
    n_modules: int | None
    permutations: int
    tol: float
    random_state: int
    store: Store | None
    progress: Listener

    def path(self, Z: Array, alphas: list[float], tol: float) -> GroupPath:
        """Return the path of rewritten columns over some alphas, before its first step."""
        return GroupPath(operator(Z), Z, self.n_components, alphas, tol, self.store)


@dataclass(frozen=True, eq=False)
class Group:
    """A group of samples with its solution at the chosen alpha."""

    name: str
    table: pd.DataFrame  # samples × all analysed genes
    Z: Array  # the same, rewritten
    path: Path
    solution: Solution
    modules: Modules
    design: Array | None  # covariates that were regressed out


def analyse(
    expression: pd.DataFrame,
    groups: Any = None,
    *,
    n_components: int = 5,
    alphas: Any = None,
    correlation: Correlation = "pearson",
    min_genes: int = 50,
    max_genes: int = 300,
    n_modules: int | None = None,
    labels: Mapping[str, pd.Series[Any]] | None = None,
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
        Penalties between 0 and 1, common to all groups. They are solved in descending order until some group uses more
        than ``max_genes``. By default 0.99, 0.98, … 0.30.
    correlation : {"pearson", "spearman", "bicor"}
        "bicor" is the biweight midcorrelation.
    min_genes, max_genes : int, default 50 and 300
        Limits on the active set of every group at the chosen alpha.
    n_modules : int, optional
        In each group; by default chosen by silhouette.
    labels : dict of str to Series, optional
        Other labellings of the genes to compare modules with, by name: WGCNA colours, for example.
    permutations : int, default 1000
        For each pair of groups; the two-sample test, which solves a problem for each, takes the first 200. 0 leaves the
        comparison of groups out.
    transform, min_expressed, covariates, missing, mangled
        See :func:`fantope.coexpression.prepare`.
    tol : float, default 1e-3
        Relative gap of every solution, certified over all genes.
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
    with renamed(**LIMITS):
        check_limits(min_genes, max_genes)
    for name, value in (("permutations", permutations), ("random_state", random_state)):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 0
        require(whole, name, "be a whole number, 0 or larger", repr(value))
    check_choice("correlation", correlation, get_args(Correlation))
    # What is wrong should come before the long work, not after it.
    for name, other in (labels or {}).items():
        check_labels(name, other, prepared.expression.columns)
    settings = Settings(
        n_components=check_n_components(n_components, prepared.expression.shape[1]),
        alphas=grid(alphas),
        correlation=correlation,
        min_genes=min_genes,
        max_genes=max_genes,
        n_modules=None if n_modules is None else check_n_modules(n_modules),
        permutations=int(permutations),
        tol=check_tol(tol, prepared.expression.shape[1]),
        random_state=int(random_state),
        store=store,
        progress=progress,
    )
    preparation["covariates"] = [] if covariates is None else [str(name) for name in covariates.columns]
    parameters = {name: getattr(settings, name) for name in SOLVING} | preparation
    parameters |= {"tol": settings.tol, "random_state": settings.random_state}
    return _analyse(prepared, settings, dict(labels or {}), parameters)


def _analyse(
    prepared: Prepared, settings: Settings, labels: Mapping[str, pd.Series[Any]], parameters: Mapping[str, Any]
) -> Coexpression:
    notes = list(prepared.notes)
    genes = prepared.expression.columns
    tables = {name: prepared.expression[prepared.groups == name] for name in prepared.groups.unique()}
    columns = {name: rewrite(table.to_numpy(), settings.correlation) for name, table in tables.items()}
    paths, selected = _select(columns, settings, notes)
    groups = []
    for name, table in tables.items():
        solution = paths[name][selected.chosen]
        modules = _modules(solution, settings.n_modules)
        design = prepared.designs.get(name)
        groups.append(Group(name, table, columns[name], paths[name], solution, modules, design))
    common, specific = _shared({group.name: group.solution.support for group in groups})
    used = np.unique(np.concatenate([group.solution.support for group in groups]))
    results = {}
    for group in groups:
        results[group.name] = _result(group, used, specific[group.name], labels, settings.correlation)
        found = f"{len(group.solution.support)} genes in {len(group.modules.names)} modules"
        settings.progress(Event("modules", len(results), len(tables), group.name, found))
    table = selected.to_frame()
    for name, path in paths.items():
        table[f"gap_{name}"] = path.gaps
    return Coexpression(
        gene_names=genes,
        alpha=selected.alpha,
        selection=table,
        groups=results,
        common=genes[common],
        specific={name: genes[indices] for name, indices in specific.items()},
        differential=_compare(groups, settings, notes),
        parameters=parameters,
        notes=tuple(notes),
    )


def _select(columns: Mapping[str, Array], settings: Settings, notes: list[str]) -> tuple[dict[str, Path], Overlap]:
    """Solve the paths and choose alpha."""
    running = {name: settings.path(Z, settings.alphas, settings.tol) for name, Z in columns.items()}
    paths = solve_groups(running, settings.max_genes, settings.progress)
    alphas = settings.alphas[: len(next(iter(paths.values())))]
    left = len(settings.alphas) - len(alphas)
    if left:
        notes.append(
            f"Alphas below {alphas[-1]:g} ({left} of them) are not solved: some group has more than "
            f"{settings.max_genes} genes there."
        )
    supports = {name: [solution.support for solution in path] for name, path in paths.items()}
    limits = {"min_variables": settings.min_genes, "max_variables": settings.max_genes}
    with renamed(**LIMITS):
        return paths, select_by_overlap(supports, alphas, **limits)


def _modules(solution: Solution, n_modules: int | None) -> Modules:
    return find_modules(loadings_of(solution), n_modules, n_components=solution.n_components)


def _shared(active: Mapping[str, IntArray]) -> tuple[IntArray, dict[str, IntArray]]:
    """Return the genes active in all groups, and for each group those active in no other."""
    genes, counts = np.unique(np.concatenate(list(active.values())), return_counts=True)
    once = genes[counts == 1] if len(active) > 1 else genes[:0]
    return genes[counts == len(active)], {name: np.intersect1d(mine, once) for name, mine in active.items()}


def _result(
    group: Group, used: IntArray, specific: IntArray, labels: Mapping[str, pd.Series[Any]], method: Correlation
) -> GroupResult:
    table, solution, active, names = group.table, group.solution, group.solution.support, group.table.columns
    by_gene, by_module, eigengenes = describe_modules(group.Z[:, active], group.modules, names[active], table.index)
    by_gene.insert(2, "leverage", solution.projection.diagonal()[active])
    by_gene["specific"] = np.isin(active, specific)
    loadings = {f"pc{k + 1}": row for k, row in enumerate(solution.components[:, active])}
    assigned = pd.Series(by_gene["module"].to_numpy(), index=names[active])
    return GroupResult(
        name=group.name,
        expression=table.iloc[:, used],
        path=group.path,
        solution=solution,
        genes=pd.concat([by_gene, pd.DataFrame(loadings)], axis=1),
        modules=by_module,
        eigengenes=eigengenes,
        choice=group.modules.choice,
        cross_tables=tuple(cross_table(key, other, assigned, names, group.Z) for key, other in labels.items()),
        method=method,
    )


def _compare(groups: Sequence[Group], settings: Settings, notes: list[str]) -> tuple[Differential, ...]:
    """Compare every pair of groups that are large enough to be halved."""
    if len(groups) < 2 or settings.permutations == 0:
        return ()
    large = []
    for group in groups:
        needed = 2 * (SMALLEST_HALF + (0 if group.design is None else group.design.shape[1]))
        if len(group.table) >= needed:
            large.append(group)
        else:
            beside = "" if group.design is None else " beside covariates"
            notes.append(
                f"Group {group.name!r} is not compared with others: it has {len(group.table)} samples, and a "
                f"comparison needs {needed}, half to find genes and half to test them{beside}."
            )
    if len(large) < 2:
        return ()
    found = [_discover(k, group, settings) for k, group in enumerate(large)]
    results = []
    for number, pair in enumerate(combinations(found, 2)):
        results.append(
            compare(
                pair,
                large[0].table.columns,
                settings.correlation,
                permutations=settings.permutations,
                seed=(settings.random_state, 1, number),
                store=settings.store,
                report=partial(_permuted, pair, settings),
            )
        )
    return tuple(results)


def _permuted(pair: tuple[Discovery, Discovery], settings: Settings, done: int) -> None:
    subject = f"{pair[0].group} against {pair[1].group}"
    settings.progress(Event("permutations", done, settings.permutations, subject))


def _discover(number: int, group: Group, settings: Settings) -> Discovery:
    """Find genes and modules in a random half of a group, about as many genes as the whole group has."""
    X, whole = group.table.to_numpy(), group.solution
    discovery, test = split(len(X), np.random.default_rng((settings.random_state, 0, number)))
    # Half the samples have larger chance correlations, so that as many genes are in use at a larger alpha.
    larger = [alpha for alpha in grid(None) if alpha > settings.alphas[0]]
    path = settings.path(rewrite(X[discovery], settings.correlation), larger + settings.alphas, TOL)
    solution = first_of_size(path, int(ENOUGH * len(whole.support)), settings.progress)
    modules = _modules(solution, len(group.modules.names))
    names, shares = match(solution.support, modules, whole.support, group.modules)
    design = None if group.design is None else group.design[test]
    return Discovery(group.name, solution.support, modules, names, shares, X[test], design)
