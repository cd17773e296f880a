from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memory.records import JournalEntry
from tests.voice.web.asking import asking

AT = datetime(2026, 12, 2, 9, 14, tzinfo=UTC)


async def test_days() -> None:
    """Days come newest first, a page at a time; a day has its entries with stars and clean text."""
    async with asking() as page:
        for n in range(16):
            page.house.memory.journal(
                JournalEntry(
                    at=AT - timedelta(days=n),
                    title="Lena’s move",
                    text="She moves on **Friday**. <script>alert(1)</script>",
                    stars=4,
                )
            )
        first = await page.json("/api/journal")
        assert [each["day"] for each in first["days"]][:2] == ["2026-12-02", "2026-12-01"]
        assert first["more"] is True
        rest = await page.json(f"/api/journal?before={first['days'][-1]['day']}")
        assert len(rest["days"]) == 2
        assert rest["more"] is False
        day = await page.json("/api/journal/2026-12-02")
        [entry] = day["entries"]
        assert (entry["title"], entry["stars"]) == ("Lena’s move", 4)
        assert "<strong>Friday</strong>" in entry["html"]
        assert "<script" not in entry["html"]
        for wrong in ("x", "2026-13-01", "..%2f..%2fpasswd"):
            assert (await page.get(f"/api/journal/{wrong}")).status_code in (404, 422)
        assert (await page.json("/api/journal/1999-01-01"))["entries"] == []


async def test_watching_and_thinking() -> None:
    """Nothing watched is said as such; thinking tells what it has taken of its caps."""
    async with asking() as page:
        found = await page.json("/api/watching")
        assert found["watch"] is None
        assert found["thinking"]["calls"] == 0
        assert found["insights"] == []
        answer = await page.post("/api/think", {})
        assert answer.json() == {"said": "Nothing new happened."}
        assert (await page.get("/api/think")).status_code == 405
