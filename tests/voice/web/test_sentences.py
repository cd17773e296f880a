"""What the house says in English has words in the other languages of the page."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from voice.web.server import STATIC

ROOT = STATIC.parents[2]

SAYS: dict[str, frozenset[str]] = {
    "memory/asking.py": frozenset(),
    "memory/databases.py": frozenset(),
    "memory/journal/book.py": frozenset(),
    "memory/lessons/tidying.py": frozenset(),
    "memory/llm/background.py": frozenset(),
    "memory/llm/choose.py": frozenset({"this machine's server", "the built-in model"}),
    "memory/llm/command_line.py": frozenset(
        {
            "hit your limit",
            "The ChatGPT subscription",
            "The Claude subscription",
            "The Google login",
        }
    ),
    "memory/llm/http.py": frozenset(),
    "memory/notebooks/alignment.py": frozenset(),
    "memory/notebooks/case.py": frozenset(),
    "memory/notebooks/edit.py": frozenset(),
    "memory/notebooks/evidence.py": frozenset(),
    "memory/notebooks/files.py": frozenset(),
    "memory/notebooks/form.py": frozenset(),
    "memory/notebooks/grounded.py": frozenset(),
    "memory/notebooks/ledger.py": frozenset(
        {
            "No change led to an entry like “{}”. `jarvis changes` shows all of them; an entry that stands in no change is your own.",
            "No room in the notebooks yet",
            "Too long for the notebooks",
        }
    ),
    "memory/notebooks/page.py": frozenset(),
    "memory/notebooks/planning.py": frozenset(),
    "memory/notebooks/prefix.py": frozenset({"the prompt's variables are {}, not {}"}),
    "memory/notebooks/tidy.py": frozenset(),
    "memory/notebooks/validate.py": frozenset(),
    "memory/store.py": frozenset(),
    "memory/thinking/thinking.py": frozenset(),
    "memory/thinking/thought.py": frozenset(),
    "memory/vault.py": frozenset(),
    "memory/watching/notifier.py": frozenset(),
    "memory/wipe.py": frozenset(
        {
            "A wipe that was cut short can't be finished: {} Then start again, or run `jarvis wipe`.",
            "event log and lessons",
            "transcripts and recordings",
            "waiting for room",
        }
    ),
    "voice/config.py": frozenset(
        {"language: {} is not among languages", "languages: name at least one of en, de, es"}
    ),
    "voice/doctor.py": frozenset(
        {
            "; no browser window can be opened from here",
            "Whisper base transcribes",
            "You are being tested.",
            "http://127.0.0.1:{} is free",
        }
    ),
    "voice/engines/choose.py": frozenset(
        {
            "Gemini Live answers, {}.",
            "OpenAI Realtime answers, {}.",
            "Ollama runs here, and {} is the largest of its models that this computer should answer with in time. Another one: JARVIS_LLM_MODEL.",
            "The better built-in model answers: it is here, and this computer is fast enough.",
            "The built-in model answers: nothing else is set up.",
            "The built-in {} model answers, by your setting.",
            "because JARVIS_GEMINI_KEY is set",
            "because JARVIS_OPENAI_KEY is set",
            "{} answers through Ollama, by your setting.",
            "{} at {} answers, by your setting.",
        }
    ),
    "voice/links.py": frozenset(),
    "voice/settings.py": frozenset(
        {"# Settings of Jarvis. Flags and JARVIS_… in the environment come before these.\n\n"}
    ),
    "voice/web/requests.py": frozenset(
        {
            "The request is no JSON that can be read.",
            "call in progress",
            "{}: a whole number is wanted.",
        }
    ),
}
"""Modules whose sentences reach the page, and what in them does not."""


def texts(tree: ast.AST) -> Iterator[str]:
    """Every text but docstrings, logs and pieces of others; {} where a value goes in."""
    apart: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant()):
                apart.add(id(node.value))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="log"))) | ast.Assert():
                apart |= {id(each) for each in ast.walk(node)}
            case ast.JoinedStr():
                apart |= {id(each) for each in ast.walk(node) if isinstance(each, ast.Constant)}
    for node in ast.walk(tree):
        if id(node) in apart:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(
                str(each.value) if isinstance(each, ast.Constant) else "{}" for each in node.values
            )


@cache
def said_in(path: Path) -> frozenset[str]:
    return frozenset(texts(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def rows() -> tuple[tuple[str, ...], ...]:
    found: list[tuple[str, ...]] = []
    for path in sorted((STATIC / "sentences").glob("*.js")):
        if path.name == "all.js":
            continue
        text = re.sub(r"^\s*//.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        table = re.sub(r",\s*\]\s*;?\s*$", "]", text[text.index("[") :])
        found += [tuple(row) for row in json.loads(table)]
    return tuple(found)


PLACE = re.compile(r"\{(?:say|-)?\}")


def test_each_sentence_that_the_page_translates_is_one_that_the_house_says() -> None:
    """It stands in the code as it is; each row keeps the places for values; none is there twice."""
    code = {
        text for room in ("voice", "memory") for path in (ROOT / room).rglob("*.py")
        for text in said_in(path)
    }  # fmt: skip
    firsts = [row[0] for row in rows()]
    for english, *others in rows():
        phrase = english.removesuffix(".")
        assert any(phrase in text for text in code), english
        assert len(others) == 2 and all(others), english
        for other in others:
            assert len(PLACE.findall(other)) == english.count("{}"), other
    assert len(set(firsts)) == len(firsts)


def test_every_table_is_asked() -> None:
    """A file of sentences counts only when the page imports it."""
    asked = (STATIC / "sentences/all.js").read_text(encoding="utf-8")
    for path in (STATIC / "sentences").glob("*.js"):
        assert path.name == "all.js" or f'from "./{path.name}"' in asked


@cache
def patterns() -> list[tuple[bool, re.Pattern[str]]]:
    return [
        (row[0][-1] in ".!?", re.compile("(.+?)".join(map(re.escape, row[0].split("{}")))))
        for row in rows()
    ]


def known_of(sentence: str, phrase: str) -> set[str]:
    """Which forms of it have a row: as it is, with its full stop elsewhere in the code, or as a
    phrase that became a sentence."""
    forms = {sentence, f"{sentence}.", phrase}
    return {
        form
        for form in forms
        if any(ends == (form[-1] in ".!?") and each.fullmatch(form) for ends, each in patterns())
    }


def without_words(text: str) -> list[str]:
    """The sentences of a text that no row holds. A value is as long as a name."""
    found = []
    for sentence in re.split(
        r"(?:(?<=[.!?])|(?<=[.!?] Name))\s+(?=[A-Z`“])", text.replace("{}", "Name").strip()
    ):
        phrase = sentence[:1].lower() + sentence[1:].removesuffix(".")
        if sentence != "Name" and not known_of(sentence, phrase):
            found.append(sentence)
    return found


WORDS = re.compile(r"[A-Za-z’']{2,}")
CODE = re.compile(r"^jarvis [a-z]|\(\?|%[sd]|\w\[\w|\\U|<!--")


@pytest.mark.parametrize("module", SAYS)
def test_no_sentence_that_reaches_the_page_lacks_words(module: str) -> None:
    """Every sentence and phrase of these modules has a row, in German and in Spanish."""
    apart = SAYS[module]
    lacking = [
        sentence
        for text in sorted(said_in(ROOT / module) - apart)
        if len(WORDS.findall(text)) >= 3 and " " in text.strip() and not CODE.search(text)
        for sentence in without_words(text)
    ]
    assert lacking == []
    assert apart <= said_in(ROOT / module)
