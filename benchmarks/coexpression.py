"""Co-expression: null, planted truth, kidney and mouse liver.

`python -m benchmarks.coexpression [--quick] [CASE …]`. Each case runs in a process of its own. The tables go to
docs/benchmarks/coexpression.md, the figures to benchmarks/results/coexpression.json. Real data are not part of the
project: cases that need them are left out, with the reason, where they are not found (see benchmarks.cases).
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, kstest
from sklearn.metrics import adjusted_rand_score

from benchmarks.cases import Case, Page, data, data_folder
from benchmarks.competitors import hierarchical_modules
from benchmarks.timing import Array, clock, note, seconds, table
from fantope.coexpression import Coexpression, analyse
from fantope.coexpression.analysis.permutation import LEADING, PermutationTest

LEVEL = 0.05


# One group split at random in two: nothing to find.

NULL_ALPHAS = (0.95, 0.9, 0.85, 0.8, 0.75, 0.7)
NULL_PERMUTATIONS = 99


def null(quick: bool) -> dict[str, Any]:
    """Split one group at random in two, many times, and look at the p-values."""
    mouse, _, sex = data().mouse_liver()
    kidney, _, tissue = data().kidney()
    repeats = (4, 4) if quick else (60, 40)
    return {
        "runs": [
            _null_runs("female mice, 500 probes", mouse[sex == "female"], repeats[0]),
            _null_runs("normal kidney, 500 genes", kidney[tissue == "normal"].astype(np.float64), repeats[1]),
        ]
    }


def _null_runs(name: str, X: Array, repeats: int) -> dict[str, Any]:
    found: dict[str, list[float]] = {key: [] for key in ("whole", "module", "gene", "naive_gene", "naive_module")}
    hits = {key: 0 for key in ("genes", "modules", "naive_genes", "naive_modules")}
    done = 0
    for r in range(repeats):
        rng = np.random.default_rng(r)
        columns = rng.choice(X.shape[1], 500, replace=False)
        order = rng.permutation(len(X))
        half = len(X) // 2
        values = pd.DataFrame(X[order][:, columns], columns=[f"g{j}" for j in columns])
        groups = np.where(np.arange(len(X)) < half, "a", "b")
        try:
            result = analyse(
                values, groups, n_components=3, alphas=NULL_ALPHAS, min_genes=10, max_genes=100, min_expressed=0.0,
                permutations=NULL_PERMUTATIONS, random_state=r,
            )  # fmt: skip
        except ValueError:  # no alpha suits both halves of these genes
            continue
        done += 1
        differential = result.differential[0]
        found["whole"].append(differential.p_value)
        found["module"].append(float(rng.choice(differential.modules["p"])))
        found["gene"].append(float(rng.choice(differential.genes["p"])))
        hits["genes"] += bool((differential.genes["fdr"] <= LEVEL).any())
        hits["modules"] += bool((differential.modules["fdr"] <= LEVEL).any())
        genes, modules = _naive(result)
        found["naive_gene"].append(float(rng.choice(genes)))
        found["naive_module"].append(float(rng.choice(modules)))
        hits["naive_genes"] += bool((false_discovery_control(genes) <= LEVEL).any())
        hits["naive_modules"] += bool((false_discovery_control(modules) <= LEVEL).any())
        note(f"{name}: {r + 1} of {repeats}")
    rows = {
        key: {
            "uniform": float(kstest(values, "uniform").pvalue),
            "below": float((np.array(values) <= LEVEL).mean()),
            "median": float(np.median(values)),
        }
        for key, values in found.items()
    }
    return {
        "name": name,
        "n": len(X),
        "repeats": done,
        "p_values": rows,
        "hits": {k: v / done for k, v in hits.items()},
    }


def _naive(result: Coexpression, permutations: int = NULL_PERMUTATIONS) -> tuple[Array, Array]:
    """Return p-values of group-specific genes and of modules from the samples that chose them: what not to do."""
    groups = list(result.groups.values())
    used = groups[0].expression.columns
    members = []
    for group in groups:
        for module in group.modules["module"]:
            members.append(used.isin(group.genes.loc[group.genes["module"] == module, "gene"]))
    inside = np.array([column for column in members if column.sum() > 1], dtype=np.float64).T
    first, second = (group.expression.to_numpy() for group in groups)
    test = PermutationTest(first, second, inside, "pearson", (0,))
    observed, _ = test.observed()
    reached = test.exceedances(observed, LEADING, LEADING + permutations)  # those that solve no problem
    genes, modules = ((1.0 + part) / (1.0 + permutations) for part in reached[:2])
    specific = used.isin(np.concatenate([list(names) for names in result.specific.values()]))
    return (genes[specific] if specific.any() else genes), modules


# Known modules, one of which changes.


PERMUTATIONS = 149
SIZES = (40, 30, 25, 20)
CHANGED = 3  # the module that falls apart in the second group
WEAKENED = 2  # the module whose correlations are halved there


def planted_data(n: int, p: int, seed: int, spread: float) -> tuple[pd.DataFrame, Array, Array]:
    """Draw expression of two groups with known modules.

    Gene j of module k is l_j f_k + √(1 − l_j²) e_j with l_j ~ Unif(0.95 − spread, 0.95): hubs and followers. Everything
    else has three weak factors in common. In the second group module CHANGED has loadings of a quarter, module WEAKENED
    loadings that halve its correlations.

    Returns
    -------
    table : DataFrame of 2n samples × p genes
    groups : array of str
    module : (p,) array
        −1 for none.
    """
    rng = np.random.default_rng(seed)
    module = np.full(p, -1)
    module[: sum(SIZES)] = np.repeat(np.arange(len(SIZES)), SIZES)
    loading = rng.uniform(0.95 - spread, 0.95, p)
    weak = rng.normal(0.0, 0.3, (3, p)) / np.sqrt(3)
    parts = []
    for group in range(2):
        factors = rng.standard_normal((n, len(SIZES)))
        noise = rng.standard_normal((n, p)) * np.sqrt(np.maximum(1.0 - (weak**2).sum(axis=0), 0.1))
        noise += rng.standard_normal((n, 3)) @ weak
        strength = np.where(module >= 0, loading, 0.0)
        if group == 1:
            strength = strength * np.where(module == CHANGED, 0.25, np.where(module == WEAKENED, np.sqrt(0.5), 1.0))
        parts.append(strength * factors[:, module] + np.sqrt(1.0 - strength**2) * noise)
    table_ = pd.DataFrame(np.vstack(parts), columns=[f"g{j}" for j in range(p)])
    return table_, np.repeat(["first", "second"], n), module


def planted(quick: bool) -> dict[str, Any]:
    """Recover known modules and a known change."""
    settings = [(60, 0.1), (60, 0.3), (30, 0.1)] if not quick else [(60, 0.1)]
    repeats, p = (2, 400) if quick else (4, 800)
    rows = []
    for n, spread in settings:
        runs = [_planted_run(n, p, seed, spread) for seed in range(repeats)]
        note(f"planted: n = {n}, spread {spread}")
        rows.append(
            {"n": n, "spread": spread} | {key: float(np.nanmean([run[key] for run in runs])) for key in runs[0]}
        )
    return {"p": p, "repeats": repeats, "rows": rows}


def _planted_run(n: int, p: int, seed: int, spread: float) -> dict[str, float]:
    values, groups, module = planted_data(n, p, seed, spread)
    alphas = [round(0.85 - 0.05 * k, 2) for k in range(8)]
    spent, result = clock(lambda: analyse(values, groups, alphas=alphas, permutations=PERMUTATIONS, random_state=seed))
    genes = result.groups["first"].genes
    ours = np.full(p, -1)
    position = values.columns.get_indexer(genes["gene"])
    ours[position] = genes["module"].str[1:].astype(int)
    X = values[groups == "first"].to_numpy()
    links = hierarchical_modules.tree(X)
    heights = np.unique(np.quantile(links[:, 2], np.linspace(0.02, 1.0, 60)))
    cuts = [hierarchical_modules.cut(links, height, 10) for height in heights]
    theirs = max(cuts, key=lambda labels: adjusted_rand_score(module, labels))
    found = {f"ours_{key}": value for key, value in _recovery(ours, module).items()}
    found |= {f"theirs_{key}": value for key, value in _recovery(theirs, module).items()}
    differential = result.differential[0]
    called = set(differential.genes.loc[differential.genes["fdr"] <= LEVEL, "gene"])
    truth = set(values.columns[np.isin(module, (CHANGED, WEAKENED))])
    strong = set(values.columns[module == CHANGED])
    tested = set(differential.genes["gene"])
    found |= {
        "tested": len(truth & tested) / len(truth),
        "precision": len(called & truth) / len(called) if called else float("nan"),
        "recall_tested": len(called & truth) / max(len(truth & tested), 1),
        "recall_changed": len(called & strong) / len(strong),
        "whole_p": differential.p_value,
        "whole_found": float(differential.p_value <= LEVEL),
        "seconds": spent,
    }
    return found | _oracle(values, groups, module)


def _recovery(labels: Array, truth: Array) -> dict[str, float]:
    """Return precision and recall of being in a module at all, and the adjusted Rand index over all genes."""
    inside, real = labels >= 0, truth >= 0
    both = int((inside & real).sum())
    return {
        "precision": both / max(int(inside.sum()), 1),
        "recall": both / int(real.sum()),
        "rand": float(adjusted_rand_score(truth, labels)),
        "rand_inside": float(adjusted_rand_score(truth[inside & real], labels[inside & real])) if both else 0.0,
    }


def _oracle(values: pd.DataFrame, groups: Array, module: Array) -> dict[str, float]:
    """Return the same recall for tests of the true module genes with all samples: what halving costs."""
    used = np.flatnonzero(module >= 0)
    first, second = (values[groups == name].to_numpy()[:, used] for name in ("first", "second"))
    members = np.array([module[used] == k for k in range(len(SIZES))], dtype=np.float64).T
    test = PermutationTest(first, second, members, "pearson", (1,))
    observed, _ = test.observed()
    reached = test.exceedances(observed, LEADING, LEADING + PERMUTATIONS)[0]
    called = false_discovery_control((1.0 + reached) / (1.0 + PERMUTATIONS)) <= LEVEL
    changed = np.isin(module[used], (CHANGED, WEAKENED))
    return {
        "oracle_recall": float(called[changed].mean()),
        "oracle_precision": float(changed[called].mean()) if called.any() else float("nan"),
    }


# Real data.


def kidney(quick: bool) -> dict[str, Any]:
    """Tumour against normal kidney, 13,822 genes, beside WGCNA's modules of each group."""
    X, symbols, group = data().kidney()
    folder = data_folder()
    assert folder is not None
    labels = pd.read_csv(folder / "kidney_wgcna_labels.csv", index_col="symbol")
    values = pd.DataFrame(X, columns=symbols)
    names = {f"WGCNA {name}": labels[f"{name}_color"] for name in ("normal", "tumour")}
    alphas = [0.97, 0.96, 0.95, 0.94] if quick else None
    options = {"permutations": 100, "min_genes": 20} if quick else {}
    spent, result = clock(lambda: analyse(values, group, labels=names, alphas=alphas, min_expressed=0.0, **options))
    return _summary(result, spent, {name: f"WGCNA {name}" for name in ("normal", "tumour")})


