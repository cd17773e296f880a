"""`jarvis judge`: a line of JSON in, a verdict for each proposal out (spec, section C)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from memory.notebooks.own_words import verdicts
from memory.notebooks.page import read_page
from memory.notebooks.validate import Grounds
from memory.records import (
    LANGUAGES,
    NOTEBOOKS,
    Notebook,
    Operation,
    Origin,
    Proposal,
    Rejection,
    Speaker,
    Turn,
)

_Text = Annotated[str, Field(strict=True)]


class _Parsed(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Turn(_Parsed):
    conversation: str = "judge"
    index: int | None = None
    speaker: Speaker
    text: _Text
    language: str | None = None
    began_at: AwareDatetime
    ended_at: AwareDatetime | None = None
    origin: Origin = "spoken"
    interrupted: bool = False


class _Proposal(_Parsed):
    operation: Operation
    notebook: Notebook = "USER.md"
    entry: _Text | None = None
    text: _Text | None = None
    quote: _Text = ""


class _Notebooks(_Parsed):
    model_config = ConfigDict(extra="forbid", frozen=True)

    user: _Text = Field(default="", alias="USER.md")
    memory: _Text = Field(default="", alias="MEMORY.md")

    @model_validator(mode="before")
    @classmethod
    def _none_is_empty(cls, value: Any) -> Any:
        return {} if value is None else value


class _Line(_Parsed):
    turns: list[_Turn]
    notebooks: _Notebooks = _Notebooks()
    proposals: list[_Proposal]


def judged(line: str) -> list[dict[str, Any]]:
    """For each proposal `accepted`, `rule` and `reason`; accepted ones also name what is written
    as `text`, refused ones what is written `instead`, if anything is. Each is judged as if it
    were the only one.

    Raises ValueError with a sentence that says what is wrong with the line.
    """
    try:
        parsed = _Line.model_validate_json(line)
    except ValidationError as fault:
        raise ValueError(_sentence(fault)) from None
    grounds = Grounds(
        turns=tuple(_turn(position, turn) for position, turn in enumerate(parsed.turns)),
        notebooks={
            name: _entries(name, page)
            for name, page in zip(
                NOTEBOOKS, (parsed.notebooks.user, parsed.notebooks.memory), strict=True
            )
        },
    )
    return [_verdict(_proposal(each), grounds) for each in parsed.proposals]


def _turn(position: int, turn: _Turn) -> Turn:
    return Turn(
        conversation=turn.conversation,
        index=position if turn.index is None else turn.index,
        speaker=turn.speaker,
        text=turn.text,
        language=next((known for known in LANGUAGES if known == turn.language), None),
        began_at=turn.began_at,
        ended_at=turn.ended_at or turn.began_at,
        origin=turn.origin,
        interrupted=turn.interrupted,
    )


def _proposal(each: _Proposal) -> Proposal:
    return Proposal(
        operation=each.operation,
        notebook=each.notebook,
        entry=each.entry,
        text=each.text,
        quote=each.quote,
    )


def _entries(name: Notebook, text: str) -> tuple[str, ...]:
    page = read_page(name, text.encode("utf-8", errors="replace"))
    return tuple(entry.text for entry in page.entries)


def _verdict(proposal: Proposal, grounds: Grounds) -> dict[str, Any]:
    [verdict] = verdicts([proposal], grounds)
    outcome = verdict.outcome
    if isinstance(outcome, Rejection):
        refused = {"accepted": False, "rule": outcome.rule, "reason": outcome.reason}
        return refused | ({"instead": verdict.instead[1].text} if verdict.instead else {})
    return {"accepted": True, "rule": None, "reason": "The user said so.", "text": outcome.text}


def _sentence(fault: ValidationError) -> str:
    first = fault.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    where = f"{place}: " if place else ""
    return f"This line can't be judged: {where}{first['msg']}. Each line is a JSON object with turns, notebooks and proposals."
