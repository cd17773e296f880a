"""The arrows of docs/architecture.md, as tables."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import memory

ROOT = Path(__file__).parents[1]

# voice knows memory through this door only.
DOOR = {"memory", "memory.records", "memory.errors"}

# pipecat is imported in these modules, in everything under these packages, and nowhere else.
PIPECAT = (
    "voice.frames",
    "voice.pipeline",
    "voice.scribe",
    "voice.tap",
    "voice.call",
    "voice.hearing",
    "voice.engines",
    "voice.transports",
)

# Read what is packaged, the words of a language, the prompts, a tokenizer's table: no part of the
# world, so those that only decide may use them.
PACKAGED = {
    "memory.languages.packaged",
    "memory.notebooks.tokens",
    "memory.prompts",
    "voice.engines.told",
}

# Modules that only decide. They import each other, and nothing that waits, reads or rolls dice.
PURE = {
    "memory.days",
    "memory.errors",
    "memory.event_records",
    "memory.figures",
    "memory.index.compounds",
    "memory.index.forms",
    "memory.index.query",
    "memory.index.records",
    "memory.index.words",
    "memory.journal.page",
    "memory.journal.talks",
    "memory.languages.acts",
    "memory.languages.acts.clauses",
    "memory.languages.acts.line",
    "memory.languages.acts.people",
    "memory.languages.acts.order",
    "memory.languages.acts.pieces",
    "memory.languages.acts.reading",
    "memory.languages.acts.records",
    "memory.languages.acts.subjects",
    "memory.languages.acts.table",
    "memory.languages.dates",
    "memory.languages.dates.comparing",
    "memory.languages.dates.context",
    "memory.languages.dates.days",
    "memory.languages.dates.meanings",
    "memory.languages.dates.naming",
    "memory.languages.dates.reading",
    "memory.languages.dates.words",
    "memory.languages.dates.writing",
    "memory.languages.digits",
    "memory.languages.folding",
    "memory.languages.patterns",
    "memory.languages.sentences",
    "memory.languages.words",
    "memory.lessons.block",
    "memory.lessons.digest",
    "memory.lessons.limits",
    "memory.lessons.proposing",
    "memory.lessons.reading",
    "memory.lessons.records",
    "memory.lessons.same",
    "memory.lessons.schema",
    "memory.lessons.score",
    "memory.lessons.tidying",
    "memory.lessons.views",
    "memory.llm.addresses",
    "memory.llm.choose",
    "memory.llm.protocol",
    "memory.llm.schemas",
    "memory.notebooks.added",
    "memory.notebooks.alignment",
    "memory.notebooks.amounts",
    "memory.notebooks.answers",
    "memory.notebooks.being",
    "memory.notebooks.candidates",
    "memory.notebooks.canonical",
    "memory.notebooks.case",
    "memory.notebooks.changelog",
    "memory.notebooks.dropped",
    "memory.notebooks.entailed",
    "memory.notebooks.edit",
    "memory.notebooks.evidence",
    "memory.notebooks.filter",
    "memory.notebooks.filter_line",
    "memory.notebooks.form",
    "memory.notebooks.grounded",
    "memory.notebooks.judge",
    "memory.notebooks.lasting",
    "memory.notebooks.limits",
    "memory.notebooks.main_clause",
    "memory.notebooks.meaning",
    "memory.notebooks.merging",
    "memory.notebooks.named",
    "memory.notebooks.news",
    "memory.notebooks.origins",
    "memory.notebooks.own_words",
    "memory.notebooks.page",
    "memory.notebooks.persons",
    "memory.notebooks.planned",
    "memory.notebooks.planning",
    "memory.notebooks.prefix",
    "memory.notebooks.read_aloud",
    "memory.notebooks.remember",
    "memory.notebooks.remember_rules",
    "memory.notebooks.review",
    "memory.notebooks.secret",
    "memory.notebooks.secret_keys",
    "memory.notebooks.secret_names",
    "memory.notebooks.secret_numbers",
    "memory.notebooks.secrets",
    "memory.notebooks.subjects",
    "memory.notebooks.taking_back",
    "memory.notebooks.tidy",
    "memory.notebooks.times",
    "memory.notebooks.validate",
    "memory.notes.context",
    "memory.notes.cutting",
    "memory.notes.ranking",
    "memory.notes.relevance",
    "memory.records",
    "memory.requests",
    "memory.thinking.repeats",
    "memory.thinking.sources",
    "memory.thinking.thought",
    "memory.watching.changes",
    "voice.echo",
    "voice.engines.answer_text",
    "voice.engines.choose",
    "voice.engines.first_words",
    "voice.engines.gemini_core",
    "voice.engines.history",
    "voice.engines.language_model",
    "voice.engines.openai_core",
    "voice.engines.realtime_addresses",
    "voice.engines.realtime_compared",
    "voice.engines.realtime_core",
    "voice.engines.realtime_dialect",
    "voice.engines.realtime_errors",
    "voice.engines.realtime_lines",
    "voice.engines.realtime_records",
    "voice.engines.realtime_script",
    "voice.engines.realtime_seed",
    "voice.engines.realtime_sound",
    "voice.engines.realtime_times",
    "voice.errors",
    "voice.going_on",
    "voice.heard",
    "voice.hearing.endpoint",
    "voice.hearing.own_voice",
    "voice.hearing.surroundings",
    "voice.hearing.wording",
    "voice.hearing.yielding",
    "voice.playback",
    "voice.microphone",
    "voice.reading_out",
    "voice.records",
    "voice.speech.choice",
    "voice.speech.clauses",
    "voice.speech.preparation",
    "voice.tools",
    "voice.triggers",
    "voice.turns",
}
# Of these there is nothing to test: records, exceptions and a Protocol.
WITHOUT_RULES = {
    "memory.languages.acts.records",
    "memory.errors",
    "memory.index.records",
    "memory.lessons.limits",
    "memory.lessons.records",
    "memory.lessons.schema",
    "memory.llm.protocol",
    "memory.notebooks.limits",
    "memory.notebooks.planned",
    "memory.records",
    "voice.engines.language_model",
    "voice.engines.realtime_dialect",
    "voice.engines.realtime_records",
    "voice.errors",
    "voice.records",
}
IMPURE = {
    "asyncio", "concurrent", "contextvars", "ctypes", "filelock", "http", "httpx", "importlib",
    "io", "logging", "multiprocessing", "os", "pathlib", "pipecat", "platformdirs", "random",
    "secrets", "selectors", "shutil", "signal", "socket", "sqlite3", "ssl", "subprocess", "sys",
    "tempfile", "threading", "time", "urllib.request", "uuid", "uvicorn", "websockets",
}  # fmt: skip
IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "now", "utcnow", "today"}

# Names that say nothing.
EMPTY_NAMES = {"manager", "helper", "helpers", "util", "utils", "common", "misc", "data", "process"}

# Tests of several modules at once, with what they are about.
ACROSS = {
    "memory/notebooks/test_poison.py": "what a hostile reviewer proposes, through `jarvis judge`",
    "memory/test_rules_doc.py": "docs/rules.md, held to the files it names",
    "voice/web/test_by_keys.py": "every act of the page by keys alone, in a real browser",
    "voice/web/test_page.py": "the page's own modules, in a real browser",
    "voice/web/test_sentences.py": "what the house says, held to the page's words in other languages",
    "voice/web/test_views.py": "the page's views, in a real browser over a real memory",
}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    name_of(path): path
    for package in ("memory", "voice")
    for path in ROOT.glob(f"{package}/**/*.py")
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def imports(name: str) -> set[str]:
    """Every module that this one names in an import, also inside functions.

    `from package import x` names `package.x` where that is a module of ours.
    """
    return set(_imported(TREES[name], name))


def _imported(tree: ast.AST, name: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively"
            assert node.module is not None
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module


def behind_the_door(name: str) -> set[str]:
    """The same, but for a name of the door the module that has it."""
    taken = {
        alias.name
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.ImportFrom) and node.module == "memory"
        for alias in node.names
        if alias.name in memory._WHERE
    }
    return imports(name) - ({"memory"} if taken else set()) | {
        memory._WHERE[each][0] for each in taken
    }


def within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def test_modules_are_found() -> None:
    """The tables speak about modules that exist."""
    assert len(MODULES) > 20
    assert PURE - MODULES.keys() == set()
    assert WITHOUT_RULES <= PURE
    assert {name for name in PIPECAT if name not in MODULES} == set()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import pipecat.frames", {"pipecat.frames"}),
        ("def f():\n    from pipecat import frames", {"pipecat"}),
        ("from memory import store", {"memory.store"}),
        ("from memory import Memory, conversations", {"memory", "memory.conversations"}),
        ("if x:\n    import a as b, os.path", {"a", "os.path"}),
    ],
)
def test_imports_are_found(source: str, expected: set[str]) -> None:
    """An import is seen wherever it stands, and whatever form it has."""
    assert set(_imported(ast.parse(source), "x")) == expected


@pytest.mark.parametrize("name", sorted(name for name in MODULES if within(name, ("memory",))))
def test_memory_knows_neither_voice_nor_pipecat(name: str) -> None:
    """memory never imports voice or pipecat."""
    assert {found for found in imports(name) if within(found, ("voice", "pipecat"))} == set()


@pytest.mark.parametrize("name", sorted(name for name in MODULES if within(name, ("voice",))))
def test_voice_comes_through_the_door(name: str) -> None:
    """voice imports memory, memory.records and memory.errors, and no other room of memory."""
    assert {found for found in imports(name) if within(found, ("memory",))} <= DOOR


@pytest.mark.parametrize("name", sorted(MODULES))
def test_pipecat_stays_where_frames_flow(name: str) -> None:
    """pipecat is imported at the edge only."""
    if not within(name, PIPECAT):
        assert {found for found in imports(name) if within(found, ("pipecat",))} == set()


@pytest.mark.parametrize("name", sorted(PURE))
def test_what_decides_only_decides(name: str) -> None:
    """A pure module imports pure modules of ours, and nothing that waits, reads or varies."""
    found = imports(name)
    ours = {module for module in behind_the_door(name) if within(module, ("memory", "voice"))}
    assert ours <= PURE | PACKAGED
    assert {module for module in found if within(module, tuple(IMPURE))} == set()
    called = {
        node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
    }
    assert called & IMPURE_CALLS == set()
    assert not any(isinstance(node, ast.AsyncFunctionDef) for node in ast.walk(TREES[name])) or (
        name in WITHOUT_RULES
    )


def test_only_the_store_writes() -> None:
    """In memory, files are written, renamed and removed in memory/store.py; events.db has its own
    module."""
    writing = {
        "write_text",
        "write_bytes",
        "mkdir",
        "unlink",
        "rename",
        "touch",
        "truncate",
        "rmdir",
    }
    found = {
        (name, node.func.attr)
        for name, tree in TREES.items()
        if within(name, ("memory",)) and name != "memory.store"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in writing
    }
    assert found == set()


@pytest.mark.parametrize("name", sorted(MODULES))
def test_names_say_something(name: str) -> None:
    """No module is called after nothing."""
    assert not set(name.split(".")[-1].split("_")) & EMPTY_NAMES


def test_rooms_do_not_turn_in_circles() -> None:
    """No module imports itself by way of others (imports inside functions don't count)."""
    arrows = {name: _at_import(name) for name in MODULES}
    settled: set[str] = set()
    while ready := {n for n in arrows if n not in settled and arrows[n] <= settled}:
        settled |= ready
    assert MODULES.keys() - settled == set()


def _at_import(name: str) -> set[str]:
    functions = [
        node
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    later = {id(inner) for function in functions for inner in ast.walk(function)}
    now = ast.Module(
        body=[
            n
            for n in ast.walk(TREES[name])
            if isinstance(n, ast.Import | ast.ImportFrom) and id(n) not in later
        ],
        type_ignores=[],
    )
    return {found for found in _imported(now, name) if found in MODULES and found != name}


# Tests mirror the code ----------------------------------------------------------------

TESTS = {
    str(path.relative_to(ROOT / "tests")): path
    for package in ("memory", "voice")
    for path in (ROOT / "tests" / package).glob("**/test_*.py")
}


@pytest.mark.parametrize("test", sorted(TESTS))
def test_a_test_stands_where_its_module_does(test: str) -> None:
    """tests/a/test_b.py is about a/b.py, or about the package a when b is its name."""
    folder, _, file = test.rpartition("/")
    subject = file.removeprefix("test_").removesuffix(".py")
    package = folder.replace("/", ".")
    known = {f"{package}.{subject}"} | (
        {package} if subject == package.rpartition(".")[2] else set()
    )
    assert known & MODULES.keys() or test in ACROSS


def test_tests_across_modules_exist() -> None:
    """The table of tests across modules has no row without a test."""
    assert ACROSS.keys() <= TESTS.keys()


@pytest.mark.parametrize("name", sorted(PURE - WITHOUT_RULES))
def test_what_decides_has_its_table(name: str) -> None:
    """Each module that decides has a test module of its own."""
    folder, _, module = name.rpartition(".")
    assert f"{folder.replace('.', '/')}/test_{module}.py" in TESTS


def test_the_standard_library_names_are_real() -> None:
    """What is listed as impure is a module of Python or one that we depend on."""
    ours = {"filelock", "httpx", "pipecat", "platformdirs", "uvicorn", "websockets"}
    assert {name.partition(".")[0] for name in IMPURE} - sys.stdlib_module_names == ours
