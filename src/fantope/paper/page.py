"""Chapters as Markdown and as HTML, with the figures beside them."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

from fantope.paper.chapters.base import Chapter, Claim, Picture, Table, Verdict

if TYPE_CHECKING:
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict

IMAGES = "images/reproduce"
VERDICTS = {verdict.value: verdict.name.lower() for verdict in Verdict}

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; } img { max-width: 100%; height: auto; }
p:has(> img) + p { color: #555; font-size: 0.9rem; } code { background: #f3f3f3; padding: 0 0.2em; }
table { display: block; overflow-x: auto; border-collapse: collapse; font-size: 0.85rem; margin: 1rem 0; }
th, td { padding: 0.3rem 0.6rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
.holds { color: #00694a; } .partly { color: #8a5a00; } .fails { color: #a32a00; }
td strong { font-weight: 600; white-space: nowrap; }
"""


def summary(claims: Sequence[Claim]) -> str:
    """Return how many claims hold, in one sentence."""
    counts = Counter(claim.verdict for claim in claims)
    return (
        f"Of {len(claims)} claims {counts[Verdict.HOLDS]} hold, {counts[Verdict.PARTLY]} hold partly and "
        f"{counts[Verdict.FAILS]} {'does' if counts[Verdict.FAILS] == 1 else 'do'} not."
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
        head = ["where", "claim", "measured", "varied", "verdict"]
        rows = [
            [claim.where, claim.text, claim.measured, claim.varied, f"**{claim.verdict.value}**"] for claim in claims
        ]
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


def html_page(title: str, text: str) -> str:
    """Return the page in Markdown as one in HTML; figures are linked, nothing is loaded from elsewhere."""
    # Anything in a text that looks like HTML stays text.
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("strong_open", _strong)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{html.escape(title)}</title>'
        f"<style>{STYLE}</style></head>\n<body>\n{reader.render(text)}</body></html>\n"
    )


def _strong(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    """Mark a verdict, so that the style sheet can colour it."""
    name = VERDICTS.get(tokens[place + 1].content)
    return f'<strong class="{name}">' if name else "<strong>"
