from __future__ import annotations

from datetime import UTC, datetime

from memory.records import JournalEntry
from tests.voice.web.asking import asking

AT = datetime(2026, 12, 2, 9, 14, tzinfo=UTC)


async def test_search_and_a_hit_in_its_note() -> None:
    """Notes and journal are searched together; a hit leads to its lines."""
    async with asking() as page:
        house = page.house
        (house.config.vault / "Heating.md").write_text(
            "# Heating\n\n## Boiler\n\nLast service in January by the engineer.\n"
        )
        house.memory.journal(JournalEntry(at=AT, title="Boiler", text="The boiler is from 2014."))
        found = await page.json("/api/search?words=boiler")
        assert {hit["kind"] for hit in found["hits"]} == {"notes", "journal"}
        only = await page.json("/api/search?words=boiler&where=notes")
        [hit] = only["hits"]
        assert hit["file"] == "Heating.md"
        assert "boiler" in [word.lower() for word in hit["matched"]]
        note = await page.json(f"/api/note?file=Heating.md&line={hit['lines'][0]}")
        assert "Last service in January by the engineer." in note["lines"]
        assert note["first"] == 1
        assert (await page.json("/api/search?words="))["hits"] == []
        assert (await page.get("/api/search?words=x&where=elsewhere")).status_code == 422


async def test_only_notes_of_the_vault_are_shown() -> None:
    """No way leads out of the vault, to a hidden file, or to what is no note."""
    async with asking() as page:
        vault = page.house.config.vault
        (vault.parent / "secret.md").write_text("secret")
        (vault / "out.md").symlink_to(vault.parent / "secret.md")
        (vault / ".hidden.md").write_text("secret")
        (vault / "key.pem").write_text("secret")
        for file in (
            "../secret.md",
            "..%2Fsecret.md",
            "/etc/passwd",
            "out.md",
            ".hidden.md",
            "key.pem",
            "no.md",
            "",
            "a%00.md",
        ):
            answer = await page.get(f"/api/note?file={file}")
            assert answer.status_code == 404, file
            assert "secret" not in answer.text
