"""docs/rules.md beside what is really there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memory.languages import packaged

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
LANGUAGES = ROOT / "memory" / "languages"
FIXTURES = ROOT / "fixtures"

SUBJECTS = sorted({path.stem for path in LANGUAGES.glob("??/*.toml")})
TRANSLATED = sorted({path.parent.name for path in FIXTURES.glob("*/??.toml")})
# The language that the page adds as its example.
EXAMPLE = "fr"

NAMED = sorted(
    name
    for name in set(re.findall(r"`([\w./<>-]+)`", PAGE))
    if ("/" in name or name.endswith((".md", ".toml", ".py"))) and EXAMPLE not in Path(name).parts
)


def place(name: str) -> list[Path]:
    """Where a file that the page names may stand: from the root, in docs/, in a language's folder."""
    if "<language>" in name:
        return [ROOT / name.replace("<language>", each) for each in packaged.LANGUAGES_HERE]
    beside = [LANGUAGES / each / name for each in packaged.LANGUAGES_HERE]
    return [ROOT / name, ROOT / "docs" / name, *beside]


@pytest.mark.parametrize("name", [name for name in NAMED if Path(name).stem != EXAMPLE])
def test_named_files_are_there(name: str) -> None:
    """Whoever follows the page finds every file and folder that it names."""
    assert any(path.exists() for path in place(name))


@pytest.mark.parametrize("name", [name for name in NAMED if Path(name).stem == EXAMPLE])
def test_examples_have_models(name: str) -> None:
    """A file that the page has written for a new language is there for the languages we have."""
    for language in packaged.LANGUAGES_HERE:
        assert (ROOT / name).with_stem(language).exists()


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_subject_is_named(subject: str) -> None:
    """No file of a language's folder is left out of the page."""
    assert f"`{subject}.toml`" in PAGE


@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("language", packaged.LANGUAGES_HERE)
def test_every_language_has_every_subject(language: str, subject: str) -> None:
    """A language that lacks a file would be understood in part only."""
    assert packaged.has(language, subject)


@pytest.mark.parametrize("folder", TRANSLATED)
def test_every_language_has_examples(folder: str) -> None:
    """Examples in one language are there in all, and the page says so."""
    assert f"`fixtures/{folder}/{EXAMPLE}.toml`" in PAGE
    assert {path.stem for path in (FIXTURES / folder).glob("??.toml")} >= set(
        packaged.LANGUAGES_HERE
    )


@pytest.mark.parametrize(
    "file",
    sorted(
        str(path.relative_to(ROOT))
        for room in ("memory", "prompts", "voice")
        for path in (ROOT / room).rglob("*.toml")
        if path.parent.parent != LANGUAGES
    ),
)
def test_every_other_table_is_named(file: str) -> None:
    """Words and rules that belong to no language, or not to memory, are found from the page too."""
    path = Path(file)
    generic = str(path.with_name("<language>.toml"))
    named = generic if path.stem in packaged.LANGUAGES_HERE else file
    assert f"`{named}`" in PAGE
