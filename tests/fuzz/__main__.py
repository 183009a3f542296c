"""``python -m fuzz``: run many cases; ``python -m fuzz FAMILY SEED``: repeat one."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import time
import traceback
import warnings
from collections import Counter

from fuzz import families, machine, others, problems

FAMILIES = {
    "problems": problems.run,
    "families": families.run,
    "estimators": others.estimators,
    "streams": others.streams,
    "files": others.files,
    "interrupts": others.interrupts,
    "machine": machine.machine,
}
# Of a hundred cases.
SHARES = {"problems": 70, "families": 10, "estimators": 6, "streams": 5, "files": 6, "interrupts": 3}


def case(family: str, seed: int) -> tuple[str, str]:
    """Return ("", "") if nothing is found, or what kind of finding it is ("wrong", "slow", "error"), and a sentence."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("error")
            FAMILIES[family](seed)
    except problems.Slow as error:
        return "slow", str(error)
    except problems.Finding as error:
        return "wrong", str(error)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return "error", f"{type(error).__name__}: {error} ({last.filename.rsplit('/', 1)[-1]}:{last.lineno})"
    return "", ""


def schedule(count: int, first: int, families: list[str]) -> list[tuple[str, int]]:
    """Return the cases of a run: all seeds in turn, each family in its share."""
    if families:
        return [(families[k % len(families)], first + k) for k in range(count)]
    wheel = [family for family, share in SHARES.items() for _ in range(share)]
    return [(wheel[(37 * k) % len(wheel)], first + k) for k in range(count)]


def main(arguments: list[str]) -> int:
    """Run cases; print a line that repeats each finding; exit code 1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("family", nargs="?", choices=FAMILIES)
    parser.add_argument("only", nargs="?", type=int, metavar="SEED")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    options = parser.parse_args(arguments)
    if options.only is not None:
        FAMILIES[options.family](options.only)
        return 0
    found: Counter[str] = Counter()
    began, done = time.monotonic(), Counter[str]()
    for family, seed in schedule(options.count, options.seed, [options.family] if options.family else []):
        if time.monotonic() - began > options.seconds:
            break
        kind, sentence = case(family, seed)
        done[family] += 1
        if kind:
            found[kind] += 1
            print(f"{kind}: PYTHONPATH=tests python -m fuzz {family} {seed}  # {sentence}", flush=True)
    print(
        f"{done.total()} cases ({dict(done)}): {found['wrong']} wrong, {found['error']} errors, {found['slow']} slow."
    )
    return 1 if found["wrong"] or found["error"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
