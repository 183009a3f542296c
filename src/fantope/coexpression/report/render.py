"""One HTML file from a template, a style sheet, scripts and the result. It needs no network and no other file."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from fantope.coexpression.report.about import About
from fantope.coexpression.report.closing import cite, guarantees, rerun
from fantope.coexpression.report.comparison import cross_tables
from fantope.coexpression.report.differential import differential
from fantope.coexpression.report.html import escape
from fantope.coexpression.report.modules import genes, modules
from fantope.coexpression.report.opening import done, glance, selection, subtitle
from fantope.coexpression.report.payload import as_script, payload

if TYPE_CHECKING:
    from fantope.coexpression.analysis.result import Coexpression

# In this order: each uses what stands before it.
SCRIPTS = ("core.js", "chart.js", "selection.js", "heatmap.js", "differential.js", "tables.js", "start.js")


def render_report(result: Coexpression, about: About) -> str:
    """Return the report as the text of one HTML file.

    Its content security policy lets no script run but its own, known by a hash, and nothing be fetched.
    """
    script = "(() => {\n'use strict';\n" + "\n".join(_asset(name) for name in SCRIPTS) + "})();\n"
    return Template(_asset("template.html")).substitute(
        title=escape(about.title),
        policy=f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '{_hash(script)}'",
        style=_asset("report.css"),
        subtitle=subtitle(result, about),
        glance=glance(result),
        done=done(result),
        selection=selection(result),
        modules=modules(result),
        genes=genes(result),
        cross_tables=cross_tables(result),
        differential=differential(result),
        guarantees=guarantees(result),
        rerun=rerun(result, about),
        cite=cite(about),
        data=as_script(payload(result)),
        script=script,
    )


def write_report(result: Coexpression, about: About, file: Path) -> None:
    """Write the report."""
    file.write_text(render_report(result, about), encoding="utf-8")


def _asset(name: str) -> str:
    return files("fantope.coexpression.report").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
