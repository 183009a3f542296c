"""`fantope reproduce`: the paper's experiments, from the simulation model to the figure."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from fantope.cli.console import INTERRUPTED, NOT_REACHED, OK, Talk, complain, talk_options
from fantope.errors import need
from fantope.io.folder import RECORD, refuse_foreign

if TYPE_CHECKING:
    from fantope.paper.plan import Scale

COMMAND = "fantope reproduce"
# Spelled out, so that --help need not load the experiments; a test compares it with their list.
NAMES = ("setting", "batch", "regret", "online", "bounds", "intersection", "application", "beyond")


@click.command()
@click.argument("what", type=click.Choice(["all", *NAMES]))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), default=Path("fantope-reproduce"), show_default=True,
    help="Folder for results, figures and the page. Runs that it has already are not done again.",
)  # fmt: skip
@click.option("--quick", is_flag=True, help="Small sizes, about a minute in all, to see that everything works.")
@click.option("--full", is_flag=True, help="Also the two largest sizes of figure 2: about two hours more.")
@click.option(
    "--data", type=click.Path(path_type=Path, file_okay=False), envvar="FANTOPE_DATA", show_envvar=True,
    help="Folder with the gene expression of `application`.",
)  # fmt: skip
@talk_options
def reproduce(what: str, out: Path, quick: bool, full: bool, data: Path | None, quiet: bool, as_json: bool) -> int:
    """Run an experiment of the paper, or all, and say which of its claims hold.

    Every run is stored as it finishes: after an interruption the same command goes on. OUT/reproduce.md and
    OUT/reproduce.html have the figures, the tables and a verdict on each claim.

    Example: fantope reproduce all --quick -o reproduced
    """
    if quick and full:
        raise click.UsageError("--quick and --full exclude each other; give one of them.")
    talk = Talk(quiet=quiet, json=as_json)
    for module in ("matplotlib", "markdown_it"):
        need(module, "paper", "fantope reproduce")
    from fantope.paper.reproduction import expected_minutes
    from fantope.paper.reproduction import reproduce as run

    if data is not None:
        os.environ["FANTOPE_DATA"] = str(data)  # where the experiment looks, as do the processes that it may start
    scale: Scale = "quick" if quick else "full" if full else "paper"
    _claim_folder(out)
    try:
        command = f"{COMMAND} all{' --quick' * quick}{' --full' * full} -o OUT"
        names = NAMES if what == "all" else (what,)
        if not quick:
            runs, minutes = expected_minutes(names, out, scale)
            talk.say(f"{runs} runs to do, about {math.ceil(minutes)} minutes on an idle core.")
        done = run(names, out, scale=scale, progress=talk.progress, command=command)
    except KeyboardInterrupt:
        complain(f"interrupted; finished runs are kept in {out}, the same command goes on.")
        return INTERRUPTED
    outcomes = done.outcomes.items()
    failed, skipped = (
        {f"{name}/{label}": text for name, outcome in outcomes for label, text in getattr(outcome, kind).items()}
        for kind in ("failed", "skipped")
    )
    for label, reason in failed.items():
        complain(f"{label.replace('/', ', ', 1)} failed: {reason}")
    for label, reason in skipped.items() if talk.chatty else ():
        complain(f"{label.replace('/', ', ', 1)} skipped: {reason.rstrip('.')}.")
    table = Table("where", "claim", "verdict", title="Claims of the paper")
    for claim in done.claims:
        table.add_row(claim.where, claim.text, claim.verdict.value)
    talk.say(table)
    computed = sum(outcome.computed for _, outcome in outcomes)
    reused = sum(len(outcome.runs) for _, outcome in outcomes) - computed
    talk.say(
        f"{computed} runs done, {reused} taken from earlier. Written to {out}: reproduce.md, reproduce.html, figures."
    )
    talk.result(
        {
            "out": str(out), "scale": scale, "computed": computed, "reused": reused, "failed": failed,
            "skipped": skipped,
            "claims": [
                {"where": c.where, "claim": c.text, "measured": c.measured, "verdict": c.verdict.value}
                for c in done.claims
            ],
        }
    )  # fmt: skip
    return NOT_REACHED if failed else OK


def _claim_folder(out: Path) -> None:
    """Make sure that OUT is ours: it grows run by run, so it is not built beside its place as other results are."""
    if not refuse_foreign(out, COMMAND):
        out.mkdir(parents=True, exist_ok=True)
        (out / RECORD).write_text(json.dumps({"command": COMMAND}) + "\n", encoding="utf-8")
