"""One HTML file from templates, a style sheet, scripts and the result. It needs no network and no other file."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fantope.coexpression.analysis.choice import UNFAIR
from fantope.coexpression.analysis.result import Coexpression
from fantope.coexpression.report import labels, sections
from fantope.coexpression.report.payload import as_script, payload
from fantope.coexpression.report.table import exact, gene_link
from fantope.coexpression.report.words import LEVEL, correlation_name, counted, short, whole
from fantope.coexpression.view import MOST

# In this order: each uses what stands before it.
SCRIPTS = (
    "core.js", "chart.js", "selection.js", "heatmap.js", "network.js", "differential.js", "tables.js", "gene.js",
    "download.js", "start.js",
)  # fmt: skip


def render_report(result: Coexpression, about: sections.About) -> str:
    """Return the report as the text of one HTML file.

    Every text is escaped as it enters a template, but for our own scripts and style sheet and the result as JSON. The
    content security policy lets no script run but the report's own, known by a hash, and nothing be fetched.
    """
    script = "(() => {\n'use strict';\n" + "\n".join(_asset(name) for name in SCRIPTS) + "})();\n"
    samples = [len(group.expression) for group in result.groups.values()]
    return _environment(result).get_template("report.html").render(
        about=about,
        result=result,
        parameters=result.parameters,
        several=len(result.groups) > 1,
        alike=max(samples) <= UNFAIR * min(samples),
        policy=f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '{_hash(script)}'",
        style=Markup(_asset("report.css")),
        facts=sections.facts(result, about),
        findings=sections.findings(result),
        correlations=correlation_name(result.parameters),
        selection=sections.selection(result),
        modules=sections.modules(result),
        most=MOST,
        genes=sections.genes(result),
        crossed=labels.cross_tables(result),
        traits=sections.traits(result),
        preservation=sections.preservation(result),
        pairs=sections.differential(result),
        level=LEVEL,
        certificates=sections.certificates(result),
        described={name: sections.described(value) for name, value in result.parameters.items()},
        data=Markup(as_script(payload(result))),
        script=Markup(script),
    )  # fmt: skip


def _environment(result: Coexpression) -> Environment:
    environment = Environment(
        loader=PackageLoader("fantope.coexpression.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    used = frozenset(str(name) for group in result.groups.values() for name in group.genes["gene"])
    environment.globals.update(
        counted=counted, exact=exact, short=short, whole=whole, used=used, gene_link=gene_link
    )  # fmt: skip
    return environment


def write_report(result: Coexpression, about: sections.About, file: Path) -> None:
    """Write the report."""
    file.write_text(render_report(result, about), encoding="utf-8")


def _asset(name: str) -> str:
    return files("fantope.coexpression.report").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
