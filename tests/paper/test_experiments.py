"""Every experiment at a size of seconds: runs, page, figures; and claims that can come out either way."""

import copy
import json
import re
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from fantope.paper.chapters import application as application_chapter
from fantope.paper.chapters import batch as batch_chapter
from fantope.paper.chapters import bounds as bounds_chapter
from fantope.paper.chapters import intersection as intersection_chapter
from fantope.paper.chapters import online as online_chapter
from fantope.paper.chapters import regret as regret_chapter
from fantope.paper.chapters import setting as setting_chapter
from fantope.paper.chapters.base import Picture, Table, Verdict
from fantope.paper.experiments import batch as batch_experiment
from fantope.paper.experiments.batch import Batch
from fantope.paper.experiments.beyond import Beyond
from fantope.paper.experiments.bounds import Bounds
from fantope.paper.experiments.intersection import Scheme
from fantope.paper.experiments.online import Online
from fantope.paper.experiments.regret import Regret
from fantope.paper.experiments.setting import Setting
from fantope.paper.reproduction import reproduce
from fantope.paper.runner import collect
from fantope.paper.store import Stored

TINY = {
    "setting": (Setting(),),
    "batch": (Batch(30, 60, pilot=2, iterations=20, step_sizes=(0.03, 0.1)),),
    "regret": tuple(Regret(p=40, T=8, seed=seed, loosen=1e4) for seed in range(2)),
    "online": (Online(p=40, T1=40, T2=10, loosen=1e4),),
    "bounds": (
        Bounds("geometry", p=30, draws=100),
        Bounds("estimation", p=40, n=80, T=40),
        Bounds("estimation", p=40, n=80, T=40, d=2),
        Bounds("penalty", p=32, n=80, T=60),
        Bounds("online-t", p=32, T=60),
        Bounds("online-p", p=32, T=8),
    ),
    "intersection": (Scheme("theorem1", p=30, draws=40), Scheme("fps", p=30), Scheme("correlation", p=10)),
    "beyond": (Beyond("gap", 40, 50, seconds=0.3, tol=1e-3), Beyond("recovery", 60, 40), Beyond("abess", 60, 40)),
}


@contextmanager
def silent(title):
    yield lambda fraction, text: None


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    out = tmp_path_factory.mktemp("reproduce")
    return out, reproduce(TINY, out, scale="quick", progress=silent, plan=TINY)


@pytest.fixture
def runs(done):
    """Stored runs of each experiment, safe to change."""
    out, _ = done
    return {name: copy.deepcopy(collect(name, TINY[name], out / "results" / "quick").runs) for name in TINY}


@pytest.mark.slow
def test_everything_runs(done):
    _, found = done
    for name, outcome in found.outcomes.items():
        assert not outcome.failed and not outcome.skipped, name
        assert outcome.computed == len(TINY[name])
    assert len(found.claims) > 15


@pytest.mark.slow
def test_the_page_shows_every_figure_and_claim(done):
    out, found = done
    page, site = ((out / f"reproduce.{kind}").read_text(encoding="utf-8") for kind in ("md", "html"))
    images = re.findall(r"\]\((images/[^)]+)\)", page)
    assert len(images) >= 9 and all((out / name).stat().st_size > 5000 for name in images)
    assert all(f'src="{name}"' in site for name in images)
    for claim in found.claims:
        assert claim.text in page and claim.verdict.value in page
    assert "Not here" not in page
    assert "nan" not in page.lower().replace("dominant", "")


@pytest.mark.slow
def test_seeds_are_recorded(done):
    out, _ = done
    for file in (out / "results").rglob("*.json"):
        assert isinstance(json.loads(file.read_text(encoding="utf-8"))["config"]["seed"], int)


def verdicts(chapter):
    return [claim.verdict for claim in chapter.claims]


@pytest.mark.slow
def test_setting_claims_can_fail(runs):
    run = runs["setting"][0]
    assert verdicts(setting_chapter.chapter([run])) == [Verdict.HOLDS, Verdict.HOLDS]
    run.result.update(within=[0.1, 0.1], elsewhere_share_below=0.2, nonzero=[100, 100], leading=[12.0, 6.0, 5.0])
    assert verdicts(setting_chapter.chapter([run])) == [Verdict.FAILS, Verdict.FAILS]


def curve(times, errors):
    return {"time": times, "error": errors, "distance": errors, "other": []}


