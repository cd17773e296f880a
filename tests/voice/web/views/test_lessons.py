from __future__ import annotations

from tests.voice.web.asking import asking


async def test_no_lessons_yet() -> None:
    """An empty shelf is drawn as one; a tidy of it would take nothing; no lesson is none."""
    async with asking() as page:
        found = await page.json("/api/lessons")
        assert found["lessons"] == found["forgotten"] == []
        assert 0 < found["floor"] < 1
        tidied = await page.post("/api/lessons/tidy", {"dry_run": True})
        assert tidied.json()["gone"] == []
        assert (await page.post("/api/lessons/tidy", {})).status_code == 422
        for act in ("restore", "drop"):
            answer = await page.post(f"/api/lessons/{act}", {"lesson": "nowhere"})
            assert answer.status_code in (409, 503)
            assert answer.json()["message"]
            assert (await page.get(f"/api/lessons/{act}?lesson=x")).status_code == 405
