"""Cases with a page of their own in docs/: measured in processes of their own, stored, and reported on the page."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.report import describe, meanwhile
from fantope.paper.machine import Background, machine

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
QUICK_SIZES = 3  # how many of a case's sizes a quick run takes


@dataclass(frozen=True)
class Case:
    """What is measured, and how it is told.

    ``measure(quick)`` returns a JSON-ready dict, of which ``section`` makes Markdown. A case with ``sizes`` is measured
    by ``measure(quick, size)`` in a process for each; its result is {"rows": [...]}.
    """

    title: str
    measure: Callable[..., dict[str, Any]]
    section: Callable[[dict[str, Any]], str]
    needs_data: bool = False
    sizes: tuple[int, ...] = ()


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Page:
    """Cases of the module ``benchmarks.name``, for docs/benchmarks/name.md and benchmarks/results/name.json.

    ``warm_up`` is called in each process before it measures.
    """

    name: str
    heading: str
    cases: dict[str, Case]
    warm_up: Callable[[], None] = _nothing

    def run(self, quick: bool, names: list[str] | None = None) -> dict[str, Any]:
        """Measure cases and store each; the others stay as they are. Fill the page unless ``quick``."""
        stored = self.stored(quick)
        stored.parent.mkdir(parents=True, exist_ok=True)
        result: dict[str, Any] = json.loads(stored.read_text(encoding="utf-8")) if stored.exists() else {}
        for name in names or self.cases:
            result[name] = self._measured(name, quick) | {"machine": machine()}
            stored.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
            print(f"  {name}: {json.dumps(result[name])[:160]}", flush=True)
        if not quick:
            self.fill(result)
        return result

    def stored(self, quick: bool) -> Path:
        """Return the file of the results."""
        return (RESULTS / "raw" / "quick" if quick else RESULTS) / f"{self.name}.json"

    def _measured(self, name: str, quick: bool) -> dict[str, Any]:
        """Return the result of a case, with the share of the processor that other programs took meanwhile."""
        case = self.cases[name]
        if case.needs_data and data_folder() is None:
            return {"skipped": "the data are not here: set FANTOPE_DATA to the folder that holds load.py"}
        background = Background()
        if case.sizes:
            sizes = case.sizes[:QUICK_SIZES] if quick else case.sizes
            result: dict[str, Any] = {"rows": [self._child(name, quick, str(size)) for size in sizes]}
        else:
            result = self._child(name, quick)
        return result | {"background": background.share()}

    def _child(self, name: str, quick: bool, *size: str) -> dict[str, Any]:
        options = ["--quick"] if quick else []
        found = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{self.name}", *options, "--measure", name, *size],
            cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        measured: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
        return measured

    def report(self, result: dict[str, Any]) -> str:
        """Return the section in Markdown."""
        parts = [f"## {self.heading}\n"]
        before = None  # the machine of the case above: told where it changes
        for name, case in self.cases.items():
            if name in result:
                found = result[name]
                skipped, load = found.get("skipped"), meanwhile(found.get("background"))
                elsewhere = describe(found["machine"]) if found["machine"] != before else ""
                body = f"Not run: {skipped}.\n" if skipped else case.section(found)
                parts.append("\n\n".join(filter(None, (f"### {case.title}", elsewhere.strip(), load, body))))
                before = found["machine"]
        return "\n".join(parts)

    def fill(self, result: dict[str, Any]) -> None:
        """Put the section between the markers of the page."""
        page = ROOT / "docs" / "benchmarks" / f"{self.name}.md"
        head, rest = page.read_text(encoding="utf-8").split(BEGIN)
        tail = rest.split(END)[1]
        page.write_text(f"{head}{BEGIN}\n\n{self.report(result)}\n{END}{tail}", encoding="utf-8")

    def main(self, argv: list[str] | None = None) -> int:
        """Run cases and write their results; return the exit code."""
        parser = argparse.ArgumentParser(
            prog=f"python -m benchmarks.{self.name}", description=f"Measure and fill docs/benchmarks/{self.name}.md."
        )
        parser.add_argument("--quick", action="store_true", help="small parts; nothing is written to docs/")
        parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
        parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(self.cases)}; default all")
        chosen = parser.parse_args(argv)
        if chosen.measure:
            name, *size = chosen.cases
            self.warm_up()
            measured = self.cases[name].measure(chosen.quick, *map(int, size))
            print(json.dumps(measured | {"peak_bytes": _peak_of_process()}))
            return 0
        unknown = [name for name in chosen.cases if name not in self.cases]
        if unknown:
            parser.error(f"no case {unknown[0]!r}; there are {', '.join(self.cases)}")
        print(self.report(self.run(chosen.quick, chosen.cases)))
        return 0


def data_folder() -> Path | None:
    """Return where the real data are, if they are here."""
    for folder in (os.environ.get("FANTOPE_DATA"), ROOT.parent / "shared" / "data"):
        if folder and (Path(folder) / "load.py").exists():
            return Path(folder)
    return None


def data() -> Any:
    """Return the module that loads the real data."""
    folder = data_folder()
    assert folder is not None
    sys.dont_write_bytecode = True  # the folder may be read-only, and is not ours
    spec = importlib.util.spec_from_file_location("fantope_benchmark_data", folder / "load.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _peak_of_process() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
