"""False positives of stability rules beside the bounds they promise, `python -m benchmarks.false_positives`."""

from __future__ import annotations

import argparse

import numpy as np

import fantope
from fantope.selection import integrated_stability, stability_selection

MODELS = ((100, 200, (12, 6)), (100, 200, (5, 4)))  # samples, variables, eigenvalues
TRUE = 35  # variables with a signal in each model


def one(n: int, p: int, eigenvalues: tuple[int, int], seed: int, pairs: int) -> list[tuple[str, int, int, float]]:
    """Return rule, true and false positives and the bound on the latter, for one draw."""
    Z = fantope.simulate(n, p, eigenvalues=eigenvalues, random_state=seed).Z
    found = []
    ipss = integrated_stability(Z, 2, n_pairs=pairs, max_false=5.0)
    for limit in (1.0, 5.0):
        found.append((f"integrated, efp ≤ {limit:g}", np.flatnonzero(ipss.efp <= limit), limit))
    alpha = float(np.sqrt(np.log(p) / n))
    plain = stability_selection(Z, 2, alpha, n_subsamples=2 * pairs, complementary=True)
    found.append(("frequency ≥ 0.75, Meinshausen and Bühlmann", plain.selected, plain.error_bound))
    found.append(("the same, Shah and Samworth", plain.selected, plain.pairs_bound))
    return [(name, int((s < TRUE).sum()), int((s >= TRUE).sum()), bound) for name, s, bound in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=10)
    chosen = parser.parse_args()
    print("| n, p, eigenvalues | rule | true positives of 35 | false positives | bound |\n|" + " --- |" * 5)
    for n, p, eigenvalues in MODELS:
        draws = [one(n, p, eigenvalues, seed, chosen.pairs) for seed in range(chosen.draws)]
        for rule in range(len(draws[0])):
            rows = [draw[rule] for draw in draws]
            hits, false, bound = (np.mean([row[k] for row in rows]) for k in (1, 2, 3))
            print(f"| {n}, {p}, {eigenvalues} | {rows[0][0]} | {hits:.1f} | {false:.2f} | {bound:.2g} |", flush=True)


if __name__ == "__main__":
    main()