@pytest.mark.slow
def test_batch_claims_follow_the_curves(runs):
    run = runs["batch"][0]
    good, bad = curve([0, 1, 2, 3], [2, 1.1, 1.01, 1.0]), curve([0, 3, 6, 9], [2, 1.5, 1.9, 1.4])
    run.result["error_of_optimum"] = 1.0
    for first, second, verdict in ((good, bad, Verdict.HOLDS), (bad, good, Verdict.FAILS)):
        run.result["curves"].update({"GradFPS": first, "ADMM-FPS": second})
        run.result["first_errors"] = {"GradFPS": [first["error"][1]], "ADMM-FPS": [second["error"][1]]}
        assert verdicts(batch_chapter.chapter([run])) == [verdict] * 5


def test_arrival_is_for_good():
    assert batch_chapter.arrival(curve([], [2, 1, 1.2, 1.05, 1]), 1.0, 0.1) == 3
    assert batch_chapter.arrival(curve([], [1, 1.05]), 1.0, 0.1) == 0
    assert batch_chapter.arrival(curve([], [1, 2]), 1.0, 0.1) is None
    assert batch_chapter.upward(curve([], [9, 3, 1, 2])) == 1 / 3


@pytest.mark.slow
def test_a_curve_ends_with_its_budget():
    config = Batch(30, 60, pilot=1, iterations=50, seconds=1e-9, step_sizes=(0.1,))
    curves = batch_experiment.run(config, lambda fraction, text: None)["curves"]
    assert [len(curves[name]["time"]) for name in list(curves)[:3]] == [2, 2, 2]


@pytest.mark.slow
def test_batch_has_both_iterates_of_three_methods(runs):
    curves = runs["batch"][0].result["curves"]
    assert list(curves) == ["GradFPS", "GradFPS, μ → ∞", "ADMM-FPS", "auto"]
    for name in list(curves)[:3]:
        found = curves[name]
        assert len(found["other"]) == len(found["error"]) == len(found["time"])
        assert found["time"][0] == 0.0 and np.all(np.diff(found["time"]) > 0.0)
        assert found["error"][0] == found["other"][0] and found["error"][5] != found["other"][5]
    claims = batch_chapter.chapter(runs["batch"])
    claims.note_varied(runs["batch"], "batch")
    assert {claim.varied for claim in claims.claims} == {"step size of each method, the best is shown"}


def test_arrival_and_ahead():
    line = curve([0.0, 1.0, 2.0, 3.0], [5.0, 1.0, 3.0, 1.0])
    assert batch_chapter.arrival(line, 1.0, 0.01) == 3.0
    assert batch_chapter.arrival(line, 7.0, 0.01) is None
    low, high = curve([0.0, 1.0, 10.0], [9.0, 1.0, 1.0]), curve([0.0, 1.0, 10.0], [9.0, 2.0, 2.0])
    assert batch_chapter.ahead(low, high, "error") == 1.0 and batch_chapter.ahead(high, low, "error") == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(("ratio", "verdict"), [(0.5, "holds"), (0.9, "partly"), (1.3, "does not hold")])
def test_regret_claim_needs_about_half(runs, ratio, verdict):
    for run in runs["regret"]:
        run.result["regret"]["Online-P"] = [ratio * value for value in run.result["regret"]["FTL"]]
    assert regret_chapter.chapter(runs["regret"]).claims[0].verdict.value == verdict


@pytest.mark.slow
def test_online_claims_can_fail(runs):
    run = runs["online"][0]
    slow, fast = run.result["curves"]["Online-P"], run.result["curves"]["Online-T"]
    slow["answer"] = [2.0 for _ in slow["answer"]]
    slow["time"] = [1e-9 * k for k in range(1, len(slow["time"]) + 1)]
    fast["answer"] = [1.0 for _ in fast["answer"]]
    claims = online_chapter.chapter([run]).claims
    assert claims[0].verdict is Verdict.FAILS
    assert claims[1].verdict is not Verdict.HOLDS


@pytest.mark.slow
def test_bounds_are_judged_by_their_numbers(runs):
    before = bounds_chapter.chapter(runs["bounds"])
    table = next(block for block in before.blocks if isinstance(block, Table))
    assert {row[5] for row in table.rows} == {"yes"}
    unmet = [row[6] for row in table.rows if "d = 2" in row[1]]
    assert unmet and any("d ≥ 3" in text for text in unmet)
    for run in runs["bounds"]:
        if run.config["part"] == "geometry":
            run.result["theorem2"] = [{**case, "ratio": 1.5} for case in run.result["theorem2"]]
        if run.config["part"] == "online-t":
            run.result["regret_bound"] = [1e-6 for _ in run.result["regret_bound"]]
        if run.config["part"] == "estimation":
            for case in run.result.values():
                case["C"] = 1e-9
    after = {claim.where: claim.verdict for claim in reversed(bounds_chapter.chapter(runs["bounds"]).claims)}
    assert after["3.3, theorem 2"] is after["4.2, theorem 4"] is after["3.4, theorem 3"] is Verdict.FAILS


