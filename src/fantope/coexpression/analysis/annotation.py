"""What modules go with: gene sets, traits of the samples, other samples in which they are found again."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import f_oneway, false_discovery_control, hypergeom, ncf, pearsonr

from fantope.coexpression.analysis.correlation import mean_correlations
from fantope.coexpression.analysis.modules import eigengene
from fantope.typing import Array, IntArray

SMALLEST_SET = 3  # analysed genes of a set that is tested
DRAWS = 100  # random sets of genes, of a module's size, that it is compared with
LEVEL = 0.95  # of intervals


def enrichment(labels: pd.Series[str], modules: pd.Series[str], genes: pd.Index) -> pd.DataFrame:
    """Test every module for every set of genes, against all analysed genes.

    p is the hypergeometric probability of at least as many genes in common if the module were drawn from the analysed
    genes; the false discovery rate is over all modules and all sets with at least three analysed genes.

    Parameters
    ----------
    labels : Series
        Set by gene; a gene in several sets has a row for each.
    modules : Series
        Module by gene, for the genes in use.
    genes : Index
        All analysed genes.

    Returns
    -------
    DataFrame
        module, label, n_common, n_module, n_label, fold (over what chance gives), p, fdr, genes (in common); the pairs
        with a gene in common, by ascending p.

    Examples
    --------
    >>> genes = pd.Index([f"g{j}" for j in range(100)])
    >>> sets = pd.Series(["A"] * 5 + ["B"] * 4, index=["g0", "g1", "g2", "g3", "g50", "g0", "g60", "g61", "g62"])
    >>> modules = pd.Series("M1", index=["g0", "g1", "g2", "g3", "g4"])
    >>> found = enrichment(sets, modules, genes)
    >>> found[["label", "n_common", "fold"]].to_numpy().tolist(), float(found["fdr"][0].round(8))
    ([['A', 4, 16.0], ['B', 1, 5.0]], 1.264e-05)
    """
    pairs = pd.DataFrame({"gene": labels.index, "label": labels.to_numpy()}).dropna().drop_duplicates()
    pairs = pairs[pairs["gene"].isin(genes)]
    sizes = pairs["label"].value_counts()
    sizes = sizes[sizes >= SMALLEST_SET]
    inside = pairs[pairs["gene"].isin(modules.index) & pairs["label"].isin(sizes.index)]
    inside = inside.assign(module=modules[inside["gene"]].to_numpy())
    found = (
        inside.groupby(["module", "label"], observed=True)["gene"].agg(n_common="size", genes=", ".join).reset_index()
    )
    found["n_module"] = found["module"].map(modules.value_counts())
    found["n_label"] = found["label"].map(sizes)
    found["fold"] = found["n_common"] * len(genes) / (found["n_module"] * found["n_label"])
    found["p"] = hypergeom.sf(found["n_common"] - 1, len(genes), found["n_label"], found["n_module"])
    # Pairs without a gene in common have p = 1, and count among the tests.
    every = np.ones(max(modules.nunique() * len(sizes), len(found)))
    every[: len(found)] = found["p"]
    found["fdr"] = false_discovery_control(every)[: len(found)] if len(every) else []
    found = found.sort_values(["p", "module", "label"], kind="stable").reset_index(drop=True)
    return found[["module", "label", "n_common", "n_module", "n_label", "fold", "p", "fdr", "genes"]]


def associations(eigengenes: pd.DataFrame, traits: pd.DataFrame) -> pd.DataFrame:
    """Compare the eigengene of every module with every trait of the samples.

    A trait of numbers, or of two values, has a correlation r with Fisher's interval; one of several words the share η²
    of the eigengene's variance between them, with the interval that inverts the F test. Samples without a value are
    left out; a trait that does not vary, or has fewer than four samples, is not tested.

    Returns
    -------
    DataFrame
        module, trait, measure ("r" or "η²"), n, estimate, low, high (95 %), p, fdr (over all rows).
    """
    rows = []
    for trait in traits:
        values = traits[trait].reindex(eigengenes.index)
        known = values.notna().to_numpy()
        codes, words = pd.factorize(values[known], sort=True)
        numeric = pd.api.types.is_numeric_dtype(values)
        if known.sum() < 4 or len(words) < 2 or (not numeric and len(words) > known.sum() // 2):
            continue
        for module in eigengenes:
            y = eigengenes[module].to_numpy(dtype=float)[known]
            if numeric or len(words) == 2:
                test = pearsonr(values[known].to_numpy(dtype=float) if numeric else codes, y)
                low, high = test.confidence_interval(LEVEL)
                found = ("r", len(y), float(test.statistic), float(low), float(high), float(test.pvalue))
            else:
                found = ("η²", len(y), *_share([y[codes == k] for k in range(len(words))]))
            rows.append((str(module), str(trait), *found))
    table = pd.DataFrame(rows, columns=["module", "trait", "measure", "n", "estimate", "low", "high", "p"])
    table["fdr"] = false_discovery_control(table["p"]) if len(table) else []
    return table


def _share(parts: list[Array]) -> tuple[float, float, float, float]:
    """Return η² of a one-way layout, its interval and the p-value."""
    test = f_oneway(*parts)
    n, k = sum(map(len, parts)), len(parts)
    F = float(test.statistic)
    share = (k - 1) * F / ((k - 1) * F + n - k)

    def bound(level: float) -> float:
        """Return the η² at which so large an F has this probability."""
        if ncf.cdf(F, k - 1, n - k, 0.0) <= level:
            return 0.0
        top = 1.0
        while ncf.cdf(F, k - 1, n - k, top) > level:
            top *= 2.0
        found = float(brentq(lambda nc: ncf.cdf(F, k - 1, n - k, nc) - level, 0.0, top))
        return found / (found + n)

    return share, bound(0.5 + LEVEL / 2), bound(0.5 - LEVEL / 2), float(test.pvalue)


def preservation(
    modules: list[tuple[str, IntArray, Array]], Z: Array, rng: np.random.Generator, draws: int = DRAWS
) -> pd.DataFrame:
    """Ask whether modules hold together in other samples, more than random sets of as many genes do.

    The density of a module is the mean correlation of its genes; its connectivity the correlation, over the genes,
    between their kME where the module was found and their kME in the other samples. Each is compared with what random
    sets of analysed genes give there, of which z is the distance in standard deviations.

    Parameters
    ----------
    modules : list of (name, genes, kME)
        Positions among all analysed genes, and kME where the module was found.
    Z : (n, p) array
        Rewritten columns of the other samples, all analysed genes.
    rng : Generator
    draws : int
        Random sets for each module.

    Returns
    -------
    DataFrame
        module, n_genes, density, density_by_chance, z_density, connectivity, z_connectivity, z (their mean), p (of the
        density, by the random sets).
    """
    rows = []
    for name, genes, kme in modules:
        if len(genes) < SMALLEST_SET:
            continue
        sets = [genes, *(rng.choice(Z.shape[1], len(genes), replace=False) for _ in range(draws))]
        density = np.array([mean_correlations(Z[:, chosen])[0] for chosen in sets])
        connectivity = np.array([_alike(kme, Z[:, chosen]) for chosen in sets])
        z = [(each[0] - each[1:].mean()) / max(each[1:].std(ddof=1), 1e-12) for each in (density, connectivity)]
        beaten = int((density[1:] >= density[0]).sum())
        p = (1 + beaten) / (1 + draws)
        chance = float(density[1:].mean())
        rows.append((name, len(genes), density[0], chance, z[0], connectivity[0], z[1], 0.5 * (z[0] + z[1]), p))
    names = ("n_genes", "density", "density_by_chance", "z_density", "connectivity", "z_connectivity", "z", "p")
    return pd.DataFrame(rows, columns=["module", *names])


def kme(Z: Array) -> Array:
    """Return the correlation of rewritten columns with their first principal component, mostly positive."""
    return np.asarray(eigengene(Z)[0] @ Z)


def _alike(reference: Array, Z: Array) -> float:
    found = kme(Z)
    both = found.std() * reference.std()
    return float(np.corrcoef(reference, found)[0, 1]) if both > 0.0 else 0.0
