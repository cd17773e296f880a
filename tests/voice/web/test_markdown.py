from __future__ import annotations

import pytest

from voice.web.markdown import CHARS, html

HOSTILE = {
    "a script": "<script>alert(1)</script>",
    "a script in a word": "a<script src=//evil.example/x.js></script>b",
    "an image that fails": '<img src=x onerror="alert(1)">',
    "a picture from elsewhere": "![x](http://evil.example/pixel.png)",
    "a link that runs": "[click](javascript:alert(1))",
    "a link to elsewhere": "[click](http://evil.example/)",
    "a bare address": "<http://evil.example/>",
    "a frame": "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "a style": "<style>body{display:none}</style>",
    "a form": "<form action=/api/wipe method=post><button>x</button></form>",
    "svg": "<svg onload=alert(1)><a xlink:href='javascript:alert(1)'>x</a></svg>",
    "in a fence": "```<script>\nalert(1)\n```",
    "in a table": "| a |\n|---|\n| <script>alert(1)</script> |",
    "nested deep": ">" * 3_000 + " x",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_nothing_runs_and_nothing_is_fetched(text: str) -> None:
    """Whatever a note holds: no tag that does anything, no attribute, no address."""
    shown = html(text)
    for tag in ("<script", "<img", "<iframe", "<style", "<form", "<svg", "<a", "<button"):
        assert tag not in shown.lower()
    assert "href" not in shown or "&lt;" in shown
    assert "<" not in shown.replace("</", "<").replace("<p>", "") or "=" not in "".join(
        part.partition(">")[0] for part in shown.split("<")[1:]
    )


def test_what_markdown_means_is_kept() -> None:
    """Emphasis, lists, code and tables are shown as such."""
    shown = html("## Boiler\n\n- **service** in `January`\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    for tag in ("<h2>", "<li>", "<strong>", "<code>", "<td>"):
        assert tag in shown
    assert html("[the note](x.md)") == "<p>the note</p>\n"


def test_of_a_giant_text_the_beginning_is_shown() -> None:
    """Ten megabytes cost what the beginning costs."""
    assert len(html("word " * 2_000_000)) <= CHARS + 100
