"""`fantope verify`: check a written result again, against its data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from fantope.cli.console import NOT_REACHED, OK, Talk, complain, talk_options

if TYPE_CHECKING:
    from fantope.io import Verification


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--data", type=click.Path(path_type=Path), help="Where DATA is now.  [default: where it was]")
@talk_options
def verify(out: Path, data: Path | None, quiet: bool, as_json: bool) -> int:
    """Check the result in the folder OUT of `fantope fit`, `path`, `coexpress`, or Online-P's `stream`.

    Reads the data again, compares the checksums of all files, and recomputes from the stored X and U alone that X is
    feasible, that U is admissible, and how far the optimum can be; no solver takes part. Exit code 0 if all holds, 1 if
    something does not.

    Example: fantope verify fit --data expression.csv
    """
    talk = Talk(quiet=quiet, json=as_json)
    from fantope.io import verify_folder

    with talk.progress("verify") as report:
        found = verify_folder(out, data, lambda event: report(event.share, str(event)))
    talk.say(_table(found))
    if found.holds:
        worst = max(each.certificate.gap for each in found.solutions if each.certificate is not None)
        talk.say(
            "The certificate holds: every X is feasible, every U admissible, the files and the data are those of the "
            f"run, and no X exceeds these by more than {worst:.2g} of the objective."
        )
    if found.uncovered:
        talk.say(f"Not covered by a checksum: {', '.join(found.uncovered)}.")
    if not found.holds and not as_json and not quiet:
        for failure in found.failures:
            complain(failure)
    talk.result(_json(out, found))
    return OK if found.holds else NOT_REACHED


def _table(found: Verification) -> Table:
    table = Table(title="Recomputed from X, U and the data")
    grouped = any(each.group for each in found.solutions)
    for name in (*(["group"] if grouped else []), "alpha", "objective", "bound", "gap", "reported", ""):
        table.add_column(name, justify="left" if name in ("", "group") else "right")
    for each in found.solutions:
        bracket = each.certificate
        numbers = ("", "", "") if bracket is None else (
            f"{bracket.objective:.8g}", f"{bracket.dual_bound:.8g}", f"{bracket.gap:.1e}",
        )  # fmt: skip
        verdict = "fails" if each.failure else "holds"
        whose = [each.group] if grouped else []
        table.add_row(*whose, f"{each.alpha:.5g}", *numbers, f"{each.reported_gap:.1e}", verdict)
    return table


def _json(out: Path, found: Verification) -> dict[str, object]:
    return {
        "out": str(out),
        "holds": found.holds,
        "failures": found.failures,
        "not_covered": found.uncovered,
        "solutions": [
            {
                **({"group": each.group} if each.group else {}),
                "alpha": each.alpha,
                "feasible": each.certificate is not None,
                **{name: getattr(each.certificate, name, None) for name in ("objective", "dual_bound", "gap")},
                "reported_gap": each.reported_gap,
            }
            for each in found.solutions
        ],
    }
