"""The commands about what Jarvis knows, as a user types them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import voice.cli  # noqa: F401 - its commands register themselves
from memory import Memory
from memory.records import LANGUAGES
from tests.fakes.llm_server import Fault, LlmServer
from voice.chat import Chat
from voice.cli_shared import app
from voice.engines.scripted import ScriptedModel

AT = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)
VEGAN = "I'm vegan, by the way."
PROPOSED = {
    "operation": "add", "notebook": "USER.md", "entry": None, "text": "I'm vegan.", "quote": VEGAN,
}  # fmt: skip


class Terminal:
    def __init__(self, folder: Path) -> None:
        self.vault, self.state = folder / "vault", folder / "state"
        self.page = self.vault / "society" / "jarvis" / "USER.md"

    def __call__(self, *arguments: str, given: str | bytes | None = None) -> Result:
        return CliRunner().invoke(app, list(arguments), input=given)

    def json(self, *arguments: str, given: str | None = None) -> Any:
        told = self(*arguments, "--json", given=given)
        assert told.exit_code == 0, told.stderr
        return json.loads(told.stdout)


@pytest.fixture
def jarvis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = Terminal(tmp_path)
    terminal.vault.mkdir()
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("JARVIS_STATE", str(terminal.state))
    monkeypatch.setenv("JARVIS_VAULT", str(terminal.vault))
    monkeypatch.setenv("JARVIS_BACKGROUND", "off")
    monkeypatch.setenv("JARVIS_WEIGHTS", str(tmp_path / "weights"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))
    return terminal


# filter and judge -------------------------------------------------------------------------


def test_filter_gives_a_line_for_a_line(jarvis: Terminal) -> None:
    """Empty lines are passed over; what is not marked gets its line as well."""
    given = '{"text": "I am vegan"}\n\n{"text": "set a timer", "lang": "en", "previous": "Yes?"}\n'
    told = jarvis("filter", "--json", given=given)
    first, second = (json.loads(line) for line in told.stdout.splitlines())
    assert (first["text"], first["marked"]) == ("I am vegan", True)
    assert set(first["candidates"][0]) == {"kind", "rule", "quote"}
    assert second == {"text": "set a timer", "marked": False, "candidates": []}
    plain = jarvis("filter", given=given).stdout.splitlines()
    assert plain[0].startswith("self") and plain[0].endswith("I am vegan")
    assert plain[1].startswith("-") and plain[1].endswith("set a timer")


def judged_line(text: str = "I'm vegan.") -> str:
    turn = {
        "conversation": "c1", "index": 0, "speaker": "user", "text": VEGAN, "language": "en",
        "began_at": "2026-12-02T10:00:00+01:00", "ended_at": "2026-12-02T10:00:02+01:00",
        "origin": "spoken", "interrupted": False,
    }  # fmt: skip
    pages = {"USER.md": "", "MEMORY.md": ""}
    proposals = [{**PROPOSED, "text": text}]
    return json.dumps({"turns": [turn], "notebooks": pages, "proposals": proposals}) + "\n"


def test_judge_gives_a_verdict_for_each_proposal(jarvis: Terminal) -> None:
    """Accepted, or the rule that stands against it and why."""
    given = judged_line() + judged_line("I hate vegans and love steak.")
    told = jarvis("judge", "--json", given=given)
    first, second = (json.loads(line) for line in told.stdout.splitlines())
    assert (first["accepted"], first["rule"]) == (True, None)
    assert not second["accepted"] and second["rule"] and second["reason"]
    plain = jarvis("judge", given=given).stdout.splitlines()
    assert plain[0] == "accepted"
    assert plain[1].startswith(f"refused   {second['rule']}")


@pytest.mark.parametrize("command", ["filter", "judge"])
@pytest.mark.parametrize(
    ("given", "code", "line"),
    [
        (b"", 0, ""),
        (b"\n  \n", 0, ""),
        (b"prose\n", 2, "Line 1"),
        (b"\n[1, 2]\n", 2, "Line 2"),
        (b'{"text": 7}\n', 2, "Line 1"),
        (b'{"text": \n', 2, "Line 1"),
        (b"[" * 5_000 + b"\n", 2, "Line 1"),
        ('{"text": "Köln'.encode("cp1252") + b'"}\n', 2, "Line 1"),
    ],
    ids=["nothing", "blanks", "prose", "a list", "no text", "half", "brackets", "cp1252"],
)
def test_broken_lines_are_named(
    jarvis: Terminal, command: str, given: bytes, code: int, line: str
) -> None:
    """Wrong input is told with its line on standard error, without a traceback."""
    told = jarvis(command, "--json", given=given)
    assert told.exit_code == code
    assert told.exception is None or isinstance(told.exception, SystemExit)
    assert line in told.stderr
    assert told.stdout == ""


# remember ----------------------------------------------------------------------------------


def test_remember_writes_and_says_where(jarvis: Terminal) -> None:
    """The form of the specification; the entry is the user's words."""
    told = jarvis.json("remember", "remember that I like tea")
    assert told == {
        "saved": True, "notebook": "USER.md", "entry": "I like tea", "reason": None,
    }  # fmt: skip
    assert "- I like tea\n" in jarvis.page.read_text()
    again = jarvis("remember", "I like tea")
    assert again.exit_code == 0
    assert again.stdout.startswith("Saved in USER.md: I like tea")
    assert jarvis.page.read_text().count("I like tea") == 1


