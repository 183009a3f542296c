"""One file for each finished run: written whole or not at all, reused only for the same question and the same code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fantope.atomic import write_whole
from fantope.io.fingerprint import code_fingerprint, fingerprint
from fantope.paper.machine import machine


@dataclass(frozen=True)
class Stored:
    """A finished run, read back."""

    label: str
    config: dict[str, Any]  # the experiment's parameters, seeds included
    result: dict[str, Any]
    seconds: float  # of processor time
    background: float | None  # share of the processor that other programs took meanwhile
    machine: dict[str, Any]


@dataclass(frozen=True)
class RunStore:
    """Results of one experiment: ``folder/experiment/label.json``."""

    folder: Path
    experiment: str

    @property
    def module(self) -> str:
        """The module that has the experiment's ``run(config, report)``."""
        return f"fantope.paper.experiments.{self.experiment}"

    def key(self, config: Any) -> str:
        """Return what identifies a run: its parameters, and the code that it runs."""
        question = json.dumps(asdict(config), sort_keys=True)
        return fingerprint(self.experiment, question, code_fingerprint(self.module))

    def read(self, config: Any) -> Stored | None:
        """Return a stored run, or None if there is none for this key: another config or code, or damage."""
        try:
            content = json.loads(self._file(config).read_text(encoding="utf-8"))
            names = ("label", "config", "result", "seconds", "background", "machine")
            return Stored(**{name: content[name] for name in names}) if content["key"] == self.key(config) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, config: Any, result: Mapping[str, Any], seconds: float, background: float | None) -> None:
        """Keep a finished run."""
        content = {
            "key": self.key(config),
            "label": config.label,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "config": asdict(config),
            "seconds": round(seconds, 3),
            "background": background,
            "machine": machine(),
            "result": result,
        }
        file = self._file(config)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps(content, allow_nan=False) + "\n")

    def _file(self, config: Any) -> Path:
        return self.folder / self.experiment / f"{config.label}.json"
