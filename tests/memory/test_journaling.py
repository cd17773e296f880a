from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from memory.journal import book
from memory.records import JournalRead
from memory.vault import Vault
from tests.memory.learning import (
    NOON,
    VEGAN,
    House,
    changes,
    for_a_while,
    go_on,
    gone,
    run,
)

ROOT = Path(__file__).parents[2]
NOTHING = changes()


def journal_of(house: House) -> list[JournalRead]:
    vault = Vault(house.state.parent / "vault")
    return [entry for day in book.days(vault) for entry in book.day(vault, day).entries]


def test_a_conversation_leaves_one_entry(tmp_path: Path) -> None:
    """Also where the model is away, and where a crash came behind the entry, before it was noted."""

    async def main() -> House:
        house = House(tmp_path, gone(), gone(), gone())
        house.says(VEGAN, "hello")
        house.says("hello", name="c2")
        await for_a_while(house.task(), minutes=2)
        assert [entry.title for entry in journal_of(house)] == [VEGAN]
        (house.state / "reviews" / "c1.jsonl").unlink()
        await for_a_while(house.task(), minutes=2)
        house.model.will_answer(*[NOTHING] * 5)
        for _ in range(4):  # some faults are left
            await house.task().review_now()
        return house

    house = run(main)
    [entry] = journal_of(house)
    assert (entry.kind, entry.day) == ("conversation", NOON.date())
    assert f"- You: {VEGAN}" in entry.text
    assert house.left == []


def test_an_entry_that_the_user_deleted_stays_away(tmp_path: Path) -> None:
    """It was there once; the conversation still waits for its review."""

    async def main() -> House:
        house = House(tmp_path, gone(), gone(), gone())
        house.says(VEGAN)
        await for_a_while(house.task(), seconds=30)
        book.file_of(Vault(tmp_path / "vault"), NOON.date()).unlink()
        await for_a_while(house.task(), minutes=2)
        return house

    assert journal_of(run(main)) == []


def test_a_chat_that_goes_on_leaves_an_entry_at_each_silence(tmp_path: Path) -> None:
    """What follows is another entry; thirty turns alone end nothing."""

    async def main() -> House:
        house = House(tmp_path, *[NOTHING] * 9)
        chat = house.says(VEGAN, trigger="silence", close=False)
        await house.task().review_now()
        assert [entry.title for entry in journal_of(house)] == [VEGAN]
        go_on(chat, ["My sister Lena lives in Bonn."], house.now() + timedelta(hours=1))
        chat.hand_over("30 turns", house.now())
        await house.task().review_now()
        assert len(journal_of(house)) == 1
        chat.close()
        await house.task().review_now()
        return house

    house = run(main)
    assert [entry.title for entry in journal_of(house)] == [VEGAN, "My sister Lena lives in Bonn."]
    assert house.left == []


def test_without_learning_nothing_is_journaled(tmp_path: Path) -> None:
    """The switch is for all that is written by itself (L6.5)."""

    async def main() -> House:
        house = House(tmp_path)
        task = house.task(learning=False)
        house.says(VEGAN)
        await task.review_now()
        return house

    house = run(main)
    assert journal_of(house) == []
    assert house.left == []


def test_a_day_that_cannot_be_appended_to_costs_the_entry(tmp_path: Path) -> None:
    """A file of the user's in another encoding: it is told, and the review goes on."""

    async def main() -> House:
        house = House(tmp_path, NOTHING)
        path = book.file_of(Vault(tmp_path / "vault"), NOON.date())
        path.parent.mkdir(parents=True)
        path.write_bytes("Größe\n".encode("cp1252"))
        house.says(VEGAN)
        await house.task().review_now()
        return house

    assert run(main).left == []