@pytest.mark.slow
def test_scheme_claims_can_fail(runs):
    assert set(verdicts(intersection_chapter.chapter(runs["intersection"]))) == {Verdict.HOLDS}
    theorem, fps, _ = runs["intersection"]
    theorem.result.update(lowest=-1.0, distance_over_epsilon=2.0, value_over_epsilon=3.0)
    next(case for case in theorem.result["values"] if case["factor"] == 1.0)["value"] = -1.0
    fps.result["rows"][0].update(relative=0.1, distance=1.0)
    assert set(verdicts(intersection_chapter.chapter([theorem, fps]))) == {Verdict.FAILS}


@pytest.mark.slow
def test_missing_libraries_are_named(runs):
    from fantope.paper.chapters import beyond

    for run in runs["beyond"]:
        if run.config["part"] == "recovery":
            run.result["scores"]["abess"] = {"skipped": "abess is not installed"}
    chapter = beyond.chapter(runs["beyond"])
    assert "abess was left out: abess is not installed." in chapter.blocks
    assert sum(isinstance(block, Picture) for block in chapter.blocks) == 2


@pytest.mark.slow
def test_application_claims_come_from_the_stored_analysis():
    import numpy as np

    rng = np.random.default_rng(0)
    genes = [f"g{k}" for k in range(12)]
    factors = rng.standard_normal((40, 2))
    expression = {
        name: (np.repeat(factors, 6, axis=1) * size + rng.standard_normal((40, 12))).tolist()
        for name, size in (("tumour", 4.0), ("normal", 0.3))
    }
    rows = [
        {"gene": gene, "module": f"M{1 + k // 6}", "leverage": 0.1, "hub_rank": 1 + k % 6, "pc1": 0.3, "pc2": 0.1}
        for k, gene in enumerate(genes)
    ]
    result = {
        "samples": {"tumour": 40, "normal": 40},
        "n_genes": 100,
        "alpha": 0.5,
        "active": {"tumour": 12, "normal": 4},
        "common": 4,
        "overlap": 0.33,
        "gaps_worst": 1e-4,
        "modules": ["M1", "M2"],
        "genes": {"tumour": rows, "normal": rows[:4]},
        "expression_genes": genes,
        "expression": expression,
        "cross_table": {
            "columns": ["blue", "size"],
            "rows": ["M1", "M2", "size"],
            "counts": [[6, 6], [6, 6], [12, 12]],
            "adjusted_rand": 0.9,
            "purity": [{"module": f"M{k}", "purity": 1.0, "label": "blue"} for k in (1, 2)],
            "cohesion": [
                {"method": "fantope", "module": "M1", "n_genes": 6, "mean_correlation": 0.9},
                {"method": "WGCNA", "module": "blue", "n_genes": 50, "mean_correlation": 0.4},
            ],
        },
    }

    run = Stored(
        "kidney", {"d": 2, "n_modules": 2, "n_genes": None, "min_genes": 5, "max_genes": 50}, result, 1.0, None, {}
    )
    chapter = application_chapter.chapter([run])
    assert verdicts(chapter)[:4] == [Verdict.HOLDS] * 4
    assert "stand-in" in chapter.blocks[0] and all("stand-in" in claim.where for claim in chapter.claims)
    result["cross_table"].update(purity=[{"module": "M1", "purity": 1.0, "label": "grey"}])
    result["cross_table"]["cohesion"][0]["mean_correlation"] = 0.1
    result["expression"]["tumour"] = rng.standard_normal((40, 12)).tolist()
    result["cross_table"]["cohesion"][1]["n_genes"] = 3
    assert verdicts(application_chapter.chapter([run]))[:4] == [Verdict.FAILS] * 4


def test_configs_name_their_runs():
    assert replace(Regret(), seed=4).label == "p400-T100-seed4"
    assert Beyond("recovery", 50, 60, (8.0, 5.0)).label == "recovery-n50-p60-s8-seed0"