def mouse_liver(quick: bool) -> dict[str, Any]:
    """Female against male mouse liver, 3,600 probes, beside the tutorial's modules."""
    X, _, group = data().mouse_liver()
    raw = data().raw("mouse_liver_wgcna")
    values = pd.DataFrame(X, columns=raw["probe"])
    names = {
        "WGCNA female": pd.Series(raw["female_color"], index=raw["probe"]),
        "WGCNA consensus": pd.Series(raw["consensus_color"], index=raw["probe"]),
    }
    options: dict[str, Any] = {"permutations": 100, "alphas": [0.9, 0.85]} if quick else {}
    spent, result = clock(lambda: analyse(values, group, labels=names, min_expressed=0.0, **options))
    return _summary(result, spent, {"female": "WGCNA female", "male": "WGCNA consensus"})


def _summary(result: Coexpression, spent: float, own: dict[str, str]) -> dict[str, Any]:
    """Return what the page shows, JSON-ready."""
    groups = []
    for name, group in result.groups.items():
        cross = next(table_ for table_ in group.cross_tables if table_.name == own[name])
        correlations = cross.cohesion.set_index(["method", "module"])["mean_correlation"]
        sizes = cross.counts.loc["size"]
        rows = []
        for row, module in zip(cross.purity.itertuples(), group.modules.itertuples(), strict=True):
            rows.append(
                {
                    "module": row.module,
                    "n": int(module.n_genes),
                    "mean_correlation": float(module.mean_correlation),
                    "label": row.label,
                    "purity": float(row.purity),
                    "label_size": int(sizes[row.label]) if row.label else 0,
                    "label_correlation": float(correlations[(own[name], row.label)]) if row.label else float("nan"),
                    "hubs": module.hubs,
                }
            )
        labelled = float(cross.purity["n_labelled"].sum())
        pure = float((cross.purity["purity"] * cross.purity["n_labelled"]).sum() / labelled)
        groups.append(
            {
                "name": name, "n_samples": len(group.expression), "active": len(group.genes), "gap": group.solution.gap,
                "purity": pure, "adjusted_rand": cross.adjusted_rand, "against": own[name], "modules": rows,
            }
        )  # fmt: skip
    differential = result.differential[0]
    modules = differential.modules.round(4).to_dict("records")
    return {
        "p": len(result.gene_names),
        "seconds": spent,
        "alpha": result.alpha,
        "selection": json.loads(result.selection.to_json(orient="records")),
        "common": len(result.common),
        "groups": groups,
        "differential": {
            "first": differential.first,
            "second": differential.second,
            "p_value": differential.p_value,
            "n_test": list(differential.n_test),
            "genes": len(differential.genes),
            "called": int((differential.genes["fdr"] <= LEVEL).sum()),
            "modules": modules,
            "modules_called": int((differential.modules["fdr"] <= LEVEL).sum()),
        },
    }


