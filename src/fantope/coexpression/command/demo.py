"""Made-up expression of two groups, for `fantope coexpress --demo`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

SIZES = {"CYC": 22, "MIT": 18, "RIB": 16, "NEU": 14, "IMM": 16}  # families of genes that go together
SILENT = "IMM"  # its genes go together in treated samples only
BACKGROUND = 514  # genes that go with no other
SAMPLES = 60  # in each group
GROUPS = ("control", "treated")


def write_demo(folder: Path, seed: int) -> tuple[Path, Path, Path]:
    """Simulate, and write what a user would bring: expression with genes in rows, samples, and the genes' families.

    Each gene of a family follows the family's own factor; half of CYC follows a second factor too, which makes two
    sub-modules. In the second group RIB runs against MIT, and IMM goes together, which in the first it does not.
    """
    rng = np.random.default_rng(seed)
    family = np.repeat([*SIZES, "none"], [*SIZES.values(), BACKGROUND])
    genes = [f"{name}{k + 1}" for name, size in SIZES.items() for k in range(size)]
    genes += [f"GENE{k + 1:03d}" for k in range(BACKGROUND)]
    level = rng.uniform(3.0, 9.0, len(genes))
    spread = rng.uniform(0.5, 1.1, len(genes))
    blocks = [level + spread * _block(rng, family, group) for group in GROUPS]
    samples = [f"{group}_{k + 1:02d}" for group in GROUPS for k in range(SAMPLES)]
    order = rng.permutation(len(genes))
    table = pd.DataFrame(np.vstack(blocks).T.round(4), index=genes, columns=samples).iloc[order]
    folder.mkdir()
    files = folder / "expression.tsv", folder / "samples.tsv", folder / "families.csv"
    table.rename_axis("gene").to_csv(files[0], sep="\t")
    pd.DataFrame({"sample": samples, "group": np.repeat(GROUPS, SAMPLES)}).to_csv(files[1], sep="\t", index=False)
    known = family != "none"
    pd.DataFrame({"gene": np.array(genes)[known], "family": family[known]}).to_csv(files[2], index=False)
    return files


def _block(rng: np.random.Generator, family: np.ndarray[tuple[int], np.dtype[np.str_]], group: str) -> np.ndarray[
    tuple[int, int], np.dtype[np.float64]
]:  # fmt: skip
    """Return samples × genes with variance about 1."""
    X = rng.standard_normal((SAMPLES, len(family)))
    factors = {name: rng.standard_normal((SAMPLES, 1)) for name in SIZES}
    if group == GROUPS[1]:
        factors["RIB"] = -0.75 * factors["MIT"] + 0.66 * factors["RIB"]
    for name, factor in factors.items():
        inside = np.flatnonzero(family == name)
        if name == SILENT and group == GROUPS[0]:
            continue
        weight = rng.uniform(0.90, 0.97, len(inside))
        X[:, inside] = weight * factor + np.sqrt(1 - weight**2) * X[:, inside]
        if name == "CYC":
            half = inside[: len(inside) // 2]
            X[:, half] = 0.88 * X[:, half] + 0.475 * rng.standard_normal((SAMPLES, 1))
    return X
