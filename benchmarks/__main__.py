"""`python -m benchmarks [--quick] [--only NAME]`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.timing import source, warm_up
from fantope.paper.machine import Background, machine

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
# A module has run(quick) → JSON-ready dict and report(result) → Markdown; draw(result, file) if it has a picture.
NAMES = ("engine", "flat", "scaling", "memory", "comparison", "recovery", "held_out")
PAGES = ("scale", "online", "coexpression")  # these fill pages of their own; real data where they are at hand


def main(argv: list[str] | None = None) -> int:
    """Run the benchmarks and write their report; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure and write docs/benchmarks.md.")
    parser.add_argument(
        "--quick", action="store_true",
        help="small sizes, to see that everything runs; the report goes to benchmarks/results/raw/quick/ instead",
    )  # fmt: skip
    every = NAMES + PAGES
    parser.add_argument("--only", action="append", choices=every, metavar="NAME", help=f"one of {', '.join(every)}")
    chosen = parser.parse_args(argv)
    modules = {name: import_module(f"benchmarks.{name}") for name in NAMES}
    folder = RESULTS / "raw" / "quick" if chosen.quick else RESULTS
    page = folder / "benchmarks.md" if chosen.quick else ROOT / "docs" / "benchmarks.md"
    images = page.parent / "images"
    images.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)

    code = source()
    print(f"source {code}; warming up", flush=True)
    warm_up()
    for name in chosen.only or every:
        if name in PAGES:
            import_module(f"benchmarks.{name}").PAGE.main(["--quick"] if chosen.quick else [])
            continue
        background = Background()
        began = time.perf_counter()
        print(f"{name} ...", flush=True)
        result = modules[name].run(chosen.quick)
        if source() != code:
            raise RuntimeError(f"the source of fantope changed while {name} ran; its result is not kept: run it again.")
        stored = {"machine": machine(), "source": code, "background": background.share(), "result": result}
        (folder / f"{name}.json").write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
        if hasattr(modules[name], "draw"):
            modules[name].draw(result, images / f"{name}.png")
        print(f"{modules[name].report(result)}\n[{name} took {time.perf_counter() - began:.0f} s]\n", flush=True)
        # After each, so that what is done is not lost; results of earlier runs stay, with their machine.
        page.write_text(report.compose(modules, _stored(folder)), encoding="utf-8")
    print(f"written: {page.relative_to(ROOT)}")
    return 0


def _stored(folder: Path) -> dict[str, dict[str, Any]]:
    files = {name: folder / f"{name}.json" for name in NAMES}
    return {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items() if file.exists()}


if __name__ == "__main__":
    sys.exit(main())