# Reporting.


def _null(result: dict[str, Any]) -> str:
    lines = [
        "One group is split at random in two, which are then analysed as if they were two groups, selection and all. "
        "Uniform: p-value of a Kolmogorov–Smirnov test over the repeats (of genes and modules, one at random in each). "
        "Any at FDR 5 %: share of repeats with at least one false discovery; at most 5 % are allowed. "
        "*Same samples* is what happens without halves: group-specific genes and modules are tested with the samples "
        "that chose them.\n",
    ]
    names = {
        "whole": ("structure as a whole", None),
        "module": ("a module", "modules"),
        "gene": ("a gene", "genes"),
        "naive_module": ("a module, *same samples*", "naive_modules"),
        "naive_gene": ("a group-specific gene, *same samples*", "naive_genes"),
    }
    for run_ in result["runs"]:
        rows = []
        for key, (title, hits) in names.items():
            row = run_["p_values"][key]
            any_ = f"{100 * run_['hits'][hits]:.0f} %" if hits else "–"
            rows.append([title, f"{row['uniform']:.2g}", f"{100 * row['below']:.0f} %", f"{row['median']:.2f}", any_])
        head = ["p-value of", "uniform", "at most 0.05", "median", "any at FDR 5 %"]
        lines.append(
            f"**{run_['name']}**, {run_['n']} samples, {run_['repeats']} random splits, "
            f"{NULL_PERMUTATIONS} permutations each:\n\n"
            f"{table(head, rows)}\n"
        )
    return "\n".join(lines)


