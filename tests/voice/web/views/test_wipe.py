from __future__ import annotations

from datetime import UTC, datetime

from tests.voice.web.asking import asking

AT = datetime(2026, 12, 2, 10, tzinfo=UTC)


async def test_wipe() -> None:
    """It lists what goes, wants the word, and what was there is gone."""
    async with asking() as page:
        page.house.memory.remember("Remember that I like tea.", AT, origin="spoken")
        plan = await page.json("/api/wipe")
        assert {"notebooks", "change log"} <= {each["what"] for each in plan["items"]}
        for wrong in ({}, {"word": ""}, {"word": "Wipe"}, {"word": "wipe", "path": "/"}):
            assert (await page.post("/api/wipe", wrong)).status_code == 422
        assert "tea" in page.text("USER.md")
        assert (await page.get("/api/wipe?word=wipe")).json()["items"]
        assert "tea" in page.text("USER.md")
        done = await page.post("/api/wipe", {"word": "wipe"})
        assert done.status_code == 200, done.text
        assert done.json()["failed"] == []
        assert not (page.house.config.vault / "society" / "jarvis" / "USER.md").exists()
        assert (await page.json("/api/changes"))["rows"] == []
