"""Coverage of the bootstrap intervals of `fantope.selection.refit`, `python -m benchmarks.coverage`."""

from __future__ import annotations

import argparse

import numpy as np
from scipy.linalg import orthogonal_procrustes

import fantope
from fantope.selection import refit

MODELS = ((100, 200, (12, 6)), (200, 200, (12, 6)), (100, 200, (5, 4)), (50, 200, (12, 6)))
TRUE = np.arange(35)


def covered(n: int, p: int, eigenvalues: tuple[int, int], seed: int, chosen: bool) -> tuple[float, float]:
    """Return the shares of loadings and leverages of one draw whose intervals hold the population's."""
    sim = fantope.simulate(n, p, eigenvalues=eigenvalues, random_state=seed)
    support = TRUE
    if chosen:
        support = fantope.solve_for_size(sim.Z.T @ sim.Z / n, 2, len(TRUE)).support
    found = refit(sim.Z, support, 2, n_bootstrap=300)
    truth = np.linalg.eigh(sim.Sigma[np.ix_(support, support)])[1][:, ::-1][:, :2]
    turned = (truth @ orthogonal_procrustes(truth, found.components[:, support].T)[0]).T
    loadings = (found.lower[:, support] <= turned) & (turned <= found.upper[:, support])
    leverage = (truth**2).sum(axis=1)
    inside = (found.leverage_lower[support] <= leverage) & (leverage <= found.leverage_upper[support])
    return float(loadings.mean()), float(inside.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=40)
    draws = parser.parse_args().draws
    head = "n, p, eigenvalues | loadings | leverages | loadings, support chosen | leverages, support chosen"
    print(f"| {head} |\n|" + " --- |" * 5)
    for n, p, eigenvalues in MODELS:
        both = [np.mean([covered(n, p, eigenvalues, s, c) for s in range(draws)], axis=0) for c in (False, True)]
        cells = " | ".join(f"{100 * share:.0f} %" for share in np.concatenate(both))
        print(f"| {n}, {p}, {eigenvalues} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