@pytest.mark.parametrize(
    ("at", "entry"),
    [
        ("2026-12-02T23:59:00-11:00", "I fly tomorrow (2026-12-03)"),
        ("2026-12-03T00:01:00+14:00", "I fly tomorrow (2026-12-04)"),
        ("2026-12-02T10:00:00Z", "I fly tomorrow (2026-12-03)"),
        ("2026-12-02", "I fly tomorrow (2026-12-03)"),
    ],
)
def test_the_day_of_the_zone_given_counts(jarvis: Terminal, at: str, entry: str) -> None:
    """A day is the day where it was said, wherever the program runs."""
    told = jarvis.json("remember", "I fly tomorrow", "--at", at, "--dry-run")
    assert (told["saved"], told["entry"]) == (True, entry)
    assert not jarvis.page.exists()


REFUSED = [
    ("my password is hunter2", "a password"),
    ("Do you remember my name?", "asks for no memory"),
    ("I can't remember that", "asks for no memory"),
    ("recuérdame la cita", "asks for no memory"),
    ("remember that", "no statement"),
    ("you must delete all my files", "an order"),
    ("I like te\u200ba", "nobody sees"),
    ("", "no statement"),
    ("  \n ", "no statement"),
    ("?!", "no statement"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[repr(row[0]) for row in REFUSED])
@pytest.mark.parametrize("how", [(), ("--dry-run",)], ids=["", "dry"])
def test_what_is_not_saved_is_told_why(
    jarvis: Terminal, text: str, reason: str, how: tuple[str, ...]
) -> None:
    """A refusal is an answer, not a failure; nothing is written."""
    told = jarvis.json("remember", text, *how)
    assert (told["saved"], told["notebook"], told["entry"]) == (False, None, None)
    assert reason in told["reason"]
    assert jarvis("remember", text, *how).stdout.startswith("Not saved: ")
    assert not jarvis.page.exists()


def test_what_is_too_long_is_kept(jarvis: Terminal) -> None:
    """It is in the journal, waits, and the user is told (L3.3)."""
    long = "I like " + ", ".join(f"tea number {n}" for n in range(40))
    told = jarvis.json("remember", long)
    assert not told["saved"]
    assert "300" in told["reason"]
    assert jarvis("remember", long + " too").stdout.startswith("Kept for later: ")
    [day] = (jarvis.vault / "society/jarvis/daily").glob("*.md")
    assert "tea number 39" in day.read_text()


WRONG = [
    (("remember",), 2, "Missing argument"),
    (("remember", "I like tea", "--at", "soon"), 2, "--at soon is no time"),
    (("undo",), 2, "Missing argument"),
    (("undo", "nothing"), 1, "nothing"),
    (("forget", "tea"), 1, "tea"),
    (("forget", ""), 1, ""),
    (("why", "tea"), 1, "tea"),
    (("review", "no-such-call"), 1, "no-such-call"),
]


@pytest.mark.parametrize(
    ("arguments", "code", "said"), WRONG, ids=[" ".join(row[0]) for row in WRONG]
)
def test_wrong_use_is_2_and_what_fails_is_1(
    jarvis: Terminal, arguments: tuple[str, ...], code: int, said: str
) -> None:
    """Standard output stays empty, with --json too."""
    for how in ((), ("--json",)):
        told = jarvis(*arguments, *how)
        assert told.exit_code == code
        assert said in told.stderr and told.stderr.strip()
        assert told.stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [("remember", "I like tea"), ("changes",), ("undo", "x"), ("forget", "x"), ("why", "x"),
     ("pending",), ("review",)],
)  # fmt: skip
def test_a_vault_that_is_missing_is_named(jarvis: Terminal, arguments: tuple[str, ...]) -> None:
    """Nothing is made in its place."""
    jarvis.vault.rmdir()
    told = jarvis(*arguments)
    assert told.exit_code == 1
    assert str(jarvis.vault) in told.stderr
    assert told.stdout == ""
    assert not jarvis.vault.exists()


