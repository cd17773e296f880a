from __future__ import annotations

import json
import logging
import re
import resource
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest

from bench.durability import crashes, crossings, new_vault, writers
from memory.errors import (
    AmbiguousEntry,
    NoSuchChange,
    NotebookChanged,
    NotebookUnwritable,
    StateUnwritable,
    VaultMissing,
)
from memory.notebooks import files
from memory.notebooks import ledger as ledger_module
from memory.notebooks.files import short_digest
from memory.notebooks.ledger import Ledger
from memory.notebooks.limits import ENTRY_CHARS, NOTEBOOKS_CHARS
from memory.notebooks.planned import NotWritten
from memory.notebooks.waiting import Outcome
from memory.records import Accepted, Change, Notebook, Operation, Source
from memory.vault import Vault

AT = datetime(2026, 12, 2, 10, tzinfo=UTC)
LATER = AT + timedelta(hours=1)
HEAD = "# About you\n<!-- One short sentence a line, each behind a dash. -->\n"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    (tmp_path / "vault").mkdir()
    return Vault(tmp_path / "vault")


@pytest.fixture
def ledger(vault: Vault, tmp_path: Path) -> Ledger:
    return Ledger(vault, tmp_path / "state")


def user(vault: Vault) -> Path:
    vault.folder.mkdir(parents=True, exist_ok=True)
    return vault.folder / "USER.md"


def accept(
    text: str | None, entry: str | None = None, *, notebook: Notebook = "USER.md", turn: int = 0
) -> Accepted:
    operation: Operation = "add" if entry is None else "remove" if text is None else "update"
    return Accepted(
        operation=operation,
        notebook=notebook,
        entry=entry,
        text=text,
        quote="that is what was said",
        turn_index=turn,
    )


def wrote(ledger: Ledger, *texts: str, at: datetime = AT) -> tuple[Change, ...]:
    done = ledger.write([accept(text) for text in texts], source="remember", at=at)
    changes = tuple(each for each in done if isinstance(each, Change))
    assert len(changes) == len(texts), done
    return changes


def refused(ledger: Ledger, accepted: Accepted, at: datetime = LATER) -> NotWritten:
    [result] = ledger.write([accepted], source="review", at=at)
    assert isinstance(result, NotWritten), result
    return result


# Writing ------------------------------------------------------------------------------


def test_a_change_is_in_the_log_and_on_the_page(ledger: Ledger, vault: Vault) -> None:
    """What write returns is on the page, and in the log with quote, time and conversation."""
    [change] = ledger.write(
        [accept("Is vegan.", turn=3)],
        source="review",
        at=LATER,
        conversation="c1",
        said_at={3: AT},
        key="k",
    )
    assert isinstance(change, Change)
    assert user(vault).read_text(encoding="utf-8") == HEAD + "- Is vegan.\n"
    assert ledger.changes() == (change,)
    assert (change.new, change.old, change.quote) == ("Is vegan.", None, "that is what was said")
    assert (change.at, change.said_at, change.turn_index) == (LATER, AT, 3)
    assert (change.source, change.conversation) == ("review", "c1")
    assert {path.name for path in vault.folder.iterdir()} == {"USER.md", "changes.jsonl"}


def test_add_update_and_remove_in_one_write(ledger: Ledger) -> None:
    """One write changes both notebooks; each change has its own line."""
    wrote(ledger, "Likes tea.", "Lives in Bonn.")
    done = ledger.write(
        [
            accept("Likes coffee.", "Likes tea."),
            accept(None, "Lives in Bonn."),
            accept("Answers are short.", notebook="MEMORY.md"),
        ],
        source="review",
        at=LATER,
    )
    assert ledger.entries() == {"USER.md": ("Likes coffee.",), "MEMORY.md": ("Answers are short.",)}
    assert [(c.old, c.new) for c in done if isinstance(c, Change)] == [
        ("Likes tea.", "Likes coffee."),
        ("Lives in Bonn.", None),
        (None, "Answers are short."),
    ]