def _planted(result: dict[str, Any]) -> str:
    rows, changes = [], []
    for row in result["rows"]:
        setting = f"{row['n']} samples a group, loadings {0.95 - row['spread']:.2f} – 0.95"
        for key, name in (("ours", "fantope"), ("theirs", hierarchical_modules.NAME)):
            cells = [f"{row[f'{key}_{what}']:.2f}" for what in ("precision", "recall", "rand", "rand_inside")]
            rows.append([setting, name, *cells])
        cells = [f"{row[what]:.2f}" for what in ("tested", "precision", "recall_tested", "recall_changed")]
        changes.append(
            [
                setting,
                *cells,
                f"{row['whole_found']:.2f}",
                f"{row['oracle_precision']:.2f}",
                f"{row['oracle_recall']:.2f}",
            ]
        )
    sizes = ", ".join(map(str, SIZES))
    return (
        f"{result['p']:,} genes, modules of {sizes} genes (loadings on one factor each), the rest with three weak "
        f"factors in common; means of {result['repeats']} data sets. Default settings of `analyse`, alphas 0.85, 0.80, "
        "… 0.50: five components for four modules. The "
        "tree is cut where its agreement with the truth is best, a choice that no user can make.\n\n"
        + table(
            ["", "method", "precision", "recall", "adjusted Rand, all genes", "adjusted Rand, module genes found"], rows
        )
        + "\n\nPrecision and recall are of being in a module at all.\n\n"
        f"In the second group the module of {SIZES[CHANGED]} falls apart and the correlations of the one of "
        f"{SIZES[WEAKENED]} are halved. Genes called at FDR 5 %:\n\n"
        + table(
            [
                "",
                "changed genes tested",
                "precision",
                "recall among tested",
                f"recall, module of {SIZES[CHANGED]}",
                "whole structure found",
                "precision, oracle",
                "recall, oracle",
            ],
            changes,
        )
        + "\n\nThe oracle knows the true modules, tests only their genes, and needs no samples to find them.\n"
    )