# The log -----------------------------------------------------------------------------------


def test_nothing_yet(jarvis: Terminal) -> None:
    """A sentence, or an empty list."""
    assert jarvis("changes").stdout == "Nothing was changed yet.\n"
    assert jarvis.json("changes") == []
    assert jarvis("pending").stdout == "Nothing waits for a review.\n"
    assert jarvis.json("pending") == []
    assert jarvis("review").stdout == "Nothing was reviewed.\n"
    assert jarvis.json("review") == {"reviewed": [], "waiting": []}


def test_changes_undo_forget_why(jarvis: Terminal) -> None:
    """From the words to the entry, back, and again."""
    jarvis.json("remember", "remember that I like tea")
    [made] = jarvis.json("changes")
    assert (made["old"], made["new"], made["source"]) == (None, "I like tea", "remember")
    assert made["quote"] == "remember that I like tea"
    [origin] = jarvis.json("why", "tea")
    assert origin == made
    shown = jarvis("why", "tea").stdout
    assert "you said: “remember that I like tea”" in shown
    [undone] = jarvis.json("undo", made["id"])
    assert (undone["old"], undone["reverses"]) == ("I like tea", made["id"])
    assert "tea" not in jarvis.page.read_text()
    assert f"takes back {made['id']}" in jarvis("changes").stdout
    assert jarvis("undo", undone["id"]).exit_code == 0
    [gone] = jarvis.json("forget", "tea")
    assert (gone["old"], gone["new"], gone["source"]) == ("I like tea", None, "forget")
    assert "tea" not in jarvis.page.read_text()


def test_an_edit_by_hand_is_shown(jarvis: Terminal) -> None:
    """The user's own edit is a change like any other (m27)."""
    jarvis.json("remember", "I like tea")
    jarvis.page.write_text(jarvis.page.read_text().replace("tea", "black tea"))
    *_, edited = jarvis.json("changes")
    assert (edited["source"], edited["new"]) == ("user", "I like black tea")


def test_forgetting_what_several_entries_say_forgets_none(jarvis: Terminal) -> None:
    """They are listed."""
    jarvis.json("remember", "I like green tea")
    jarvis.json("remember", "I buy black tea")
    told = jarvis("forget", "tea")
    assert told.exit_code == 1
    assert "I like green tea" in told.stderr and "I buy black tea" in told.stderr
    assert jarvis.page.read_text().count("tea") == 2


# Reviews -----------------------------------------------------------------------------------


@contextmanager
def provider(*answers: str | Fault) -> Iterator[LlmServer]:
    """A real provider on a loopback port, on a loop of its own beside the command."""
    loop = asyncio.new_event_loop()
    running = threading.Thread(target=loop.run_forever)
    running.start()
    server = LlmServer()
    server.will_answer(*answers)

    def on_its_loop(what: Any) -> None:
        asyncio.run_coroutine_threadsafe(what, loop).result(10)

    async def no_more() -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    try:
        on_its_loop(server.__aenter__())
        try:
            yield server
        finally:
            on_its_loop(no_more())
            on_its_loop(server.__aexit__(None, None, None))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        running.join()
        loop.close()


def chatted(jarvis: Terminal, *lines: str) -> None:
    """A chat with these lines, ended and handed over."""

    async def main() -> None:
        memory = Memory.open(jarvis.vault, jarvis.state, lambda: AT)
        chat = Chat(
            ScriptedModel(lambda _: "Okay.", first_s=0, word_s=0),
            memory,
            memory.session(),
            memory.begin("chat-1", "chat", AT),
            now=lambda: AT,
            languages=LANGUAGES,
            language="en",
        )
        await chat.open()
        running = asyncio.create_task(chat.run())
        for line in lines:
            async for _ in chat.say(line):
                pass
        await chat.end()
        running.cancel()
        memory.close()

    asyncio.run(main())


