"""Markdown from a vault as HTML that shows and never does: no HTML of its own, no scripts, no
links that are followed, no pictures that are fetched."""

from __future__ import annotations

from functools import cache

import nh3
from markdown_it import MarkdownIt

CHARS = 20_000
"""Of a longer text the beginning is shown."""

_TAGS = {
    "p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip


@cache
def _parser() -> MarkdownIt:
    return (
        MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
        .enable(["table", "strikethrough"])
        .disable(["image"])
    )


def html(text: str) -> str:
    """Clean HTML. Links are shown as their words; what looked like HTML stands there as text."""
    rendered: str = _parser().render(text[:CHARS])
    return nh3.clean(rendered, tags=_TAGS, attributes={}, link_rel=None)
