"""How objects look in a notebook: a heading, a short table and some sentences, with every text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["html_view"]

LONGEST_CELL = 200
"""Characters of a cell or sentence of the user's that are shown."""


def html_view(
    heading: str, header: Sequence[str] = (), rows: Iterable[Sequence[object]] = (), texts: Iterable[object] = ()
) -> str:
    """Return HTML for `_repr_html_`; whatever is given is shown as text and never becomes markup.

    >>> html_view("Data", ["id"], [["<b>"]], ["a & b"])
    '<div><strong>Data</strong><table><tr><th>id</th></tr><tr><td>&lt;b&gt;</td></tr></table><p>a &amp; b</p></div>'
    """

    def row(tag: str, cells: Iterable[object]) -> str:
        return "<tr>" + "".join(f"<{tag}>{_shown(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row("td", cells) for cells in rows)
    table = f"<table>{row('th', header)}{body}</table>" if body else ""
    sentences = "".join(f"<p>{_shown(text, 10 * LONGEST_CELL)}</p>" for text in texts)
    return f"<div><strong>{_shown(heading)}</strong>{table}{sentences}</div>"


def _shown(value: object, longest: int = LONGEST_CELL) -> str:
    text = str(value)
    return escape(text if len(text) <= longest else f"{text[:longest]}…")