def test_the_users_edit_wins_and_the_rest_applies(ledger: Ledger, vault: Vault) -> None:
    """An entry that was edited during a review stays as the user wrote it (L1.4)."""
    wrote(ledger, "Likes tea.", "Lives in Bonn.")
    page = user(vault)
    page.write_text(page.read_text("utf-8").replace("Likes tea.", "Likes green tea."), "utf-8")
    first, second, third = ledger.write(
        [accept("Hates tea.", "Likes tea."), accept(None, "Likes tea."), accept("Is vegan.")],
        source="review",
        at=LATER,
    )
    assert isinstance(first, NotWritten)
    assert isinstance(second, NotWritten)
    assert (first.rule, second.rule) == ("L1.4", "L1.4")
    assert isinstance(third, Change)
    assert ledger.entries()["USER.md"] == ("Likes green tea.", "Lives in Bonn.", "Is vegan.")


def test_the_same_key_writes_nothing_twice(ledger: Ledger) -> None:
    """A write that is repeated after a crash gives what was written, also in part."""
    both = [accept("Is vegan."), accept("Likes tea.")]
    first = ledger.write(both[:1], source="review", at=AT, key="c1:0-9")
    again = ledger.write(both, source="review", at=LATER, key="c1:0-9")
    assert again[0] == first[0]
    assert ledger.write(both, source="review", at=LATER, key="c1:0-9") == again
    ledger.forget("vegan", at=LATER)
    assert ledger.write(both, source="review", at=LATER, key="c1:0-9") == again
    assert ledger.entries()["USER.md"] == ("Likes tea.",)


def test_a_merge_is_written_whole_or_not_at_all(ledger: Ledger) -> None:
    """When one of the merged entries was edited meanwhile, none of the merge is written."""
    wrote(ledger, "Likes tea.", "Likes coffee.")
    merge = [accept("Likes tea and coffee.", "Likes tea."), accept(None, "Likes cocoa.")]
    done = ledger.write(merge, source="merge", at=LATER, together=True)
    assert [isinstance(each, NotWritten) for each in done] == [True, True]
    assert ledger.entries()["USER.md"] == ("Likes tea.", "Likes coffee.")
    merge[1] = accept(None, "Likes coffee.")
    ledger.write(merge, source="merge", at=LATER, together=True)
    assert ledger.entries()["USER.md"] == ("Likes tea and coffee.",)


@pytest.mark.parametrize(
    ("there", "new"),
    [
        ("Is vegan.", "Is vegan."),
        ("Is vegan.", "is VEGAN."),
        ("Is vegan", "Is  vegan"),
        ("Likes tea, and coffee in the morning.", "Likes tea"),
    ],
)
@pytest.mark.parametrize("notebook", ["USER.md", "MEMORY.md"])
def test_what_is_there_is_not_written_twice(
    ledger: Ledger, there: str, new: str, notebook: Notebook
) -> None:
    """The same text, or one that an entry contains, in either notebook (L6.1)."""
    wrote(ledger, there)
    assert refused(ledger, accept(new, notebook=notebook)).rule == "L6.1"


@pytest.mark.parametrize(
    ("there", "new"),
    [
        ("Does not like tea.", "Likes tea."),
        ("Mag keinen Tee.", "Mag Tee."),
        ("No le gusta el té.", "Le gusta el té."),
        ("Likes tea, but not any more.", "Likes tea"),
    ],
)
def test_the_opposite_is_no_duplicate(ledger: Ledger, there: str, new: str) -> None:
    """An entry that says the opposite of another is written (L6.1)."""
    wrote(ledger, there, new)


def test_a_longer_entry_takes_the_place_of_ours(ledger: Ledger, vault: Vault) -> None:
    """What Jarvis wrote makes way for what says more; what the user wrote stays."""
    user(vault).write_text("- Likes milk\n", "utf-8")
    wrote(ledger, "Likes tea")
    done = wrote(ledger, "Likes tea, and coffee.", "Likes milk, and cocoa.")
    assert (done[0].old, done[1].old) == ("Likes tea", None)
    assert ledger.entries()["USER.md"] == (
        "Likes milk", "Likes tea, and coffee.", "Likes milk, and cocoa.",
    )  # fmt: skip


def test_an_update_that_repeats_another_entry_takes_the_old_one_out(ledger: Ledger) -> None:
    """Two entries don't become the same one twice."""
    wrote(ledger, "Likes tea.", "Likes coffee.")
    [done] = ledger.write([accept("Likes tea.", "Likes coffee.")], source="review", at=LATER)
    assert isinstance(done, Change)
    assert (done.old, done.new) == ("Likes coffee.", None)
    assert refused(ledger, accept("Likes tea.", "Likes tea.")).rule == "L6.1"