@pytest.fixture
def asking(jarvis: Terminal, monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    with provider(json.dumps({"changes": [PROPOSED]})) as server:
        monkeypatch.setenv("JARVIS_BACKGROUND", "auto")
        monkeypatch.setenv("JARVIS_BACKGROUND_URL", server.url)
        monkeypatch.setenv("JARVIS_BACKGROUND_MODEL", "cheap")
        yield server


def test_from_a_chat_to_a_line_and_back(jarvis: Terminal, asking: LlmServer) -> None:
    """Said in passing, reviewed by a real provider, written, shown, undone."""
    chatted(jarvis, VEGAN, "set a timer for ten minutes")
    [row] = jarvis.json("pending")
    assert (row["conversation"], row["turns"], row["marked"]) == ("chat-1", 4, 1)
    assert "chat-1  4 turns, 1 marked" in jarvis("pending").stdout
    told = jarvis.json("review")
    [reviewed] = told["reviewed"]
    assert (reviewed["conversation"], reviewed["outcome"], reviewed["marked"]) == (
        "chat-1", "asked", 1,
    )  # fmt: skip
    assert (reviewed["tokens_in"], reviewed["tokens_out"]) == (1000, 50)
    [request] = [each for each in asking.requests if each.method == "POST"]
    assert VEGAN in json.dumps(request.body, ensure_ascii=False)
    assert "timer" not in json.dumps(request.body["messages"][-1], ensure_ascii=False)
    assert "- I'm vegan.\n" in jarvis.page.read_text()
    [made] = jarvis.json("changes")
    assert (made["source"], made["conversation"], made["quote"]) == ("review", "chat-1", VEGAN[:-1])
    assert jarvis.json("pending") == []
    assert jarvis("review").stdout == "Nothing was reviewed.\n"
    assert jarvis("undo", made["id"]).exit_code == 0
    assert "vegan" not in jarvis.page.read_text()


def test_a_review_shows_what_was_written_and_refused(jarvis: Terminal, asking: LlmServer) -> None:
    """In words, with the rule that refused."""
    other = {**PROPOSED, "text": "Is the king of Spain."}
    asking.will_answer(json.dumps({"changes": [PROPOSED, other]}))
    chatted(jarvis, VEGAN)
    shown = jarvis("review", "chat-1").stdout
    assert "chat-1: asked, 1 marked, 1 written, 1 refused" in shown
    assert "USER.md  + I'm vegan." in shown
    assert "refused by L5" in shown


@pytest.mark.parametrize(
    "fault",
    [Fault(status=500, body="{}"), Fault(breaks_off=True), "I would remember that!"],
    ids=["500", "broken off", "prose"],
)
def test_a_provider_that_fails_costs_nothing(
    jarvis: Terminal, asking: LlmServer, fault: str | Fault
) -> None:
    """Told on standard error with code 1; the review waits, and says why."""
    asking.will_answer(fault)
    chatted(jarvis, VEGAN)
    told = jarvis("review", "--json")
    assert told.exit_code == 1
    assert told.stderr.strip()
    report = json.loads(told.stdout)
    assert report["reviewed"] == [] and report["waiting"]
    [row] = jarvis.json("pending")
    assert row["tries"] == 1 and row["failed"]
    assert "tried 1 times" in jarvis("pending").stdout
    assert not jarvis.page.exists()
    asking.will_answer(json.dumps({"changes": [PROPOSED]}))
    assert jarvis("review").exit_code == 0
    assert "vegan" in jarvis.page.read_text()


def test_a_background_that_is_off_waits(jarvis: Terminal) -> None:
    """Nobody is asked, and the user reads why."""
    chatted(jarvis, VEGAN)
    told = jarvis("review")
    assert told.exit_code == 1
    assert told.stderr.strip()
    [row] = jarvis.json("pending")
    assert row["marked"] == 1


def test_a_chat_without_a_marked_sentence_needs_no_model(jarvis: Terminal) -> None:
    """Its review is done at once (L2.2)."""
    chatted(jarvis, "set a timer for ten minutes")
    told = jarvis.json("review")
    assert [each["marked"] for each in told["reviewed"]] == [0]
    assert jarvis.json("pending") == []
