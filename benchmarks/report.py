"""docs/benchmarks.md, from the stored results and nothing else."""

from __future__ import annotations

from types import ModuleType
from typing import Any

BUSY = 0.05  # share of the processor that others may take before a section says so

INTRODUCTION = """# Benchmarks

Written by `make bench` (`python -m benchmarks`); do not edit. Every number on this page comes from that command. Raw
figures are in `benchmarks/results/`. Estimation error against time is on [the page that reproduces the
paper](reproduce.md).

"""


def compose(modules: dict[str, ModuleType], results: dict[str, dict[str, Any]]) -> str:
    """Return the page: the machine, then one section for each result."""
    machines = [results[name]["machine"] for name in modules if name in results]
    sources = [results[name]["source"] for name in modules if name in results]
    parts = [f"{INTRODUCTION}{describe(machines[0])}Fingerprint of the source: {sources[0]}.\n"]
    for name, module in modules.items():
        if name not in results:
            continue
        title, _, rest = module.report(results[name]["result"]).partition("\n")
        background = results[name]["background"]
        if getattr(module, "TIMED", True) and background is not None and background > BUSY:
            rest = f"\n{meanwhile(background)}\n{rest}"
        if results[name]["source"] != sources[0]:
            rest = f"\n*Measured with another state of the source ({results[name]['source']}).*\n{rest}"
        if results[name]["machine"] != machines[0]:
            rest = f"\nMeasured elsewhere: {describe(results[name]['machine'])}{rest}"
        parts.append(f"{title}\n{rest}")
    missing = [name for name in modules if name not in results]
    if missing:
        parts.append(f"Not measured yet: {', '.join(missing)}.\n")
    return "\n".join(parts)


def describe(machine: dict[str, Any]) -> str:
    """Return what the timings depend on, in two sentences."""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}; {machine['blas_threads']} BLAS and "
        f"{machine['numba_threads']} numba threads.\nPython {machine['python']}, {versions}, {machine['blas']}.\n"
    )


def meanwhile(background: float | None) -> str:
    """Return how much of the processor others took, in a sentence; nothing if it is not known."""
    if background is None:
        return ""
    share = f"{100 * background:.0f}" if background >= 0.01 else "less than 1"
    consequence = ": times are noisy and too long" if background > BUSY else ""
    return f"*Other programs took {share} % of the processor meanwhile{consequence}.*"