def test_an_item_with_others_beneath_it_is_left_alone(ledger: Ledger, vault: Vault) -> None:
    """Taking it out would orphan the user's lines."""
    user(vault).write_text("- Family\n  - Ann is my sister\n", "utf-8")
    assert refused(ledger, accept(None, "Family")).rule == "L1.3"
    with pytest.raises(NotebookUnwritable, match="in your editor"):
        ledger.forget("family", at=AT)


# Room ---------------------------------------------------------------------------------


def full(ledger: Ledger) -> list[str]:
    texts = [f"{number:02d} " + "x" * 97 for number in range(NOTEBOOKS_CHARS // 100)]
    wrote(ledger, *texts)
    return texts


def test_what_finds_no_room_is_kept_and_waits(ledger: Ledger, vault: Vault) -> None:
    """It is in the journal under the day on which it was said, and placed when there is room."""
    texts = full(ledger)
    assert ledger.fullness() == 1.0
    said = AT - timedelta(days=1)
    for _ in range(2):  # said again, or repeated after a crash: kept once
        [result] = ledger.write(
            [accept("Is vegan.")], source="review", at=LATER, said_at={0: said}, key="k"
        )
        assert isinstance(result, NotWritten)
        assert (result.rule, result.waits) == ("L1.2", True)
        assert "in the journal and waits for room" in result.reason
    day = (vault.folder / "daily" / "2026-12-01.md").read_text("utf-8")
    assert day.count("Is vegan.") == 1
    assert [each.accepted.text for each in ledger.waiting()] == ["Is vegan."]
    assert ledger.place_waiting(LATER) == ()
    ledger.forget(texts[0], at=LATER)
    [placed] = ledger.place_waiting(LATER)
    assert (placed.new, placed.quote, placed.source) == (
        "Is vegan.",
        "that is what was said",
        "review",
    )
    assert ledger.waiting() == ()
    assert ledger.place_waiting(LATER) == ()


def test_the_smaller_one_that_fits_is_placed(ledger: Ledger) -> None:
    """One that is too large doesn't hold up those behind it."""
    texts = full(ledger)
    ledger.write([accept("y" * 200), accept("Is vegan.")], source="remember", at=AT)
    ledger.forget(texts[0], at=LATER)
    assert [change.new for change in ledger.place_waiting(LATER)] == ["Is vegan."]
    assert [each.accepted.text for each in ledger.waiting()] == ["y" * 200]


def test_an_update_needs_room_for_what_it_adds(ledger: Ledger) -> None:
    """In full notebooks a shorter text is written and a longer one waits."""
    texts = full(ledger)
    assert refused(ledger, accept("z" * 101, texts[0])).rule == "L1.2"
    [done] = ledger.write([accept("z" * 99, texts[0])], source="review", at=LATER)
    assert isinstance(done, Change)


def test_the_users_own_lines_take_room_and_stay(ledger: Ledger, vault: Vault) -> None:
    """A hand-made notebook may hold more than fits; nothing is taken out of it."""
    user(vault).write_text("# Prose doesn't count\n" + "- " + "a" * (NOTEBOOKS_CHARS + 1), "utf-8")
    assert ledger.fullness() > 1.0
    assert refused(ledger, accept("Is vegan.")).rule == "L1.2"


def test_an_entry_of_the_full_length_is_written(ledger: Ledger) -> None:
    """One character more is too long: in the journal, and waiting (L3.3)."""
    wrote(ledger, "a" * ENTRY_CHARS)
    result = refused(ledger, accept("b" * (ENTRY_CHARS + 1)))
    assert (result.rule, result.waits) == ("L3.3", True)
    assert ledger.place_waiting(LATER) == ()
    assert len(ledger.waiting()) == 1


def test_what_was_taken_out_while_it_waited_is_not_placed(ledger: Ledger) -> None:
    """Forgetting reaches what waits (m22, m23)."""
    texts = full(ledger)
    ledger.write([accept("Is vegan.")], source="remember", at=AT)
    [forgotten] = ledger.forget("vegan", at=LATER)
    assert (forgotten.old, forgotten.new) == ("Is vegan.", None)
    assert ledger.waiting() == ()
    ledger.forget(texts[0], at=LATER)
    assert ledger.place_waiting(LATER) == ()
    assert "Is vegan." in {each.text for each in ledger.removed()}


# Undo, forget, why --------------------------------------------------------------------


def test_undo_reverses_each_kind(ledger: Ledger) -> None:
    """An addition goes, a removal comes back, an update is turned back; the log says of what."""
    [tea, bonn] = wrote(ledger, "Likes tea.", "Lives in Bonn.")
    [coffee] = ledger.write([accept("Likes coffee.", "Likes tea.")], source="review", at=AT)
    [gone] = ledger.forget("Bonn", at=AT)
    assert isinstance(coffee, Change)
    undone = ledger.undo(coffee.id, at=LATER)
    assert (undone.old, undone.new, undone.reverses) == ("Likes coffee.", "Likes tea.", coffee.id)
    ledger.undo(gone.id, at=LATER)
    assert ledger.entries()["USER.md"] == ("Likes tea.", "Lives in Bonn.")
    again = ledger.undo(tea.id, at=LATER)
    assert ledger.entries()["USER.md"] == ("Lives in Bonn.",)
    ledger.undo(again.id, at=LATER)
    assert ledger.entries()["USER.md"] == ("Lives in Bonn.", "Likes tea.")
    assert {change.source for change in ledger.changes()[-4:]} == {"undo"}
    assert bonn in ledger.changes()


def test_undo_says_why_not(ledger: Ledger, vault: Vault) -> None:
    """No such id, undone already, edited since: each is a sentence, and nothing changes."""
    [tea, _] = wrote(ledger, "Likes tea.", "Lives in Bonn.")
    [gone] = ledger.forget("Bonn", at=AT)
    ledger.undo(gone.id, at=AT)
    page = user(vault)
    page.write_text(page.read_text("utf-8").replace("Likes tea.", "Likes tea a lot."), "utf-8")
    before = page.read_bytes()
    for change, part in (
        (tea.id, "edited or taken out since"),
        (gone.id, "undone already"),
        ("nothing", "`jarvis changes` shows them"),
    ):
        with pytest.raises(NoSuchChange, match=part):
            ledger.undo(change, at=LATER)
    assert page.read_bytes() == before


def test_undo_keeps_the_limit(ledger: Ledger) -> None:
    """What was taken out comes back only where there is room, and the log keeps it."""
    texts = full(ledger)
    [gone] = ledger.forget(texts[0], at=AT)
    wrote(ledger, "y" * 50)
    with pytest.raises(NoSuchChange, match="no room"):
        ledger.undo(gone.id, at=LATER)


def test_forget_names_what_it_could_be(ledger: Ledger) -> None:
    """Several entries are listed, none is taken out; more words choose one."""
    wrote(ledger, "Ann is my sister.", "My sister lives in Bonn.", "Likes tea.")
    with pytest.raises(AmbiguousEntry, match=r"“Ann is my sister.”; “My sister lives") as caught:
        ledger.forget("my sister", at=LATER)
    assert len(caught.value.entries) == 2
    with pytest.raises(NoSuchChange, match="Nothing in the notebooks"):
        ledger.forget("cocoa", at=LATER)
    [gone] = ledger.forget("sister Bonn", at=LATER)
    assert gone.old == "My sister lives in Bonn."


def test_forget_takes_every_copy_out(ledger: Ledger, vault: Vault) -> None:
    """The same entry in both notebooks, or twice, goes everywhere (m22)."""
    user(vault).write_text("- Is vegan\n- is vegan\n", "utf-8")
    user(vault).with_name("MEMORY.md").write_text("- Is vegan", "utf-8")
    assert len(ledger.forget("Is vegan", at=AT)) == 3
    assert ledger.entries() == {"USER.md": (), "MEMORY.md": ()}


def test_why_tells_the_way_of_an_entry(ledger: Ledger) -> None:
    """The changes from the first words to the entry of now; of a forgotten one too."""
    [first] = wrote(ledger, "Likes tea.")
    [second] = ledger.write([accept("Likes green tea.", "Likes tea.")], source="review", at=AT)
    wrote(ledger, "Lives in Bonn.")
    assert ledger.why("green tea") == (first, second)
    [gone] = ledger.forget("green tea", at=AT)
    assert ledger.why("green tea") == (first, second, gone)
    with pytest.raises(NoSuchChange, match="is your own"):
        ledger.why("cocoa")


# The user's own edits -----------------------------------------------------------------


def test_the_users_edits_are_in_the_log(ledger: Ledger, vault: Vault) -> None:
    """What the user wrote, changed and took out becomes changes of the user (m27)."""
    wrote(ledger, "Likes tea with milk.", "Lives in Bonn.")
    user(vault).write_text("- Likes tea with lemon.\n- Has a dog.\n", "utf-8")
    noticed = ledger.notice_edits(LATER)
    assert [(each.old, each.new) for each in noticed] == [
        ("Lives in Bonn.", None),
        ("Likes tea with milk.", "Likes tea with lemon."),
        (None, "Has a dog."),
    ]
    assert {each.source for each in noticed} == {"user"}
    assert ledger.notice_edits(LATER) == ()


def test_nothing_is_written_where_nothing_was_edited(ledger: Ledger, vault: Vault) -> None:
    """Looking leaves a vault without our folder as it is."""
    assert ledger.notice_edits(AT) == ()
    assert list(vault.path.iterdir()) == []
    assert ledger.entries() == {"USER.md": (), "MEMORY.md": ()}
    assert (ledger.changes(), ledger.removed(), ledger.waiting()) == ((), (), ())


def test_what_the_user_took_out_is_not_learned_again(ledger: Ledger, vault: Vault) -> None:
    """Not from what was said before, from a later turn again (m23)."""
    wrote(ledger, "Is vegan.")
    user(vault).write_text("- Has a dog.\n", "utf-8")
    [old] = ledger.write([accept("is vegan.")], source="review", at=LATER, said_at={0: AT})
    assert isinstance(old, NotWritten)
    assert old.rule == "L1.4"
    assert [each.text for each in ledger.removed()] == ["Is vegan."]
    [new] = ledger.write(
        [accept("Is vegan.")], source="review", at=LATER, said_at={0: LATER + timedelta(1)}
    )
    assert isinstance(new, Change)
    assert ledger.removed() == ()


def test_an_emptied_or_deleted_notebook_is_an_edit(ledger: Ledger, vault: Vault) -> None:
    """All of it counts as taken out, and a new page is begun for the next entry."""
    wrote(ledger, "Is vegan.")
    user(vault).unlink()
    assert [each.old for each in ledger.notice_edits(LATER)] == ["Is vegan."]
    wrote(ledger, "Has a dog.")
    assert user(vault).read_text("utf-8") == HEAD + "- Has a dog.\n"
    user(vault).write_text("", "utf-8")
    assert [each.old for each in ledger.notice_edits(LATER)] == ["Has a dog."]


def test_moving_an_entry_is_not_removing_it(ledger: Ledger, vault: Vault) -> None:
    """An entry that the user moved to the other notebook may be there."""
    wrote(ledger, "Is vegan.")
    user(vault).rename(user(vault).with_name("MEMORY.md"))
    assert len(ledger.notice_edits(LATER)) == 2
    assert ledger.removed() == ()


# The log ------------------------------------------------------------------------------


def test_a_damaged_log_costs_only_its_lines(
    ledger: Ledger, vault: Vault, caplog: pytest.LogCaptureFixture
) -> None:
    """Torn lines, marks of a merge and lines of another hand are skipped, and kept."""
    [tea, bonn] = wrote(ledger, "Likes tea.", "Lives in Bonn.")
    path = vault.folder / "changes.jsonl"
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(
        b"<<<<<<< mine\n" + first + b"=======\n\0\0\n" + first + second + b"a note\n{\"id\": 7}\n"
        + b">>>>>>> theirs\r\n" + b'{"id": "torn'
    )  # fmt: skip
    with caplog.at_level(logging.WARNING):
        assert ledger.changes() == (tea, bonn)
    assert "lines of" in caplog.text
    [new] = wrote(ledger, "Is vegan.")
    assert ledger.changes() == (tea, bonn, new)
    assert b"a note\n" in path.read_bytes()


def test_without_its_log_a_page_is_the_users(ledger: Ledger, vault: Vault) -> None:
    """A log that was deleted begins anew with what the pages hold."""
    wrote(ledger, "Is vegan.")
    (vault.folder / "changes.jsonl").unlink()
    assert [(each.source, each.new) for each in ledger.notice_edits(LATER)] == [
        ("user", "Is vegan.")
    ]


# The world fails ----------------------------------------------------------------------


def test_a_notebook_in_another_encoding_is_told(ledger: Ledger, vault: Vault) -> None:
    """It is left alone; the other notebook goes on."""
    content = "- Größe\n".encode("cp1252")
    user(vault).write_bytes(content)
    with pytest.raises(NotebookUnwritable, match="Save it as UTF-8"):
        ledger.write([accept("Is vegan.")], source="remember", at=AT)
    assert user(vault).read_bytes() == content
    assert ledger.changes() == ()
    [done] = ledger.write([accept("x y", notebook="MEMORY.md")], source="remember", at=AT)
    assert isinstance(done, Change)
    assert list(vault.folder.glob(".*")) == []


def test_a_read_only_notebook_is_told(ledger: Ledger, vault: Vault) -> None:
    """A file that the user made read-only is not replaced."""
    wrote(ledger, "Likes tea.")
    user(vault).chmod(0o444)
    with pytest.raises(NotebookUnwritable, match=r"is read-only.*Allow writing"):
        ledger.write([accept("Is vegan.")], source="remember", at=AT)
    assert ledger.entries()["USER.md"] == ("Likes tea.",)
    assert user(vault).stat().st_mode & 0o777 == 0o444


def test_a_notebook_that_leads_out_of_the_vault_is_told(
    ledger: Ledger, vault: Vault, tmp_path: Path
) -> None:
    """A link inside the vault is followed and stays one; one that leads out is not written."""
    (tmp_path / "out.md").write_text("- a\n", "utf-8")
    user(vault).symlink_to(tmp_path / "out.md")
    with pytest.raises(NotebookUnwritable, match="outside of the vault"):
        ledger.write([accept("Is vegan.")], source="remember", at=AT)
    user(vault).unlink()
    inside = vault.path / "About me.md"
    inside.write_text("- a\n", "utf-8")
    user(vault).symlink_to(inside)
    wrote(ledger, "Is vegan.")
    assert user(vault).is_symlink()
    assert inside.read_text("utf-8") == "- a\n- Is vegan.\n"
    assert {path.name for path in vault.path.iterdir()} == {"society", "About me.md"}


def test_a_vault_that_is_gone_is_told(ledger: Ledger, vault: Vault) -> None:
    """A drive that was taken away is no deleted notebook."""
    wrote(ledger, "Likes tea.")
    vault.path.rename(vault.path.with_name("away"))
    acts: list[Callable[[], object]] = [
        lambda: ledger.write([accept("Is vegan.")], source="remember", at=AT),
        lambda: ledger.notice_edits(AT),
        lambda: ledger.forget("tea", at=AT),
    ]
    for act in acts:
        with pytest.raises(VaultMissing, match="isn't there"):
            act()
    vault.path.with_name("away").rename(vault.path)
    assert ledger.notice_edits(LATER) == ()


@contextmanager
def small_disk() -> Iterator[None]:
    """No file may grow beyond 4,000 bytes: what a full disk does, without one.

    Never around more than the act: the report of the tests may be such a file, too.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_loses_nothing(ledger: Ledger, vault: Vault) -> None:
    """The write is refused with a sentence; page, log and lock are as before."""
    done: list[str] = []

    def write_on() -> None:
        for number in range(100):
            wrote(ledger, f"{number} is a number.")
            done.append(f"{number} is a number.")

    with small_disk(), pytest.raises(StateUnwritable, match="can't be written"):
        write_on()
    assert len(done) > 5
    assert ledger.entries()["USER.md"] == tuple(done)
    assert [change.new for change in ledger.changes()] == done
    assert {path.name for path in vault.folder.iterdir()} == {"USER.md", "changes.jsonl"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't tell who has it open")
def test_a_program_that_holds_the_page_open_is_told(ledger: Ledger, vault: Vault) -> None:
    """What was to be written is kept, and is on the page at the next look."""
    wrote(ledger, "Likes tea.")
    with user(vault).open("ab") as held:
        with pytest.raises(StateUnwritable, match="Close it there"):
            ledger.write([accept("Is vegan.")], source="remember", at=AT)
        held.write(b"- Typed all the time.\n")
    ledger.notice_edits(LATER)
    assert ledger.entries()["USER.md"] == ("Likes tea.", "Typed all the time.", "Is vegan.")


def test_copies_of_a_sync_program_are_not_touched(ledger: Ledger, vault: Vault) -> None:
    """They are neither read nor written."""
    copy = user(vault).with_name("USER (conflicted copy 2026-12-01).md")
    copy.write_text("- Is a pilot.\n", "utf-8")
    wrote(ledger, "Is vegan.")
    assert ledger.entries()["USER.md"] == ("Is vegan.",)
    assert copy.read_text("utf-8") == "- Is a pilot.\n"


def test_a_vault_copied_in_the_middle_of_a_write_is_finished_once(
    ledger: Ledger, vault: Vault, tmp_path: Path
) -> None:
    """A logged change is applied at the next look; one that the user took back is not."""
    wrote(ledger, "Likes tea.")
    page = user(vault)
    before = page.read_bytes()
    wrote(ledger, "Is vegan.")
    after = page.read_bytes()
    batch = ledger.changes()[-1].id
    part = page.with_name(f".USER.md.{batch}.{short_digest(before)}.{short_digest(after)}.part")
    for left, on_page, expected in (
        (after, before, ("Likes tea.", "Is vegan.")),  # died before the page
        (before, after, ("Likes tea.", "Is vegan.")),  # died behind it
        (None, before, ("Likes tea.",)),  # the user took it back
    ):
        copy = Vault(tmp_path / "copy")
        shutil.copytree(vault.path, copy.path)
        user(copy).write_bytes(on_page)
        if left is not None:
            (copy.folder / part.name).write_bytes(left)
        again = Ledger(copy, tmp_path / "state")
        again.notice_edits(LATER)
        assert again.entries()["USER.md"] == expected
        assert list(copy.folder.glob(".*")) == []
        shutil.rmtree(copy.path)


def test_a_save_that_crossed_a_crash_is_kept(ledger: Ledger, vault: Vault) -> None:
    """The user's save that the new page took the place of is the page again, with the change."""
    wrote(ledger, "Likes tea.")
    page = user(vault)
    before = page.read_bytes()
    wrote(ledger, "Is vegan.")
    after = page.read_bytes()
    batch = ledger.changes()[-1].id
    part = page.with_name(f".USER.md.{batch}.{short_digest(before)}.{short_digest(after)}.part")
    part.write_bytes(before + b"- Saved in that moment.\n")
    ledger.notice_edits(LATER)
    assert ledger.entries()["USER.md"] == ("Likes tea.", "Saved in that moment.", "Is vegan.")
    part.write_bytes(before + b"- Saved in another moment.\n")
    page.write_bytes(page.read_bytes() + b"- And later.\n")
    ledger.notice_edits(LATER)
    assert ledger.entries()["USER.md"][-1] == "And later."
    aside = page.with_name("USER (saved meanwhile).md")
    assert b"- Saved in another moment.\n" in aside.read_bytes()
    assert any("USER (saved meanwhile).md" in each for each in vault.conflict_copies())


# What it survives (bench/durability.py, short) ----------------------------------------


def test_killed_at_any_call_no_acknowledged_write_is_lost(tmp_path: Path) -> None:
    """None is lost, torn or doubled, and no write is taken for the user's."""
    found = crashes(40, tmp_path)
    assert (found.killed, found.faults) == (40, [])


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    """Each sentence of each process is there once (m19)."""
    assert writers(4, 5, new_vault(tmp_path / "vault")) == []


def test_no_save_of_an_editor_is_overwritten(tmp_path: Path) -> None:
    """Whatever style it saves in, and between which system calls (m17)."""
    found = crossings(60, tmp_path)
    assert found.crossed > 20
    assert found.faults == []


# docs/jarvis-learning.md --------------------------------------------------------------


def _documented() -> str:
    text = (Path(__file__).parents[3] / "docs" / "jarvis-learning.md").read_text("utf-8")
    section = text.partition("\n## Pages, the log, undo and forget\n")[2]
    return section.partition("\n## ")[0]


def test_the_formats_are_documented(ledger: Ledger, vault: Vault, tmp_path: Path) -> None:
    """The lines in the documentation have the keys that are on disk."""
    documented = [json.loads(line) for line in _documented().splitlines() if line.startswith('{"')]
    full(ledger)
    ledger.write([accept("Is vegan.")], source="review", at=AT, key="k")
    ledger.forget("00", at=AT)
    ledger.write([accept("Has a dog.")], source="review", at=AT, key="k2")
    lines = (vault.folder / "changes.jsonl").read_text("utf-8").splitlines()
    waiting = json.loads((tmp_path / "state" / "waiting.jsonl").read_text("utf-8"))
    assert documented[0].keys() == json.loads(lines[-1]).keys()
    assert documented[1]["waiting"].keys() == waiting["waiting"].keys()
    assert documented[1]["waiting"]["accepted"].keys() == waiting["waiting"]["accepted"].keys()
    assert documented[2]["outcome"] in get_args(Outcome)


def test_rules_and_limits_are_documented() -> None:
    """Each rule that keeps a change from being written, each source and limit is named."""
    text = _documented()
    room = Path(__file__).parents[3] / "memory" / "notebooks"
    code = "".join((room / f"{name}.py").read_text("utf-8") for name in ("ledger", "planning"))
    rules = set(re.findall(r'"(L\d\.\d)"', code))
    assert rules == set(re.findall(r"^\| (L\d\.\d) \|", text, re.MULTILINE))
    for said in (
        f"{NOTEBOOKS_CHARS:,} characters",
        f"more than {ENTRY_CHARS} characters",
        f"{ledger_module._LOCK_TIMEOUT_S:.0f} seconds",
        f"{files._FILE_BYTES // 1024} KiB",
        *get_args(Source),
    ):
        assert said in text


# An editor of our own -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        (None, "- Likes tea.\n", b"- Likes tea.\n"),
        (b"", "- Likes tea.", b"- Likes tea."),
        (b"# Me\r\n- a cat\r\n", "# Me\n- a dog\n", b"# Me\r\n- a dog\r\n"),
        (b"\xef\xbb\xbf- a cat\n", "- a dog\n", b"\xef\xbb\xbf- a dog\n"),
    ],
    ids=["no file", "empty", "line ends of Windows", "a byte order mark"],
)
def test_own_edit(
    ledger: Ledger, vault: Vault, before: bytes | None, text: str, after: bytes
) -> None:
    """What the user saves on the page is the file, with the file's own line ends, and is logged."""
    path = user(vault)
    if before is not None:
        path.write_bytes(before)
    ledger.notice_edits(AT)
    seen = ledger.book("USER.md").digest
    logged = ledger.save("USER.md", text, seen=seen, at=LATER)
    assert path.read_bytes() == after
    assert [each.source for each in logged] == ["user"]
    assert ledger.changes()[-1].new in ("Likes tea.", "a dog")
    assert [each.name for each in path.parent.iterdir() if each.suffix == ".part"] == []