def _real(result: dict[str, Any]) -> str:
    lines = [
        f"{result['p']:,} genes; alpha = {result['alpha']:g}; {seconds(result['seconds'])}, peak resident memory "
        f"{result['peak_bytes'] / 1e9:.2f} GB.\n",
    ]
    names = [group["name"] for group in result["groups"]]
    rows = [
        [f"{row['alpha']:g}", *(row[f"n_{name}"] for name in names), f"{row['overlap']:.3f}",
         "chosen" if row["chosen"] else "yes" if row["eligible"] else "no"]
        for row in result["selection"]
    ]  # fmt: skip
    lines.append(table(["alpha", *names, "V", "eligible"], rows) + "\n")
    for group in result["groups"]:
        rows = [
            [row["module"], row["n"], f"{row['mean_correlation']:.3f}", row["label"], f"{row['purity']:.2f}",
             f"{row['label_size']:,}", f"{row['label_correlation']:.3f}", row["hubs"]]
            for row in group["modules"]
        ]  # fmt: skip
        head = [
            "module",
            "genes",
            "mean correlation",
            group["against"],
            "purity",
            "its genes",
            "its mean correlation",
            "hubs",
        ]
        lines.append(
            f"**{group['name']}**, {group['n_samples']} samples, {group['active']} genes in use, gap "
            f"{group['gap']:.1e}. Against {group['against']}: purity {group['purity']:.2f}, adjusted "
            f"Rand {group['adjusted_rand']:.2f}.\n\n"
            f"{table(head, rows)}\n"
        )
    found = result["differential"]
    rows = [
        [f"{row['group']} {row['module']}", row["n_genes"], f"{row['mean_first']:.2f}", f"{row['mean_second']:.2f}",
         f"{row['p']:.3f}", f"{row['fdr']:.3f}", f"{row['found_again']:.2f}"]
        for row in found["modules"]
    ]  # fmt: skip
    lines.append(
        f"**{found['first']} against {found['second']}** ({found['n_test'][0]} and {found['n_test'][1]} samples to "
        f"test with): equal structure has p = {found['p_value']:.3f}; {found['called']} of {found['genes']} genes and "
        f"{found['modules_called']} of {len(found['modules'])} modules change at FDR 5 %.\n\n"
        + table(
            ["module", "genes", f"mean in {found['first']}", f"mean in {found['second']}", "p", "FDR", "found again"],
            rows,
        )
        + "\n"
    )
    return "\n".join(lines)


PAGE = Page(
    "coexpression",
    "Measured",
    {
        "null": Case("Nothing to find", null, _null, needs_data=True),
        "planted": Case("Known modules and a known change", planted, _planted),
        "kidney": Case("Kidney, tumour against normal", kidney, _real, needs_data=True),
        "mouse_liver": Case("Mouse liver, female against male", mouse_liver, _real, needs_data=True),
    },
)


if __name__ == "__main__":
    sys.exit(PAGE.main())
