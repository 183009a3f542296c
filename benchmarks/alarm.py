"""How often the alarm of a stream is false, and how late it is after a change: a table on standard output.

python -m benchmarks.alarm            # the paper's model: stationary, and with a change
python -m benchmarks.alarm tails      # stationary data of other kinds: how often it is false
python -m benchmarks.alarm streams    # S&P 500 and gas sensors: when it rings
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np

from benchmarks.cases import data_folder
from fantope.online import OnlineT, Stream, Tracker, Watch
from fantope.simulation import simulate

THRESHOLDS = (0.05, 0.1, 0.2, 0.4)
CHANGE = 2000


def watched(
    Z: Any, window: int, alpha: float, d: int, learner: Any = None, forgetting: float = 1.0, every: int | None = None
) -> Any:
    """Return (sample, at least, held out) of every check; of Online-T unless another learner is given."""
    p = Z.shape[1]
    watch = Watch(p, alpha, 0.5, window, every)
    Stream(learner or OnlineT(p, d, alpha), forgetting=forgetting, watch=watch).update_many(Z)
    return np.array([(check.sample, check.at_least, check.held_out) for check in watch.checks])


def model(draws: int) -> None:
    """Stationary up to CHANGE; then the variables are others (all) or one of two groups is (half)."""
    print(f"{draws} draws; Online-T, d = 2, alpha = 0.5√(log p/window); checks every quarter of a window\n")
    print("| p | window | threshold | false, optimum alone | false | found, all / half | delay, all / half |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for p in (100, 200):
        for window in (100, 200, 400):
            alpha = 0.5 * math.sqrt(math.log(p) / window)
            found: dict[str, list[Any]] = {"all": [], "half": []}
            for seed in range(draws):
                for what, order in (("all", np.roll(np.arange(p), 40)), ("half", _half(p))):
                    Z = simulate(CHANGE + 2 * window, p, random_state=seed).Z
                    Z[CHANGE:] = Z[CHANGE:, order]
                    found[what].append(watched(Z, window, alpha, 2))
            for threshold in THRESHOLDS:
                before = np.concatenate([checks[checks[:, 0] <= CHANGE] for checks in found["all"]])
                alone = np.mean(before[:, 1] > threshold)
                both = np.mean(before[:, 1:].min(axis=1) > threshold)
                delays = {what: [_delay(checks, threshold) for checks in each] for what, each in found.items()}
                hits = " / ".join(f"{np.mean(np.isfinite(each)):.0%}" for each in delays.values())
                late = " / ".join(f"{np.median(each):.0f}" for each in delays.values())
                print(f"| {p} | {window} | {threshold} | {alone:.1%} | {both:.1%} | {hits} | {late} |", flush=True)


def tails(draws: int, p: int = 40, window: int = 200, threshold: float = 0.2) -> None:
    """Count alarms on data that do not change: noise, heavy tails, samples that depend on each other, counts."""
    print(f"{draws} draws of 1,200 samples; p = {p}, d = 2, window {window}, threshold {threshold}\n")
    print("| data | false, Online-T | false, tracker |\n|---|---:|---:|")
    for name, make in STATIONARY.items():
        found: dict[str, list[Any]] = {"online-t": [], "tracker": []}
        for seed in range(draws):
            Z = make(np.random.default_rng(seed), 1200, p)
            alpha = 0.5 * math.sqrt(math.log(p) / window) * float(Z.var())
            found["online-t"].append(watched(Z, window, alpha, 2))
            found["tracker"].append(watched(Z, window, alpha, 2, Tracker(p, 2, alpha, tol=1e-2)))
        rung = [np.concatenate(each)[:, 1:].min(axis=1) > threshold for each in found.values()]
        print(f"| {name} | " + " | ".join(f"{each.sum()} of {len(each)}" for each in rung) + " |", flush=True)


def _two_groups(rng: np.random.Generator, n: int, p: int) -> Any:
    Z, factors = rng.standard_normal((n, p)), rng.standard_normal((n, 2))
    Z[:, :8] += factors[:, :1]
    Z[:, 8:14] += factors[:, 1:]
    return Z


def _slow(rng: np.random.Generator, n: int, p: int) -> Any:
    Z = _two_groups(rng, n, p)
    for t in range(1, n):
        Z[t] = 0.95 * Z[t - 1] + math.sqrt(1.0 - 0.95**2) * Z[t]
    return Z


STATIONARY: dict[str, Any] = {
    "two groups": _two_groups,
    "the same, variables of sizes 0.01 to 100": lambda rng, n, p: _two_groups(rng, n, p) * np.geomspace(0.01, 100, p),
    "the same, autoregressive, 0.95": _slow,
    "noise": lambda rng, n, p: rng.standard_normal((n, p)),
    "counts": lambda rng, n, p: rng.poisson(0.3 * np.exp(0.5 * rng.standard_normal((n, 1))), (n, p)).astype(float),
    "noise, t with 3 degrees": lambda rng, n, p: rng.standard_t(3, (n, p)),
    "two groups, samples t with 3 degrees": lambda rng, n, p: (
        _two_groups(rng, n, p) * np.sqrt(3 / rng.chisquare(3, (n, 1)))
    ),
    "the same, clipped at 3 deviations": lambda rng, n, p: _clipped(
        _two_groups(rng, n, p) * np.sqrt(3 / rng.chisquare(3, (n, 1)))
    ),
}


def _clipped(Z: Any) -> Any:
    edge = 3.0 * Z.std(axis=0)
    return np.clip(Z, -edge, edge)


def _half(p: int) -> Any:
    """Return the order in which the variables of the first group are replaced by others, and the second stays."""
    order = np.arange(p)
    order[:20], order[40:60] = np.arange(40, 60), np.arange(20)
    return order


def _delay(checks: Any, threshold: float) -> float:
    rung = checks[(checks[:, 1:].min(axis=1) > threshold) & (checks[:, 0] > CHANGE), 0]
    return float(rung[0] - CHANGE) if len(rung) else math.inf


def streams(threshold: float = 0.2) -> None:
    """When it rings on real streams: as they are, and with their samples in random order."""
    folder = data_folder()
    if folder is None:
        print("skipped: no data; set FANTOPE_DATA to the folder that holds the streams")
        return
    z = np.load(folder / "sp500_returns_2000_2016.npz", allow_pickle=False)
    full = ~np.isnan(z["R"]).any(axis=0)
    R = np.clip(z["R"][:, full], -0.25, 0.25)
    g = np.load(folder / "gas_sensor_drift_8of10.npz", allow_pickle=False)
    X = np.asarray(g["X"], dtype=float)
    X = np.clip((X - X[:300].mean(axis=0)) / np.maximum(X[:300].std(axis=0), 1e-9), -10, 10)
    cases = (
        ("S&P 500", R / R[:500].std(axis=0), 0.3, 3, 252, z["date"].astype("U7")),
        ("gas sensors", X, 0.05, 2, 200, np.array([f"batch {b}" for b in g["batch"]])),
    )
    for name, data, alpha, d, window, when in cases:
        for order in ("in order", "shuffled"):
            rows = data if order == "in order" else np.random.default_rng(0).permutation(data)
            learners = {"Online-T": (None, 1.0)}
            if name == "gas sensors":
                for forgetting in (1.0, 0.99):
                    tracker = Tracker(data.shape[1], d, alpha, forgetting=forgetting, tol=1e-2)
                    learners[f"tracker, forgetting {forgetting}"] = tracker, forgetting
            for called, (learner, forgetting) in learners.items():
                checks = watched(rows, window, alpha, d, learner, forgetting, window // 2)
                rung = checks[checks[:, 1:].min(axis=1) > threshold]
                print(f"{name}, {order}, {called}: {len(rung)} of {len(checks)} checks ring at {threshold:.0%}")
                if order == "in order":
                    print("  " + ", ".join(f"{when[int(n) - 1]} ({a:.0%})" for n, a, _ in rung))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["model", "tails", "streams"], nargs="?", default="model")
    parser.add_argument("--draws", type=int, default=20)
    arguments = parser.parse_args()
    if arguments.what == "streams":
        streams()
    else:
        {"model": model, "tails": tails}[arguments.what](arguments.draws)


if __name__ == "__main__":
    main()
