from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from memory.llm.scripted import Answer
from memory.records import Accepted, Change
from tests.memory.learning import NONSENSE, House, for_a_while, gone, run


def remembered(house: House, *texts: str) -> None:
    """Entries that Jarvis wrote."""
    for text in texts:
        [written] = house.ledger.write(
            [
                Accepted(
                    operation="add",
                    notebook="USER.md",
                    entry=None,
                    text=text,
                    quote=text,
                    turn_index=0,
                )
            ],
            source="remember",
            at=house.now(),
        )
        assert isinstance(written, Change)


FULL = tuple(
    f"Owns painting number {number} of the series {'about harbours ' * 12}" for number in range(11)
)


def test_what_is_said_twice_and_what_is_over_goes_by_itself(tmp_path: Path) -> None:
    """An entry of ours that a line of the user's says as well, and a passed plan of ours, go for
    free; the user's lines stay; it can be undone (L6.1, L6.3)."""
    by_hand = ("Fond of ships and harbours", "fond of ships and harbours", "Exam on 2026-11-02")

    async def main() -> House:
        house = House(tmp_path)
        remembered(house, "Fond of ships", "Has a dog", "Exam on 2026-12-03")
        house.page.write_text(house.page.read_text() + "".join(f"- {line}\n" for line in by_hand))
        await for_a_while(house.task(), minutes=1)
        assert list(house.entries) == ["Has a dog", "Exam on 2026-12-03", *by_hand]
        await for_a_while(house.task(), days=3)
        assert list(house.entries) == ["Has a dog", *by_hand]
        last = house.ledger.changes()[-1]
        assert (last.source, last.old) == ("tidy", "Exam on 2026-12-03")
        assert (last.quote, last.turn_index, last.said_at) == (None, None, None)
        house.ledger.undo(last.id, at=house.now())
        await for_a_while(house.task(), days=3)
        return house

    house = run(main)
    assert "Exam on 2026-12-03" in house.entries
    assert house.logged("tidied", "duplicates", "outdated", "placed") == [(1, 0, 0), (0, 1, 0)]
    assert house.model.questions == []


def merges(*groups: tuple[list[int], str]) -> str:
    return json.dumps({"merges": [{"entries": entries, "text": text} for entries, text in groups]})


def test_nearly_full_notebooks_are_merged(tmp_path: Path) -> None:
    """One call; a fair merge is written and can be undone, an unfair one is refused and logged;
    then what waited finds room (L6.2, L3.3)."""

    async def main() -> House:
        house = House(tmp_path, merges(
            ([1, 2], "Owns painting number 0 and number 1 of the series " + "about harbours " * 12),
            ([3, 4], "Owns painting number 7 of the series " + "about harbours " * 12),
        ))  # fmt: skip
        remembered(house, *FULL)
        [waits] = house.ledger.write(
            [
                Accepted(
                    operation="add", notebook="USER.md", entry=None,
                    text="Sails " * 25, quote="Sails", turn_index=0,
                )
            ],
            source="remember",
            at=house.now(),
        )  # fmt: skip
        assert not isinstance(waits, Change)
        await for_a_while(house.task(), hours=30)
        return house

    house = run(main)
    assert len(house.model.questions) == 1
    assert len(house.entries) == len(FULL)
    assert house.entries[0].startswith("Owns painting number 0 and number 1 of")
    assert house.entries[-1].startswith("Sails Sails")
    assert [refused.rule for refused in house.events.rejections()] == ["L6.2"]
    assert house.logged("merged", "outcome", "groups", "accepted") == [
        ("asking", None, None), ("merged", 2, 1),
    ]  # fmt: skip
    assert house.logged("tidied", "placed") == [(1,)]


def test_a_merge_asks_at_most_every_twelve_hours(tmp_path: Path) -> None:
    """Not again for the same entries, and after a change only when twelve hours are over."""

    async def main() -> list[int]:
        house = House(tmp_path, *[merges()] * 20)
        remembered(house, *FULL)
        counts = []
        for hours, is_news in ((1, False), (20, True), (1, True), (5, False), (13, False)):
            await for_a_while(house.task(), hours=hours)
            counts.append(len(house.model.questions))
            if is_news:
                remembered(house, f"Sails on ship {hours}")
        return counts

    assert run(main) == [1, 1, 2, 2, 3]


def test_a_merge_never_erases_what_came_meanwhile(tmp_path: Path) -> None:
    """Entries edited or written while the model thinks stay as they are (m18)."""

    async def main() -> tuple[House, tuple[str, ...]]:
        text = "Owns painting number 0 and number 1 of the series " + "about harbours " * 12
        house = House(tmp_path, merges(([1, 2], text)))
        remembered(house, *FULL)
        house.model.hold()
        tidying = asyncio.create_task(for_a_while(house.task(), minutes=1))
        await house.model.asked.wait()
        edited = house.page.read_text().replace("number 1 of", "number 1, sold, of") + "- Sails\n"
        house.page.write_text(edited)
        before = house.entries
        house.model.release()
        await tidying
        assert "edited" in house.events.rejections()[0].reason
        return house, before

    house, before = run(main)
    assert house.entries == before


def test_the_users_own_lines_are_not_merged(tmp_path: Path) -> None:
    """What the user wrote is not even shown to the merging model (L1.3)."""

    async def main() -> House:
        house = House(tmp_path, merges())
        house.page.write_text("- My own line, as I want it\n")
        house.ledger.notice_edits(house.now())
        remembered(house, *FULL)
        await for_a_while(house.task(), minutes=1)
        return house

    [question] = run(main).model.questions
    assert "My own line" not in question.text


@pytest.mark.parametrize("answer", [*NONSENSE.values(), gone()], ids=[*NONSENSE, "away"])
def test_a_merge_that_fails_changes_nothing(tmp_path: Path, answer: Answer) -> None:
    """Whatever the model answers, the notebooks stay as they were."""

    async def main() -> House:
        house = House(tmp_path, answer)
        remembered(house, *FULL)
        before = house.page.read_bytes()
        await for_a_while(house.task(), minutes=1)
        assert house.page.read_bytes() == before
        return house

    outcomes = [outcome for (outcome,) in run(main).logged("merged", "outcome")]
    assert outcomes[0] == "asking" and outcomes[1] in ("nonsense", "nothing", "unavailable")
