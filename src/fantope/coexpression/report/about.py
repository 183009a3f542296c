"""What a report says of the run that made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class About:
    """The run behind a report.

    Attributes
    ----------
    title : str
        What was analysed; the name of the data.
    command : str
        The command line that makes the report again.
    created : str
        When, as text.
    inputs : mapping of str to str
        Name of each input file and its SHA-256.
    versions : mapping of str to str
        Of fantope and what it stands on.
    files : mapping of str to str
        Name of each file beside the report, and what it holds.
    simulated : bool
        Whether the data are made up, which the report then says at its head.
    """

    title: str
    command: str
    created: str
    inputs: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    simulated: bool = False
