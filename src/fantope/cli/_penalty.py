"""`--weights` and `--penalty`: what alpha scales."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fantope.errors import FileError

if TYPE_CHECKING:
    from fantope.io import Dataset
    from fantope.penalties import Concave, Penalty

WEIGHTS = "Variables × variables: a factor of the penalty for each entry of X; inf forbids it, 0 frees it."
FORMS = "l1, mcp, scad, non-negative, smooth:RHO[:ORDER|:LAPLACIAN], trend[:ORDER[:L1]] or group:FILE[:L1_SHARE]"
PENALTY = (
    f"In place of the ℓ₁ norm: {FORMS}. mcp, scad: folded concave. LAPLACIAN: a file, variables × variables. "
    "FILE has the group of each variable."
)


def penalty_options(function: Any) -> Any:
    """Add the options that say what alpha scales."""
    function = click.option("--penalty", metavar="WHAT", help=PENALTY)(function)
    return click.option("--weights", type=click.Path(path_type=Path), metavar="FILE", help=WEIGHTS)(function)


def read_penalty(options: dict[str, Any], table: Dataset) -> Penalty | Concave | None:
    """Return the penalty that the options stand for, its alpha still to be set; None for the ℓ₁ norm."""
    if options["weights"] is not None and options["penalty"] is not None:
        raise click.UsageError("--weights are those of the ℓ₁ norm, which --penalty replaces; leave one of them out.")
    if options["weights"] is not None:
        from fantope.io.weights import read_weights

        return read_weights(options["weights"], 0.0, table)
    return None if options["penalty"] is None else _parse(options["penalty"], table)


def _parse(text: str, table: Dataset) -> Penalty | Concave:
    from fantope.penalties import L1, MCP, SCAD, Group, NonNegative, Smooth, Trend

    kind, _, rest = text.partition(":")
    try:
        if kind == "group" and rest:
            file, share = _share(rest)
            from fantope.io.weights import read_groups

            return Group(0.0, read_groups(Path(file), table), share)
        given = rest.split(":") if rest else []
        alone: dict[str, Any] = {"l1": L1, "mcp": MCP, "scad": SCAD, "non-negative": NonNegative}
        if kind in alone and not given:
            return alone[kind](0.0)  # type: ignore[no-any-return]
        if kind == "smooth" and given:
            rho, _, other = rest.partition(":")
            if not other or other.lstrip("-").isdigit():
                return Smooth(0.0, float(rho), *map(int, given[1:]))
            from fantope.io.weights import read_laplacian

            return read_laplacian(Path(other), 0.0, float(rho), table)
        if kind == "trend" and len(given) <= 2:
            return Trend(0.0, int(given[0]) if given else 1, float(given[1]) if len(given) > 1 else 0.0)
    except ValueError as error:
        if "must" in str(error) or isinstance(error, FileError):
            raise
    raise click.BadParameter(f"must be {FORMS}, got {text!r}.", param_hint="--penalty")


def _share(text: str) -> tuple[str, float]:
    """Return the file, and the share after its last colon if there is a number."""
    file, colon, last = text.rpartition(":")
    try:
        return (file, float(last)) if colon else (text, 0.0)
    except ValueError:
        return text, 0.0
