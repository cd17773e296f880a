from __future__ import annotations

import json
from typing import Any

import pytest

from memory.notebooks.judge import judged

SAID: dict[str, Any] = {
    "conversation": "c1", "index": 0, "speaker": "user", "text": "I'm vegan since last summer.",
    "language": "en", "began_at": "2026-12-02T10:00:00+01:00", "ended_at": "2026-12-02T10:00:04+01:00",
    "origin": "spoken", "interrupted": False,
}  # fmt: skip


def line(proposals: list[dict[str, Any]], **more: Any) -> str:
    return json.dumps(
        {"turns": [SAID], "notebooks": {"USER.md": "", "MEMORY.md": ""}, "proposals": proposals}
        | more
    )


def add(text: str, quote: str = "I'm vegan since last summer.") -> dict[str, Any]:
    return {"operation": "add", "notebook": "USER.md", "entry": None, "text": text, "quote": quote}


def test_each_proposal_has_its_verdict_in_order() -> None:
    verdicts = judged(line([add("Vegan"), add("Vegetarian")]))
    assert [verdict["accepted"] for verdict in verdicts] == [True, False]
    assert verdicts[0]["rule"] is None
    assert verdicts[1]["rule"] == "L5.2"
    assert all(verdict["reason"] for verdict in verdicts)


def test_notebooks_are_pages() -> None:
    page = {"USER.md": "# About me\n\n- Vegan since last summer\n", "MEMORY.md": None or ""}
    assert judged(line([add("Vegan since last summer")], notebooks=page))[0]["rule"] == "L6.1"
    removal = {
        "operation": "remove",
        "notebook": "USER.md",
        "entry": "Vegan since last summer",
        "text": None,
        "quote": SAID["text"],
    }
    assert judged(line([removal], notebooks=page))[0]["rule"] == "L5.2"


def test_optional_fields_may_be_missing() -> None:
    turn = {key: SAID[key] for key in ("speaker", "text", "began_at")}
    short = {"operation": "add", "notebook": "USER.md", "text": "Vegan", "quote": SAID["text"]}
    assert judged(json.dumps({"turns": [turn], "proposals": [short]}))[0]["accepted"]


@pytest.mark.parametrize(
    "wrong",
    [
        "", "no json", "[]", "{}", '{"turns": [], "proposals": 3}',
        json.dumps({"turns": [SAID | {"speaker": "nobody"}], "proposals": []}),
        json.dumps({"turns": [SAID | {"began_at": "2026-12-02T10:00:00"}], "proposals": []}),
        json.dumps({"turns": [SAID], "proposals": [{"operation": "destroy"}]}),
        json.dumps({"turns": [SAID], "notebooks": {"OTHER.md": ""}, "proposals": []}),
    ],
)  # fmt: skip
def test_a_wrong_line_is_refused_in_a_sentence(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"^This line can't be judged: ") as raised:
        judged(wrong)
    assert "\n" not in str(raised.value)


def test_nothing_proposed_gives_nothing() -> None:
    assert judged(line([])) == []
