"""`jarvis filter`: a line of JSON in, what the filter marks out (spec, section C)."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from memory.notebooks.filter import marked


def filtered(line: str) -> dict[str, Any]:
    """`{"text", "lang"?, "previous"?}` in; `text`, `marked` and `candidates` out.

    Raises ValueError with a sentence that says what is wrong with the line.
    """
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError('This is no JSON. A line looks like {"text": "I am vegan"}.') from None
    if not isinstance(given, dict) or not isinstance(given.get("text"), str):
        raise ValueError('There is no text. A line looks like {"text": "I am vegan"}.')  # noqa: TRY004
    text = given["text"]
    language, previous = given.get("lang"), given.get("previous")
    found = marked(
        text,
        language=language if isinstance(language, str) else None,
        previous=previous if isinstance(previous, str) else None,
    )
    return {"text": text, "marked": bool(found), "candidates": [asdict(each) for each in found]}
