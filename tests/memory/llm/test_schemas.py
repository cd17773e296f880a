from __future__ import annotations

from memory.llm.protocol import Question
from memory.llm.schemas import told, without_limits
from memory.notebooks.review import SCHEMA


def test_told_in_words() -> None:
    """The schema stands behind the instructions; without one they stand alone."""
    question = Question(instructions="Answer.\n", text="", schema={"type": "array"}, max_tokens=1)
    assert told(question) == (
        'Answer.\n\nAnswer with nothing but JSON of this schema: {"type":"array"}'
    )
    assert told(Question(instructions="Answer.", text="", max_tokens=1)) == "Answer."


def test_limits_go_and_names_stay() -> None:
    """Limits of length are left out at any depth, but not a property that is called like one."""
    schema = {
        "type": "object",
        "properties": {"maxItems": {"type": "integer", "minimum": 1}, "x": {"maxLength": 3}},
        "anyOf": [{"maxItems": 3, "enum": ["maxItems"]}],
    }
    assert without_limits(schema) == {
        "type": "object",
        "properties": {"maxItems": {"type": "integer"}, "x": {}},
        "anyOf": [{"enum": ["maxItems"]}],
    }


def test_our_schema_without_limits() -> None:
    """The schema of the review keeps everything else."""
    assert "maxItems" not in str(without_limits(SCHEMA))
    item = without_limits(SCHEMA)["properties"]["changes"]["items"]
    assert item == SCHEMA["properties"]["changes"]["items"]
