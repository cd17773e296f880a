"""What the house says in English has words in the other languages of the page."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from voice.web.server import STATIC

ROOT = STATIC.parents[2]

APART: dict[str, frozenset[str]] = {
    "memory/conversations.py": frozenset({"{} Begin a conversation with another name."}),
    "memory/__init__.py": frozenset(
        {
            "module {} has no attribute {}",
        }
    ),
    "memory/lessons/records.py": frozenset(
        {
            "nothing to learn",
        }
    ),
    "memory/lessons/reflecting.py": frozenset(
        {
            "SELECT coalesce(max(id), 0) FROM events WHERE kind IN ({})",
            "SELECT coalesce(max(json_extract(data, ?)), 0) FROM events WHERE kind = 'reflected'",
            "nothing to learn",
        }
    ),
    "memory/llm/choose.py": frozenset(
        {
            "the built-in model",
            "this machine's server",
        }
    ),
    "memory/llm/command_line.py": frozenset(
        {
            "hit your limit",
        }
    ),
    "memory/llm/programs.py": frozenset(
        {
            "The ChatGPT subscription",
            "The Claude subscription",
            "The Google login",
        }
    ),
    "memory/llm/scripted.py": frozenset(
        {
            "The scripted model has no answer left. Give it more answers.",
        }
    ),
    "memory/notebooks/ledger.py": frozenset(
        {
            "No change led to an entry like “{}”. `jarvis changes` shows all of them; an entry that stands in no change is your own.",
            "No room in the notebooks yet",
            "Too long for the notebooks",
        }
    ),
    "memory/notebooks/news.py": frozenset(
        {
            "(more was changed)",
        }
    ),
    "memory/notebooks/prefix.py": frozenset(
        {
            "the prompt's variables are {}, not {}",
        }
    ),
    "memory/notebooks/review.py": frozenset(
        {
            "the prompt has no line --- between its instructions and the rest",
        }
    ),
    "memory/notes/looking.py": frozenset(
        {
            "Where is the tea?",
        }
    ),
    "memory/remembering.py": frozenset(
        {
            "I like green tea.",
        }
    ),
    "memory/requests.py": frozenset(
        {
            "forget if known",
        }
    ),
    "memory/reviewing.py": frozenset(
        {
            "I'm vegan, by the way.",
        }
    ),
    "memory/wipe.py": frozenset(
        {
            "A wipe that was cut short can't be finished: {} Then start again, or run `jarvis wipe`.",
            "event log and lessons",
            "transcripts and recordings",
            "waiting for room",
        }
    ),
    "voice/bringing.py": frozenset(
        {
            "another process brings it, waiting",
            "{'descr': '<f4', 'fortran_order': False, 'shape': {}, }",
        }
    ),
    "voice/config.py": frozenset(
        {
            "language: {} is not among languages",
            "languages: name at least one of en, de, es",
        }
    ),
    "voice/doctor.py": frozenset(
        {
            "; no browser window can be opened from here",
            "Whisper base transcribes",
            "You are being tested.",
            "http://127.0.0.1:{} is free",
        }
    ),
    "voice/engines/answer_language.py": frozenset(
        {
            "Only a text loads it whole",
        }
    ),
    "voice/engines/choose.py": frozenset(
        {
            "Gemini Live answers, {}.",
            "Ollama runs here, and {} is the largest of its models that this computer should answer with in time. Another one: JARVIS_LLM_MODEL.",
            "OpenAI Realtime answers, {}.",
            "The better built-in model answers: it is here, and this computer is fast enough.",
            "The built-in model answers: nothing else is set up.",
            "The built-in {} model answers, by your setting.",
            "because JARVIS_GEMINI_KEY is set",
            "because JARVIS_OPENAI_KEY is set",
            "{} answers through Ollama, by your setting.",
            "{} at {} answers, by your setting.",
        }
    ),
    "voice/engines/gemini_core.py": frozenset(
        {
            "sound at {} Hz",
            "turn complete: {} of {} prompt tokens cached, prefix {}",
        }
    ),
    "voice/engines/openai_core.py": frozenset(
        {
            "a response that nobody asked for is cancelled",
            "response {}: {} of {} prompt tokens cached, prefix {}",
            "the server reports {}: {}",
        }
    ),
    "voice/engines/realtime_core.py": frozenset(
        {
            "the first {} ms of a long turn can't be sent again",
        }
    ),
    "voice/engines/realtime_errors.py": frozenset(
        {
            "api key expired",
            "api key not valid",
            "exceeded your current quota",
            "has been suspended",
            "is not found for api version",
            "not supported for bidigeneratecontent",
            "prepayment credits are depleted",
            "reported as leaked",
            "resource has been exhausted",
            "user location is not supported",
        }
    ),
    "voice/intake.py": frozenset(
        {
            "came after the hang-up",
            "hung up before it was heard",
        }
    ),
    "voice/packages.py": frozenset(
        {
            "Max retries exceeded",
            "No module named pip",
            "connection broken by",
            "npm error A complete log",
        }
    ),
    "voice/settings.py": frozenset(
        {
            "# Settings of Jarvis. Flags and JARVIS_… in the environment come before these.\n\n",
        }
    ),
    "voice/speech/worker.py": frozenset(
        {
            "Hello, this is Jarvisett.",
        }
    ),
    "voice/transports/webrtc.py": frozenset(
        {
            "lost on the way from the page",
        }
    ),
    "voice/web/requests.py": frozenset(
        {
            "The request is no JSON that can be read.",
            "call in progress",
            "{}: a whole number is wanted.",
        }
    ),
    "voice/weight_files.py": frozenset(
        {
            "{}: a file that is made here is brought by nobody",
            "{}: a recipe needs ingredients, and they need a recipe",
            "{}: its parts have another size than the whole",
        }
    ),
    "voice/weights.py": frozenset(
        {
            "Bring models' weights to this machine.",
            "Stopped. Started again, it goes on from here.",
            "a folder that may hold them already",
            "one or more of: {}",
            "python -m voice.weights",
            "where they belong (default: the setting)",
        }
    ),
    "voice/workers.py": frozenset(
        {
            "from voice.workers import run; run()",
        }
    ),
}
"""Texts of these modules that don't reach the page: notes for the log, what a program matches, questions
to the database, prompts, and halves that stand whole elsewhere."""

ELSEWHERE = (
    "memory/events.py", "memory/index/*", "memory/lessons/schema.py", "memory/lessons/shelf.py",
    "memory/languages/*", "memory/llm/schemas.py", "memory/warming.py",  # databases, data, prompts
    "memory/lessons/same.py", "memory/notebooks/filter*.py", "memory/notebooks/judge.py",  # a terminal
    "voice/cli*.py", "voice/talk.py", "voice/serve.py", "voice/watching.py", "voice/reviewing.py",
    "voice/requests.py", "voice/stats.py", "voice/month.py", "voice/logs.py", "voice/tap.py",
    "voice/audio.py", "voice/keyboard.py", "voice/microphone_ring.py", "voice/sound_card.py",
    "voice/scripted_card.py", "voice/transports/microphone.py",  # a call in the terminal
    "voice/engines/realtime_compared.py", "voice/engines/realtime_replayed.py",
    "voice/record*.py", "voice/replay*.py",  # recorded calls, replayed there
    "voice/hearing/*",  # why a sound was no turn: in the log
    "voice/web/guard.py",  # half of it is the policy; its answers are looked at below
    "voice/web/views/*",  # refused requests that the page never makes
)  # fmt: skip
"""Modules whose sentences a terminal, a log, a model or a database reads."""

MODULES = sorted(
    name
    for room in ("voice", "memory")
    for path in (ROOT / room).rglob("*.py")
    if not any(fnmatch(name := path.relative_to(ROOT).as_posix(), each) for each in ELSEWHERE)
)


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
                apart |= {id(each) for each in node.values if isinstance(each, ast.Constant)}
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


@cache
def secrets() -> frozenset[str]:
    """The kinds of secrets that a refusal names."""
    return frozenset(
        each.get("kind") or each["name"]
        for path in (ROOT / "memory/languages").rglob("secrets.toml")
        for table in ("kind", "named")
        for each in tomllib.loads(path.read_text(encoding="utf-8")).get(table, [])
    )


PLACE = re.compile(r"\{(?:say|-)?\}")


def test_each_sentence_that_the_page_translates_is_one_that_the_house_says() -> None:
    """It stands in the code as it is; each row keeps the places for values; none is there twice."""
    code = set(secrets()) | {re.sub(r" .+ ", " {} ", kind) for kind in secrets()} | {
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
    forms = {sentence, f"{sentence}.", sentence.removesuffix("."), phrase}
    return {
        form
        for form in forms
        if any(ends == (form[-1] in ".!?") and each.fullmatch(form) for ends, each in patterns())
    }


def without_words(text: str) -> list[str]:
    """The sentences of a text that no row holds. A value is as long as a name."""
    found = []
    for sentence in re.split(
        r"(?:(?<=[.!?])|(?<=[.!?] Name))\s+(?=[A-Z`“])",
        text.replace("{}", "Name").strip(),
    ):
        phrase = sentence[:1].lower() + sentence[1:].removesuffix(".")
        if sentence != "Name" and not known_of(sentence, phrase):
            found.append(sentence)
    return found


WORDS = re.compile(r"[A-Za-z’']{2,}")
CODE = re.compile(r"^jarvis [a-z]|\(\?|%[sd]|\w\[\w|\\U|<!--")


@pytest.mark.parametrize("module", MODULES)
def test_no_sentence_that_reaches_the_page_lacks_words(module: str) -> None:
    """Every sentence and phrase of every module has a row, in German and in Spanish: a new module is
    looked at until somebody says that its words go elsewhere."""
    apart = APART.get(module, frozenset())
    lacking = [
        sentence
        for text in sorted(said_in(ROOT / module) - apart)
        if len(WORDS.findall(text)) >= 3 and " " in text.strip() and not CODE.search(text)
        for sentence in without_words(text)
    ]
    assert lacking == []


def test_each_kind_of_secret_has_words() -> None:
    """A refusal names what it found in the page's language."""
    assert len(secrets()) > 10
    assert [kind for kind in sorted(secrets()) if not known_of(kind, kind)] == []


GUARD = re.compile(r"^[A-Z].*\.$")


def test_what_the_guard_answers_has_words() -> None:
    """Who is turned away by it reads why in the page's language."""
    said = {text for text in said_in(ROOT / "voice/web/guard.py") if GUARD.search(text)}
    assert len(said) >= 5
    assert [sentence for text in sorted(said) for sentence in without_words(text)] == []


def test_no_module_is_named_in_vain() -> None:
    """Every exception is one: its module is there and holds the text."""
    for module, texts_apart in APART.items():
        assert module in MODULES
        assert texts_apart <= said_in(ROOT / module), module
    paths = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("[mv]*/**/*.py")]
    assert [each for each in ELSEWHERE if not any(fnmatch(path, each) for path in paths)] == []
