"""A JSON schema as each provider takes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memory.llm.protocol import Question

_LIMITS = frozenset(
    {"maxItems", "maxLength", "minLength", "maximum", "minimum", "multipleOf", "uniqueItems"}
)


def told(question: Question) -> str:
    """The instructions with the schema in words, for a server that can't be held to it."""
    if question.schema is None:
        return question.instructions
    schema = json.dumps(question.schema, ensure_ascii=False, separators=(",", ":"))
    return (
        f"{question.instructions.rstrip()}\n\nAnswer with nothing but JSON of this schema: {schema}"
    )


def without_limits(schema: Any) -> Any:
    """The schema without limits of length and size, which Anthropic's constrained output
    refuses; who reads the answer counts anyway."""
    if isinstance(schema, Mapping):
        return {
            name: {key: without_limits(value) for key, value in inner.items()}
            if name == "properties" and isinstance(inner, Mapping)
            else without_limits(inner)
            for name, inner in schema.items()
            if name not in _LIMITS
        }
    if isinstance(schema, list | tuple):
        return [without_limits(each) for each in schema]
    return schema
