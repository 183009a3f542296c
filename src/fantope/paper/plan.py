"""The experiments as data: what each of them runs, in the paper's size and in a quick one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from fantope.paper.base import Config
from fantope.paper.experiments.application import Application
from fantope.paper.experiments.batch import Batch
from fantope.paper.experiments.beyond import Beyond
from fantope.paper.experiments.bounds import Bounds
from fantope.paper.experiments.intersection import Scheme
from fantope.paper.experiments.online import Online
from fantope.paper.experiments.regret import Regret
from fantope.paper.experiments.setting import Setting

Scale = Literal["quick", "paper", "full"]
Plan = Mapping[str, Sequence[Config]]

# What each experiment is about, in the order of the page.
EXPERIMENTS = {
    "setting": "figure 1, the simulation model",
    "batch": "figure 2, GradFPS against ADMM",
    "regret": "figure 3, Online-P against FTL",
    "online": "figure 4, Online-T against Online-P",
    "bounds": "theorems and corollaries as numbers",
    "intersection": "section 3.2, the general scheme",
    "application": "figures 5 and 6, gene expression",
    "beyond": "all solvers, other libraries",
}

PAPER: dict[str, tuple[Config, ...]] = {
    "setting": (Setting(),),
    "batch": (Batch(50, 200), Batch(100, 400), Batch(200, 800), Batch(400, 1600)),
    "regret": tuple(Regret(seed=seed) for seed in range(10)),
    "online": tuple(Online(seed=seed) for seed in range(10)),
    "bounds": (
        Bounds("geometry", p=50, draws=20_000),
        *(Bounds("estimation", p=100, d=3, n=400, T=2000, seed=seed) for seed in range(3)),
        Bounds("estimation", p=100, d=2, n=400, T=2000),
        Bounds("penalty", p=60, n=120, T=3000),
        Bounds("online-t", p=60, T=4000),
        Bounds("online-p", p=60, T=100),
    ),
    "intersection": (Scheme("theorem1", p=32, draws=1000), Scheme("fps", p=32), Scheme("correlation", p=40)),
    "application": (Application(),),
    "beyond": (
        Beyond("gap", 100, 400),
        Beyond("gap", 200, 800, seconds=40.0),
        *(
            Beyond("recovery", n, p, signal, seed)
            for n, p, signal in (
                (100, 200, (12.0, 6.0)),
                (50, 200, (12.0, 6.0)),
                (200, 200, (12.0, 6.0)),
                (400, 200, (12.0, 6.0)),
                (100, 100, (12.0, 6.0)),
                (100, 400, (12.0, 6.0)),
                (100, 200, (8.0, 5.0)),
                (100, 200, (5.0, 4.0)),
            )
            for seed in range(5)
        ),
        Beyond("abess", 100, 60),
        Beyond("abess", 50, 200),
    ),
}

# The two sizes of figure 2 that take hours.
FULL = {**PAPER, "batch": (*PAPER["batch"], Batch(800, 3200, seconds=240.0), Batch(1600, 6400, seconds=1500.0))}

QUICK: dict[str, tuple[Config, ...]] = {
    "setting": (Setting(),),
    "batch": (Batch(25, 100, iterations=80), Batch(50, 200, pilot=15, iterations=80)),
    "regret": tuple(Regret(p=50, T=25, seed=seed, loosen=100.0) for seed in range(3)),
    "online": tuple(Online(p=60, T1=200, T2=40, seed=seed, loosen=100.0) for seed in range(2)),
    "bounds": (
        Bounds("geometry", p=30, draws=1000),
        Bounds("estimation", p=50, d=3, n=200, T=300),
        Bounds("penalty", p=40, n=80, T=300),
        Bounds("online-t", p=40, T=500),
        Bounds("online-p", p=40, T=20),
    ),
    "intersection": (Scheme("theorem1", p=32, draws=100), Scheme("fps", p=32), Scheme("correlation", p=15)),
    "application": (Application(n_genes=600, alphas=(0.9, 0.85), min_genes=10, max_genes=400),),
    "beyond": (
        Beyond("gap", 50, 100, seconds=2.0),
        Beyond("recovery", 50, 100),
        Beyond("recovery", 100, 60),
        Beyond("abess", 100, 60),
        Beyond("abess", 50, 100),
    ),
}

PLANS: dict[Scale, dict[str, tuple[Config, ...]]] = {"quick": QUICK, "paper": PAPER, "full": FULL}
# Where results lie: the full plan contains the paper's, and shares its runs.
FOLDERS: dict[Scale, str] = {"quick": "quick", "paper": "paper", "full": "paper"}

# About how many seconds of an idle core a run of the paper's size takes, measured; figure 2 is below.
SECONDS = {"setting": 2, "regret": 90, "online": 40, "bounds": 30, "intersection": 10, "application": 200}
OTHERWISE = 15


def expected_seconds(name: str, config: Config) -> float:
    """Return about how long a run of the paper's size takes on an idle core.

    Panels of figure 2 have a minute of pilots, a set-up as long as some 10 full eigendecompositions, and three methods
    that need about one in each iteration, up to their budgets.
    """
    if not isinstance(config, Batch):
        return SECONDS.get(name, OTHERWISE)
    decomposition = 1.2e-10 * config.p**3
    return 60.0 + 10 * decomposition + 3 * min(config.iterations * decomposition, config.seconds)
