"""One file for each finished run: written whole or not at all, reused only for the same question and the same code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fantope
from fantope.atomic import write_whole
from fantope.io.fingerprint import code_fingerprint, fingerprint
from fantope.paper.machine import machine


@dataclass(frozen=True)
class Stored:
    """A finished run, read back.

    Attributes
    ----------
    label : str
    config : dict
        The experiment's parameters, seeds included.
    result : dict
        What was measured.
    seconds : float
        How long it took.
    background : float or None
        Share of the processor that other programs took meanwhile.
    machine : dict
    """

    label: str
    config: dict[str, Any]
    result: dict[str, Any]
    seconds: float
    background: float | None
    machine: dict[str, Any]


@dataclass(frozen=True)
class Store:
    """Results of one experiment in one folder."""

    folder: Path

    def read(self, label: str, key: str) -> Stored | None:
        """Return a stored run, or None if there is none for this key: another config, version or code, or damage."""
        try:
            content = json.loads(self._file(label).read_text(encoding="utf-8"))
            if content["key"] != key:
                return None
            return Stored(
                label, content["config"], content["result"], float(content["seconds"]), content["background"],
                content["machine"],
            )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(
        self, label: str, key: str, config: Any, result: Mapping[str, Any], seconds: float, background: float | None
    ) -> None:
        """Keep a finished run."""
        content = {
            "key": key,
            "label": label,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "config": asdict(config),
            "seconds": round(seconds, 3),
            "background": background,
            "machine": machine(),
            "result": result,
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._file(label), json.dumps(content, allow_nan=False) + "\n")

    def _file(self, label: str) -> Path:
        return self.folder / f"{label}.json"


def run_key(experiment: str, config: Any, module: str) -> str:
    """Return what identifies a run: its parameters, the version of fantope, and the code that it runs."""
    question = json.dumps(asdict(config), sort_keys=True)
    return fingerprint(experiment, question, fantope.__version__, code_fingerprint(module))
