"""The one writer of the notebooks.

A write, under the lock of the folder, which holds across processes:

1. what a crash left half done is finished;
2. the user's own edits are logged;
3. the new page is written beside the old one, under a name of its own, and synced;
4. the change is appended to `changes.jsonl` and synced;
5. the new page takes the old one's place, if that is still what was read.

After a crash between 4 and 5 the staged page is still there: the change is applied then.
Once 5 is done it is gone, so a change that the user takes back by hand is never repeated.
When an editor saved in between, its save wins and the change is applied to that.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from memory import locks, store
from memory.errors import (
    AmbiguousEntry,
    NoSuchChange,
    NotebookChanged,
    NotebookUnwritable,
    StateUnwritable,
)
from memory.journal import book as journal
from memory.notebooks import changelog, edit
from memory.notebooks.changelog import Logged
from memory.notebooks.files import Book, Contents, NotebookFiles, Pages, digest, short_digest
from memory.notebooks.limits import NOTEBOOKS_CHARS
from memory.notebooks.named import named
from memory.notebooks.page import Page
from memory.notebooks.planned import NotWritten, Planned, Written
from memory.notebooks.waiting import Waiting, WaitingRoom
from memory.records import NOTEBOOKS, Accepted, Change, JournalEntry, Notebook, Removed, Source
from memory.vault import Vault

log = logging.getLogger(__name__)

_LINE_END = re.compile(r"\r\n|\r|\n")
_LOCK_TIMEOUT_S = 60.0
_ATTEMPTS = 8
_TITLE = {"L1.2": "No room in the notebooks yet", "L3.3": "Too long for the notebooks"}


@dataclass(frozen=True, slots=True)
class _Put:
    """A logged change, and whether it stands on its page: an edit in that moment wins."""

    change: Change
    in_effect: bool


class Ledger:
    """The notebooks of one vault, for any thread. Nothing is kept open between two calls.

    Raises VaultMissing, StateUnwritable and NotebookUnwritable, each a sentence for the
    user; then nothing was written, or what is in the log is applied at the next call.
    `limit_chars` is the room of both notebooks together.
    """

    def __init__(self, vault: Vault, state: Path, *, limit_chars: int = NOTEBOOKS_CHARS) -> None:
        self._vault = vault
        self._files = NotebookFiles(vault)
        self._path = vault.folder / "changes.jsonl"
        self._waiting = WaitingRoom(state)
        self._limit_chars = limit_chars
        self._read: tuple[bytes, tuple[Logged, ...]] = (b"", ())

    # Looking ---------------------------------------------------------------------------

    def entries(self) -> Mapping[Notebook, tuple[str, ...]]:
        return {
            name: tuple(entry.text for entry in self._vault.page(name).entries)
            for name in NOTEBOOKS
        }

    def removed(self) -> tuple[Removed, ...]:
        """What the user took out (forget, undo, by hand) and did not put back."""
        return tuple(changelog.removed(self.changes()).values())

    def changes(self) -> tuple[Change, ...]:
        """Oldest first. Lines of the log that can't be read are skipped."""
        return tuple(each.change for each in self._logged())

    def journal(self, entry: JournalEntry) -> None:
        """Into the journal, unless it stands there already. Raises StateUnwritable,
        NotebookUnwritable."""
        journal.append(self._vault, entry, once=True)

    def waiting(self) -> tuple[Waiting, ...]:
        """What waits for room, oldest first."""
        return self._waiting.waiting()

    def fullness(self) -> float:
        """1.0 is full: the characters of all entries of both notebooks, by the limit."""
        chars = sum(self._vault.page(name).entry_chars for name in NOTEBOOKS)
        return chars / self._limit_chars

    def why(self, text: str) -> tuple[Change, ...]:
        """The changes that led to the entries that `text` names, oldest first.

        Entries of now come first; failing these, any that the log knows. Raises
        NoSuchChange.
        """
        changes = self.changes()
        now = [each for texts in self.entries().values() for each in texts]
        logged = [each for change in changes for each in (change.old, change.new) if each]
        for texts in (now, logged):
            led = {
                change: None
                for each in named(text, texts)
                for change in changelog.history(changes, each)
            }
            if led:
                return tuple(sorted(led, key=changes.index))
        raise NoSuchChange(
            f"No change led to an entry like “{text}”. `jarvis changes` shows all of them; an "
            "entry that stands in no change is your own."
        )

    def _logged(self) -> tuple[Logged, ...]:
        with store.writing(self._path):
            content = self._path.read_bytes() if self._path.exists() else b""
        before, known = self._read
        cut = content.rfind(b"\n") + 1
        if content[:cut] != before or cut == 0:
            if before and content.startswith(before):
                more, damaged = changelog.parse(content[len(before) : cut])
                known = (*known, *more)
            else:
                found, damaged = changelog.parse(content[:cut])
                known = changelog.distinct(found)
            if damaged:
                log.warning("%d lines of %s could not be read", damaged, self._path)
            self._read = (content[:cut], known)
        # Behind the last newline stands what is being written, or was when its writer died.
        tail, _ = changelog.parse(content[cut:])
        return (*known, *tail)

    # Writing ---------------------------------------------------------------------------

    def save(self, name: Notebook, text: str, *, seen: str, at: datetime) -> tuple[Change, ...]:
        """Put the user's own `text` in the place of the page whose digest was `seen`, and log
        what they changed by it. Line ends and a byte order mark stay the file's.

        Raises NotebookChanged when the page is another by now: nothing is written then.
        """
        with self._locked(at):
            content = self._files.content(name, awaited=False)
            page = self._files.editable(name, content)
            if digest(content) != seen:
                raise NotebookChanged(name, page.text, digest(content))
            ends = "\r\n" if "\r\n" in page.text else "\n"
            own = replace(page, text=ends.join(_LINE_END.split(text)))
            edited = self._files.page(name, edit.as_bytes(own, content))
            part = self._files.stage(name, "edit", content, own)
            if not self._files.put(part, name, edited, before=content):
                store.remove(part)
                now = self._files.content(name, awaited=True)
                raise NotebookChanged(name, self._files.editable(name, now).text, digest(now))
            return self._log_edits(at)

    def write(
        self,
        accepted: Sequence[Accepted],
        *,
        source: Source,
        at: datetime,
        conversation: str | None = None,
        said_at: Mapping[int | None, datetime] | None = None,
        key: str | None = None,
        together: bool = False,
    ) -> tuple[Written, ...]:
        """Write what can be written; one result for each, in order.

        `said_at` says when the turn of an index was said. The same `key` again, after a
        crash, writes nothing twice and gives what was written. `together` writes all or
        none: of a merge, one half alone would lose something.
        """
        with self._locked(at):
            return self._write(
                accepted,
                source=source,
                at=at,
                conversation=conversation,
                said_at=said_at or {},
                key=key,
                together=together,
            )

    def undo(self, change_id: str, *, at: datetime) -> Change:
        """Reverse one change. An undo can be undone. Raises NoSuchChange."""
        with self._locked(at):
            changes = self.changes()
            change = next((each for each in reversed(changes) if each.id == change_id), None)
            if change is None:
                raise NoSuchChange(
                    f"There is no change {change_id}. `jarvis changes` shows them with their ids."
                )
            contents = self._contents()
            pages = self._files.pages_of(contents, {change.notebook})
            page = pages[change.notebook]
            if change.new is None:
                assert change.old is not None
                if edit.find(page, change.old):
                    raise NoSuchChange(
                        f"Change {change_id} is undone already: “{change.old}” stands in "
                        f"{change.notebook}."
                    )
                chars = sum(each.entry_chars for each in pages.values()) + len(change.old)
                if chars > self._limit_chars:
                    raise NoSuchChange(
                        f"There is no room for “{change.old}” ({chars:,} of "
                        f"{self._limit_chars:,} characters). Have something forgotten first, "
                        "then undo again."
                    )
            elif not edit.find(page, change.new):
                raise NoSuchChange(
                    f"“{change.new}” does not stand in {change.notebook} any more: it was edited "
                    "or taken out since, and the later edit counts. Nothing was changed."
                )
            planned = Planned(item=0, notebook=change.notebook, old=change.new, new=change.old)
            like = Change(
                id="",
                at=at,
                source="undo",
                notebook=change.notebook,
                old=None,
                new=None,
                reverses=change.id,
            )
            [undone] = self._put([planned], contents, pages, like=like)
            if not undone.in_effect:
                raise NoSuchChange(
                    f"{change.notebook} was edited in this very moment, and that edit counts. "
                    "Look at it, then undo again if you still want to."
                )
            return undone.change

    def forget(self, text: str, *, at: datetime) -> tuple[Change, ...]:
        """Take out the entry that `text` names, also where it waits for room.

        Raises NoSuchChange when there is none, AmbiguousEntry when there are several.
        """
        with self._locked(at):
            contents = self._contents()
            pages = self._files.pages_of(contents, ())
            waits = [each for each in self._waiting.waiting() if each.accepted.text]
            texts = [entry.text for page in pages.values() for entry in page.entries]
            texts += [each.accepted.text for each in waits if each.accepted.text]
            matching = named(text, texts)
            if not matching:
                raise NoSuchChange(
                    f"Nothing in the notebooks is like “{text}”. Say it in the entry's own words."
                )
            if len({changelog.removed_key(each) for each in matching}) > 1:
                raise AmbiguousEntry(text, tuple(matching))
            keys = {changelog.removed_key(each) for each in matching}
            gone = [
                Planned(item=0, notebook=name, old=entry.text, new=None)
                for name, page in pages.items()
                for entry in page.entries
                if changelog.removed_key(entry.text) in keys
            ]
            pages = self._files.pages_of(contents, {each.notebook for each in gone})
            dropped = [w for w in waits if changelog.removed_key(w.accepted.text or "") in keys]
            if not gone:  # it waits only; the log has to know all the same (m23)
                [first, *_] = dropped
                gone = [
                    Planned(
                        item=0, notebook=first.accepted.notebook, old=first.accepted.text, new=None
                    )
                ]
            like = Change(id="", at=at, source="forget", notebook="USER.md", old=None, new=None)
            done = self._put(gone, contents, pages, like=like)
            self._waiting.done([each.id for each in dropped], at, "dropped")
            return tuple(each.change for each in done)

    def place_waiting(self, at: datetime) -> tuple[Change, ...]:
        """Write what waited for room and fits now, oldest first."""
        if not self._waiting.waiting():
            return ()
        placed: list[Change] = []
        with self._locked(at):
            for waits in self._waiting.waiting():
                turn = waits.accepted.turn_index
                [result] = self._write(
                    [waits.accepted],
                    source=waits.source,
                    at=at,
                    conversation=waits.conversation,
                    said_at={turn: waits.said_at or waits.at},
                    key=f"waiting {waits.id}",
                    together=False,
                    keep=False,
                )
                if isinstance(result, Change):
                    placed.append(result)
                    self._waiting.done([waits.id], at, "written")
                elif not result.waits:
                    log.info("what waited as %s is not written: %s", waits.id, result.rule)
                    self._waiting.done([waits.id], at, "dropped")
        return tuple(placed)

    def notice_edits(self, at: datetime) -> tuple[Change, ...]:
        """Log what the user edited in the notebooks since the last call (m27).

        Also finishes what a crash left. Writes nothing where nothing was edited.
        """
        if not self._vault.folder.is_dir():
            self._vault.check(create=False)
            return ()
        if not self._edited() and not any(self._files.left(name) for name in NOTEBOOKS):
            return ()
        with self._locked(at, notice=False):
            return self._log_edits(at)

    def book(self, name: Notebook) -> Book:
        """The page as it is on disk, for somebody who wants to read or edit it."""
        return self._files.book(name)

    # Inside the lock -------------------------------------------------------------------

    @contextlib.contextmanager
    def _locked(self, at: datetime, *, notice: bool = True) -> Iterator[None]:
        self._vault.check(create=False)
        store.make_folder(self._vault.folder)
        with locks.locked(self._vault.folder / ".lock", _LOCK_TIMEOUT_S):
            for name in NOTEBOOKS:
                self._finish(name)
            if notice:
                self._log_edits(at)
            yield

    def _write(
        self,
        accepted: Sequence[Accepted],
        *,
        source: Source,
        at: datetime,
        conversation: str | None,
        said_at: Mapping[int | None, datetime],
        key: str | None,
        together: bool,
        keep: bool = True,
    ) -> tuple[Written, ...]:
        # The grammar of three languages comes with them, which readers do without.
        from memory.notebooks import planning, tidy

        logged = self._logged()
        results: dict[int, Written] = {
            each.item: each.change
            for each in logged
            if key is not None and each.key == key and each.item is not None
        }
        contents = self._contents()
        pages = self._files.pages_of(contents, {each.notebook for each in accepted})
        changes = [each.change for each in logged]
        texts = {name: tuple(e.text for e in page.entries) for name, page in pages.items()}
        standing = planning.Standing(
            gone=changelog.removed(changes),
            own={(each.notebook, each.text) for each in tidy.ours(changes, texts)},
            limit_chars=self._limit_chars,
        )
        after = dict(pages)
        planned: list[Planned] = []
        for item, each in enumerate(accepted):
            if item in results:
                continue
            plan = planning.planned(item, each, after, standing, said_at.get(each.turn_index, at))
            if isinstance(plan, NotWritten):
                results[item] = plan
            else:
                after[plan.notebook] = edit.changed(after[plan.notebook], plan.old, plan.new)
                planned.append(plan)
        if together and any(isinstance(result, NotWritten) for result in results.values()):
            for plan in planned:
                results[plan.item] = NotWritten(
                    accepted=accepted[plan.item],
                    rule="L6.2",
                    reason="Another change that belongs to it could not be written.",
                )
            planned = []
            after = pages
        done = self._put(
            planned,
            contents,
            pages,
            after=after,
            like=Change(
                id="",
                at=at,
                source=source,
                notebook="USER.md",
                old=None,
                new=None,
                conversation=conversation,
            ),
            accepted=accepted,
            said_at=said_at,
            key=key,
        )
        for plan, put in zip(planned, done, strict=True):
            results[plan.item] = (
                put.change
                if put.in_effect
                else NotWritten(
                    accepted=accepted[plan.item],
                    rule="L1.4",
                    reason=f"“{plan.old or plan.new}” was edited in this very moment, and that counts.",
                )
            )
        for item, result in results.items():
            if keep and isinstance(result, NotWritten) and result.waits:
                self._keep(accepted[item], result, source, at, conversation, said_at)
        return tuple(results[item] for item in range(len(accepted)))

    def _keep(
        self,
        accepted: Accepted,
        result: NotWritten,
        source: Source,
        at: datetime,
        conversation: str | None,
        said_at: Mapping[int | None, datetime],
    ) -> None:
        """Into the journal, and let it wait (L3.3)."""
        said = said_at.get(accepted.turn_index)
        self._waiting.add(accepted, source=source, at=at, conversation=conversation, said_at=said)
        assert accepted.text is not None
        entry = JournalEntry(at=said or at, title=_TITLE[result.rule], text=accepted.text)
        journal.append(self._vault, entry, once=True)

    def _put(
        self,
        planned: Sequence[Planned],
        contents: Contents,
        pages: Pages,
        *,
        like: Change,
        after: Pages | None = None,
        accepted: Sequence[Accepted] = (),
        said_at: Mapping[int | None, datetime] | None = None,
        key: str | None = None,
    ) -> tuple[_Put, ...]:
        """Log the changes, then put them on their pages."""
        if not planned:
            return ()
        logged: list[Logged] = []
        last = changelog.last_id(self._logged())
        for plan in planned:
            last = changelog.next_id(last, like.at)
            change = replace(like, id=last, notebook=plan.notebook, old=plan.old, new=plan.new)
            by = accepted[plan.item] if accepted else None
            if by is not None and by.quote:  # tidying has none: nothing was said for it
                change = replace(
                    change,
                    quote=by.quote,
                    turn_index=by.turn_index,
                    said_at=(said_at or {}).get(by.turn_index),
                )
            batch = logged[0].batch if logged else last
            item = plan.item if key is not None else None
            logged.append(Logged(change=change, batch=batch, key=key, item=item))
        if after is None:
            after = dict(pages)
            for plan in planned:
                after[plan.notebook] = edit.changed(after[plan.notebook], plan.old, plan.new)
        touched = [name for name in NOTEBOOKS if after[name] != pages[name]]
        staged = {}
        try:
            for name in touched:
                staged[name] = self._files.stage(name, logged[0].batch, contents[name], after[name])
            store.append_lines(self._path, [each.as_json() for each in logged])
        except StateUnwritable:
            for part in staged.values():
                with contextlib.suppress(StateUnwritable):
                    store.remove(part)
            raise
        crossed: set[Notebook] = set()
        for name, part in staged.items():
            if not self._files.put(part, name, after[name], before=contents[name]):
                after[name] = self._apply(name, logged, part)
                crossed.add(name)
        return tuple(
            _Put(
                each.change,
                each.change.notebook not in crossed
                or edit.is_in_effect(after[each.change.notebook], each.change.old, each.change.new),
            )
            for each in logged
        )

    def _apply(self, name: Notebook, logged: Sequence[Logged], part: Path) -> Page:
        """Put logged changes on a page that somebody has saved meanwhile.

        `part` is what was staged for it; it goes when the changes are on the page. An entry
        that was edited or is gone stays so, and the next look finds and logs that edit.
        """
        target = self._files.target(name)
        for _ in range(_ATTEMPTS):
            with store.writing(target):
                content, is_settled = store.read_settled(target, awaited=True)
            page = after = self._files.editable(name, content)
            for each in logged:
                if each.change.notebook == name:
                    after = edit.changed_if_it_can(after, each.change.old, each.change.new)
            if after == page:
                store.remove(part)
                return page
            staged = self._files.stage(name, logged[0].batch, content, after)
            if staged != part:
                store.remove(part)
                part = staged
            if is_settled and self._files.put(part, name, after, before=content):
                return after
        raise StateUnwritable(
            f"{target} is held open, or changed all the time, by another program. Close it there; "
            "what was to be written is in changes.jsonl, and Jarvis puts it into the page then."
        )

    def _finish(self, name: Notebook) -> None:
        """Finish what a crash left of a write."""
        target = self._files.target(name)
        for left in self._files.left(name):
            part = target.with_name(left[0])
            before, after = left["before"], left["after"]
            logged = [each for each in self._logged() if each.batch == left["batch"]]
            if left["half"]:
                store.remove(part)
                continue
            if store.is_same_file(part, target):
                store.remove(part)  # the page under its second name
                continue
            content = store.read_settled(part)[0] or b""
            if not logged or short_digest(content) == before:
                store.remove(part)  # never logged; or what the new page took the place of
                continue
            if short_digest(content) != after:  # a save that the new page took the place of
                now = store.read_settled(target)[0]
                if now is None or short_digest(now) != after:
                    shown = store.set_aside(part, target)
                    log.warning("a save that crossed an interrupted write is now %s", shown.name)
                    continue
                store.give_back(part, target, now)
            log.warning("a write that was interrupted is finished: %s", left["batch"])
            with contextlib.suppress(NotebookUnwritable):  # it stays until it can be
                self._apply(name, logged, part)

    def _contents(self) -> Contents:
        return self._files.contents(changelog.held(self.changes()))

    # The user's own edits --------------------------------------------------------------

    def _edited(self) -> tuple[changelog.Edit, ...]:
        known = changelog.held(self.changes())
        found: dict[Notebook, Sequence[str]] = {}
        for name in NOTEBOOKS:
            try:
                page = self._files.page(name, self._files.content(name, awaited=bool(known[name])))
            except (NotebookUnwritable, StateUnwritable):
                continue  # nobody knows what the user wrote there
            texts = [entry.text for entry in page.entries]
            if Counter(texts) != known[name]:
                found[name] = texts
        return changelog.edits(known, found)

    def _log_edits(self, at: datetime) -> tuple[Change, ...]:
        edited = self._edited()
        if not edited:
            return ()
        logged: list[Logged] = []
        last = changelog.last_id(self._logged())
        for each in edited:
            last = changelog.next_id(last, at)
            change = Change(
                id=last, at=at, source="user", notebook=each.notebook, old=each.old, new=each.new
            )
            logged.append(Logged(change=change, batch=logged[0].batch if logged else last))
        store.append_lines(self._path, [each.as_json() for each in logged])
        return tuple(each.change for each in logged)
