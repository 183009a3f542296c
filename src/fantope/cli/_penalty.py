"""`--weights` and `--penalty`: what alpha scales."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
    if kind == "group" and rest:
        file, share = _share(rest)
        from fantope.io.weights import read_groups

        return Group(0.0, read_groups(Path(file), table), share)
    kinds: dict[str, tuple[Any, tuple[type, ...]]] = {
        "l1": (L1, ()), "mcp": (MCP, ()), "scad": (SCAD, ()), "non-negative": (NonNegative, ()),
        "smooth": (Smooth, (float, int)), "trend": (Trend, (int, float)),
    }  # fmt: skip
    made, types = kinds.get(kind, (None, ()))
    given = rest.split(":") if rest else []
    laplacian = rest.partition(":")[2] if kind == "smooth" else ""  # a file, whose name may have colons
    if laplacian and not laplacian.lstrip("-").isdigit():
        given, types = given[:1], types[:1]
    try:
        if made is None or len(given) > len(types) or (kind == "smooth" and not given):
            raise ValueError
        numbers = [convert(word) for convert, word in zip(types, given, strict=False)]
    except ValueError:
        raise click.BadParameter(f"must be {FORMS}, got {text!r}.", param_hint="--penalty") from None
    if laplacian and len(types) == 1:
        from fantope.io.weights import read_laplacian

        return read_laplacian(Path(laplacian), 0.0, numbers[0], table)
    return made(0.0, *numbers)  # type: ignore[no-any-return]


def _share(text: str) -> tuple[str, float]:
    """Return the file, and the share after its last colon if there is a number."""
    file, colon, last = text.rpartition(":")
    try:
        return (file, float(last)) if colon else (text, 0.0)
    except ValueError:
        return text, 0.0
