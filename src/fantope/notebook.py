"""What a notebook shows: small pages of HTML and SVG without any library, and progress while a solver runs."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from fantope.typing import Array

__all__ = ["Progress"]

PLUS, MINUS = "#0072B2", "#D55E00"  # blue and vermilion of Okabe and Ito: readable on white and on black
MOST_BARS = 240  # of one component; more are thinner than a pixel
REDRAW = 0.2  # seconds between two updates: more often is not read, and slows the page down


def card(title: str, facts: Mapping[str, str], *parts: str) -> str:
    """Return a block of HTML: a title, facts line by line, and then ``parts``, which are HTML already.

    Colours follow the page, so that it can be read in light and dark notebooks.
    """
    lines = "".join(
        f'<tr><th style="text-align:left;padding:1px 12px 1px 0;font-weight:normal;opacity:.7">{escape(name)}</th>'
        f'<td style="text-align:left;padding:1px 0">{escape(value)}</td></tr>'
        for name, value in facts.items()
    )
    return (
        f'<div class="fantope" style="border-left:3px solid {PLUS};padding:2px 0 2px 12px;max-width:52em">'
        f'<div style="font-weight:bold">{escape(title)}</div><table style="margin:2px 0;border:0">{lines}</table>'
        f"{''.join(parts)}</div>"
    )


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table of texts."""
    head = "".join(f'<th style="text-align:right;padding:1px 8px">{escape(name)}</th>' for name in columns)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:right;padding:1px 8px">{escape(cell)}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    return f'<table style="margin:4px 0;border:0"><tr>{head}</tr>{body}</table>'


def bars(values: Sequence[float], *, width: int = 420, height: int = 54) -> str:
    """Return an SVG of vertical bars, those below zero in another colour."""
    limit = max(map(abs, values), default=0.0) or 1.0
    step, middle = width / max(len(values), 1), height / 2
    drawn = "".join(
        f'<rect x="{step * k:.1f}" y="{middle - max(v, 0.0) / limit * middle:.1f}" width="{max(0.8 * step, 0.6):.1f}" '
        f'height="{max(abs(v) / limit * middle, 0.3):.1f}" fill="{PLUS if v >= 0 else MINUS}"/>'
        for k, v in enumerate(values)
    )
    axis = f'<line x1="0" y1="{middle}" x2="{width}" y2="{middle}" stroke="currentColor" stroke-opacity=".4"/>'
    return _svg(width, height, axis + drawn)


def curve(x: Sequence[float], y: Sequence[float], *, label: str, width: int = 420, height: int = 90) -> str:
    """Return an SVG of ``y``, which starts at zero, against ``x``, in the order given."""
    left, right, top = min(x), max(x), max(y) or 1.0
    turned = len(x) > 1 and x[0] > x[-1]

    def place(a: float, b: float) -> str:
        share = (a - left) / (right - left) if right > left else 0.5
        return f"{4 + (1 - share if turned else share) * (width - 8):.1f},{4 + (1 - b / top) * (height - 8):.1f}"

    points = [place(a, b) for a, b in zip(x, y, strict=True)]
    marks = "".join('<circle cx="{}" cy="{}" r="2" fill="{}"/>'.format(*each.split(","), PLUS) for each in points)
    line = f'<polyline points="{" ".join(points)}" fill="none" stroke="{PLUS}" stroke-width="1.5"/>'
    axis = f'<path d="M1 0V{height - 1}H{width}" fill="none" stroke="currentColor" stroke-opacity=".4"/>'
    note = f'<div style="opacity:.7;font-size:85%">{escape(label)}</div>'
    return _svg(width, height, axis + line + marks) + note


def loadings(components: Array, names: Sequence[str] | None, variances: Array | None, shown: int = 8) -> str:
    """Return for each component its bars and its largest loadings by name."""
    parts = []
    for k, row in enumerate(components):
        used = [j for j in range(len(row)) if row[j]]
        order = sorted(used, key=lambda j: -abs(row[j]))
        drawn = sorted(order[:MOST_BARS])
        listed = ", ".join(f"{names[j] if names is not None else j} {row[j]:+.3f}" for j in order[:shown])
        more = f", … {len(used) - shown} more" if len(used) > shown else ""
        explained = "" if variances is None else f", variance {variances[k]:.4g}"
        parts.append(
            f'<div style="margin-top:6px"><b>component {k + 1}</b>: {len(used)} variables{explained}</div>'
            f'{bars([float(row[j]) for j in drawn])}<div style="font-size:85%">{escape(listed + more)}</div>'
        )
    return "".join(parts)


def _svg(width: int, height: int, content: str) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} style="max-width:100%;display:block">{content}</svg>'


class Progress:
    """Show in a notebook how far a computation is: an argument for every ``callback``.

    One line is updated in place: the certified gap while a solver runs, on a path the penalty too. Where there is no
    IPython nothing is shown.

    Parameters
    ----------
    tol : float, optional
        The gap that was asked for; with it there is a bar, which is full when the gap is reached.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(100, 60)
    >>> progress = fantope.notebook.Progress(tol=1e-3)
    >>> path = fantope.solve_path(sim.Z.T @ sim.Z / 100, 2, [0.5, 0.3], callback=progress)
    >>> progress.text.startswith("alpha 0.3: gap ")
    True
    """

    def __init__(self, *, tol: float | None = None) -> None:
        self.tol = tol
        self.text = "not started"
        self.share: float | None = None
        self._shown = -math.inf
        self._handle: Any = None

    def __call__(self, *reported: Any) -> None:
        """Take what a callback is given: a record, a penalty and a record, or an event."""
        last = reported[-1]
        if hasattr(last, "gap"):
            alpha = f"alpha {reported[0]:.4g}: " if len(reported) > 1 else ""
            self.text = (
                f"{alpha}gap {last.gap:.2g} after {last.iteration} iterations, {last.time:.1f} s, "
                f"{last.n_active} variables"
            )
            self.share = None if self.tol is None else _digits_reached(last.gap, self.tol)
        else:
            self.text, self.share = str(last), getattr(last, "share", None)
        now = time.monotonic()
        done = self.share is not None and self.share >= 1.0
        if done or now - self._shown > REDRAW:
            self._shown = now
            self._display()

    def _display(self) -> None:
        try:
            from IPython.display import display
        except ImportError:
            return
        if self._handle is None:
            self._handle = display(self, display_id=True)
        if self._handle is not None:  # None outside a running session
            self._handle.update(self)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        share = "" if self.share is None else f'<progress max="1" value="{self.share:.3f}"></progress> '
        return f"<div>{share}{escape(self.text)}</div>"


def _digits_reached(gap: float, tol: float) -> float:
    """Return how many of the digits that ``tol`` asks for a gap has, from 0 to 1."""
    if gap <= tol:
        return 1.0
    return min(max(math.log10(gap) / math.log10(tol), 0.0), 0.99) if 0.0 < tol < 1.0 and math.isfinite(gap) else 0.0
