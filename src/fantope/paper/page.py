"""Chapters as Markdown and as HTML, with the figures beside them."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from fantope.paper.chapters.base import Chapter, Claim, Picture, Table, Verdict

IMAGES = "images/reproduce"
CODE, BOLD = re.compile(r"`([^`]+)`"), re.compile(r"\*\*([^*]+)\*\*")

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
figure { margin: 1.2rem 0; } img { max-width: 100%; height: auto; } figcaption { color: #555; font-size: 0.9rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.85rem; margin: 1rem 0; }
th, td { padding: 0.3rem 0.6rem; border-bottom: 1px solid #ddd; text-align: right; vertical-align: top; }
th:first-child, td:first-child { text-align: left; } .claims th, .claims td { text-align: left; }
code { background: #f3f3f3; padding: 0 0.2em; } .holds { color: #00694a; } .partly { color: #8a5a00; }
.fails { color: #a32a00; } .holds, .partly, .fails { font-weight: 600; white-space: nowrap; }
"""


def summary(claims: Sequence[Claim]) -> str:
    """Return how many claims hold, in one sentence."""
    counts = Counter(claim.verdict for claim in claims)
    return (
        f"Of {len(claims)} claims {counts[Verdict.HOLDS]} hold, {counts[Verdict.PARTLY]} hold partly and "
        f"{counts[Verdict.FAILS]} do not."
    )


def write_pictures(chapters: Sequence[Chapter], folder: Path) -> None:
    """Draw every picture into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for chapter in chapters:
        for block in chapter.blocks:
            if isinstance(block, Picture):
                # Beside its place first: an interrupted run leaves the old picture whole.
                spare = folder / f".{block.name}.png"
                block.figure.savefig(spare, dpi=160)  # type: ignore[attr-defined]
                spare.replace(folder / f"{block.name}.png")


def markdown(title: str, opening: Sequence[str], chapters: Sequence[Chapter], missing: Mapping[str, str]) -> str:
    """Return the page in Markdown."""
    claims = [claim for chapter in chapters for claim in chapter.claims]
    parts = [f"# {title}", *opening, "## Claims", summary(claims) if claims else "No claim has been checked yet."]
    if claims:
        head = ["where", "claim", "measured", "verdict"]
        rows = [[claim.where, claim.text, claim.measured, f"**{claim.verdict.value}**"] for claim in claims]
        parts.append(_markdown_table(Table(head, rows), numbers=False))
    for chapter in chapters:
        parts.append(f"## {chapter.title}")
        for block in chapter.blocks:
            if isinstance(block, Table):
                parts.append(_markdown_table(block))
            elif isinstance(block, Picture):
                parts.append(f"![{block.caption}]({IMAGES}/{block.name}.png)\n\n*{block.caption}*")
            else:
                parts.append(block)
    if missing:
        parts.append("## Not here")
        parts.append("\n".join(f"- {name}: {reason}." for name, reason in missing.items()))
    return "\n\n".join(parts) + "\n"


def _markdown_table(table: Table, *, numbers: bool = True) -> str:
    align = ["---"] + ["---:" if numbers else "---"] * (len(table.head) - 1)
    lines = [table.head, align, *table.rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def html_page(title: str, opening: Sequence[str], chapters: Sequence[Chapter], missing: Mapping[str, str]) -> str:
    """Return the page in HTML; figures are linked, nothing is loaded from elsewhere."""
    claims = [claim for chapter in chapters for claim in chapter.claims]
    parts = [f"<h1>{_inline(title)}</h1>", *(f"<p>{_inline(text)}</p>" for text in opening), "<h2>Claims</h2>"]
    parts.append(f"<p>{summary(claims) if claims else 'No claim has been checked yet.'}</p>")
    if claims:
        rows = "".join(
            f"<tr><td>{_inline(c.where)}</td><td>{_inline(c.text)}</td><td>{_inline(c.measured)}</td>"
            f'<td class="{c.verdict.name.lower()}">{c.verdict.value}</td></tr>'
            for c in claims
        )
        head = "<tr><th>where</th><th>claim</th><th>measured</th><th>verdict</th></tr>"
        parts.append(f'<div class="scroll"><table class="claims">{head}{rows}</table></div>')
    for chapter in chapters:
        parts.append(f"<h2>{_inline(chapter.title)}</h2>")
        for block in chapter.blocks:
            if isinstance(block, Table):
                parts.append(_html_table(block))
            elif isinstance(block, Picture):
                caption = _inline(block.caption)
                image = f'<img src="{IMAGES}/{block.name}.png" alt="{html.escape(block.caption)}">'
                parts.append(f"<figure>{image}<figcaption>{caption}</figcaption></figure>")
            else:
                parts.append(f"<p>{_inline(block)}</p>")
    if missing:
        items = "".join(f"<li>{_inline(name)}: {_inline(reason)}.</li>" for name, reason in missing.items())
        parts.append(f"<h2>Not here</h2><ul>{items}</ul>")
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{html.escape(title)}</title>'
        f"<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{_inline(str(cell))}</th>" for cell in table.head)
    rows = "".join("<tr>" + "".join(f"<td>{_inline(str(cell))}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f'<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'


def _inline(text: str) -> str:
    return BOLD.sub(r"<strong>\1</strong>", CODE.sub(r"<code>\1</code>", html.escape(text, quote=False)))