def test_own_edit_of_another_page(ledger: Ledger, vault: Vault) -> None:
    """An edit from outside is never overwritten: whoever saves on top of it gets to see it."""
    path = user(vault)
    path.write_text("- a cat\n")
    seen = ledger.book("USER.md").digest
    path.write_text("- two cats\n")
    with pytest.raises(NotebookChanged) as fault:
        ledger.save("USER.md", "- a dog\n", seen=seen, at=LATER)
    assert fault.value.text == "- two cats\n"
    assert path.read_text() == "- two cats\n"
    ledger.save("USER.md", "- two cats\n- a dog\n", seen=fault.value.digest, at=LATER)
    assert path.read_text() == "- two cats\n- a dog\n"


def test_a_giant_page_is_shown_and_not_edited(ledger: Ledger, vault: Vault) -> None:
    """Of ten megabytes the beginning is shown, and saving says what to do."""
    path = user(vault)
    path.write_text("- a line that is like the others\n" * 320_000)
    book = ledger.book("USER.md")
    assert 0 < len(book.page.text) <= 256 * 1024
    assert book.digest == ""
    assert "Shorten it." in book.unwritable
    with pytest.raises(NotebookUnwritable, match="Shorten it"):
        ledger.save("USER.md", "- short\n", seen="", at=LATER)
    assert path.stat().st_size > 10_000_000
    path.write_text("- short\n")
    seen = ledger.book("USER.md").digest
    with pytest.raises(NotebookUnwritable, match="Shorten it"):
        ledger.save("USER.md", "- x\n" * 100_000, seen=seen, at=LATER)
    assert path.read_text() == "- short\n"
