from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.fakes.house import turn
from tests.voice.web.asking import asking

AT = datetime(2026, 12, 2, 10, tzinfo=UTC)


async def test_both_books_with_where_their_entries_come_from() -> None:
    """Each entry tells its quote, its time and its conversation; what the user wrote has none."""
    async with asking() as page:
        page.write("USER.md", "# Me\n- Has two cats.\n")
        page.house.memory.remember(
            "Remember that I like tea.", AT, origin="spoken", conversation="call-1"
        )
        user, memory = (await page.json("/api/notebooks"))["books"]
        assert (user["name"], memory["name"]) == ("USER.md", "MEMORY.md")
        assert [each["text"] for each in user["entries"]] == ["Has two cats.", "I like tea."]
        cats, tea = user["entries"]
        assert cats["written"]["source"] == "user"
        assert cats["quoted"] is None
        assert tea["quoted"]["quote"] == "Remember that I like tea."
        assert tea["quoted"]["conversation"] == "call-1"
        assert user["next"] is None


async def test_pages() -> None:
    """A long notebook comes in pages, and a number that is none is refused in words."""
    async with asking() as page:
        page.write("USER.md", "".join(f"- entry {n}\n" for n in range(120)))
        found = []
        at: int | None = 0
        while at is not None:
            part = await page.json(f"/api/notebooks/USER.md?from={at}")
            found += [each["text"] for each in part["entries"]]
            at = part["next"]
        assert found == [f"entry {n}" for n in range(120)]
        for wrong in ("-1", "x", "1e3", "9" * 30):
            answer = await page.get(f"/api/notebooks/USER.md?from={wrong}")
            assert answer.status_code == 422
        assert (await page.get("/api/notebooks/persona.md")).status_code == 404


async def test_saving() -> None:
    """An edit is saved by what holds the page's digest; a page from elsewhere comes back with it."""
    async with asking() as page:
        page.write("USER.md", "- Likes tea.\n")
        book = await page.json("/api/notebooks/USER.md/text")
        assert book["text"] == "- Likes tea.\n"
        page.write("USER.md", "- Likes tea and milk.\n")
        body = {"text": "- Likes coffee.\n", "seen": book["digest"]}
        crossed = await page.post("/api/notebooks/USER.md", body)
        assert crossed.status_code == 409
        assert crossed.json()["error"] == "changed"
        assert crossed.json()["text"] == "- Likes tea and milk.\n"
        assert page.text("USER.md") == "- Likes tea and milk.\n"
        saved = await page.post(
            "/api/notebooks/USER.md", {**body, "seen": crossed.json()["digest"]}
        )
        assert saved.status_code == 200
        assert page.text("USER.md") == "- Likes coffee.\n"
        assert saved.json() == {
            "digest": (await page.json("/api/notebooks/USER.md/text"))["digest"]
        }


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"text": "x"}, 422),
        ({"text": "x", "seen": ""}, 422),
        ({"text": 3, "seen": "a"}, 422),
        ({"text": "x", "seen": "a", "path": "/etc/passwd"}, 422),
        ({"text": "x" * 300_000, "seen": "a"}, 422),
        ({"text": "x" * 1_100_000, "seen": "a"}, 413),
    ],
)
async def test_saving_nonsense(body: object, status: int) -> None:
    """What is no edit changes nothing."""
    async with asking() as page:
        page.write("USER.md", "- Likes tea.\n")
        answer = await page.post("/api/notebooks/USER.md", body)
        assert answer.status_code == status
        assert answer.json()["message"]
        assert page.text("USER.md") == "- Likes tea.\n"


async def test_undo_and_forget() -> None:
    """What was remembered is undone, and the undo undone; an entry is taken out by its words."""
    async with asking() as page:
        [done] = page.house.memory.remember("Remember that I like tea.", AT, origin="spoken")
        undone = await page.post("/api/undo", {"change": done.change})
        assert undone.json()["reverses"] == done.change
        assert "tea" not in page.text("USER.md")
        again = await page.post("/api/undo", {"change": done.change})
        assert again.status_code == 409
        assert again.json()["error"] == "gone"
        back = await page.post("/api/undo", {"change": undone.json()["id"]})
        assert back.json()["new"] == "I like tea."
        assert (await page.post("/api/forget", {"entry": "I like tea."})).status_code == 200
        assert "tea" not in page.text("USER.md")
        assert (await page.get(f"/api/undo?change={done.change}")).status_code == 405


async def test_what_waits() -> None:
    """Marked sentences that wait for their review are told with their conversation."""
    async with asking() as page:
        memory = page.house.memory
        conversation = memory.begin("c1", "chat", AT)
        conversation.observe(
            turn(0, "user", "I don't eat meat any more.", origin="typed", conversation="c1")
        )
        conversation.hand_over("hang-up", AT)
        conversation.close()
        [waits] = (await page.json("/api/notebooks"))["reviews"]
        assert waits["quote"] == "I don't eat meat any more."
        assert waits["conversation"] == "c1"
        assert waits["next_at"] is None


async def test_ten_megabytes() -> None:
    """Of a notebook of 10 MB some pages are sent, and the editor says that it can't."""
    async with asking() as page:
        page.write("USER.md", "- a line that is like all the others\n" * 280_000)
        answer = await page.get("/api/notebooks")
        assert len(answer.content) < 60_000
        book = await page.json("/api/notebooks/USER.md/text")
        assert len(book["text"]) < 300_000
        assert book["digest"] == ""
        assert "Shorten it." in book["unwritable"]
