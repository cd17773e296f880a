"""What a caller of memory can meet.

MemoryFault
├── VaultMissing         the vault is not a folder, or may not be read
├── StateUnwritable      the state folder can't be written: full disk, no permission
├── ConversationInUse    another process holds this conversation
├── AlreadyWatching      another process watches with this state
├── NotebookUnwritable   a notebook can't be changed as it is: read-only, no UTF-8, no text
├── NotebookChanged      a notebook was edited elsewhere while somebody edited it here
├── NoSuchChange         no change with this id, no entry like this text
│   └── AmbiguousEntry   several entries are like this text
├── NoSuchLesson         no lesson, or several, with this id
├── WipeRefused          somebody talks, or another process uses what is to be wiped
└── ModelUnavailable     the background model gave no answer

Each message says what happened and what to do; it is shown to the user as it is.
"""

from __future__ import annotations


class MemoryFault(Exception):
    """The world failed; the message is for the user."""


class VaultMissing(MemoryFault):
    pass


class StateUnwritable(MemoryFault):
    pass


class ConversationInUse(MemoryFault):
    pass


class AlreadyWatching(MemoryFault):
    pass


class NotebookUnwritable(MemoryFault):
    pass


class NotebookChanged(MemoryFault):
    """`text` is what the notebook holds now, `digest` its name."""

    def __init__(self, name: str, text: str, digest: str) -> None:
        super().__init__(
            f"{name} was changed elsewhere while you edited it here. Nothing was overwritten: "
            "look at both, then save again."
        )
        self.text = text
        self.digest = digest


class NoSuchChange(MemoryFault):
    pass


class AmbiguousEntry(NoSuchChange):
    """`entries` are the ones that `text` could mean."""

    def __init__(self, text: str, entries: tuple[str, ...]) -> None:
        listed = "; ".join(f"“{entry}”" for entry in entries[:8])
        more = f"; and {len(entries) - 8} more" if len(entries) > 8 else ""
        super().__init__(
            f"{len(entries)} entries are like “{text}”: {listed}{more}. Say more words of the one "
            "that you mean."
        )
        self.entries = entries


class NoSuchLesson(MemoryFault):
    """`found` is how many lessons the id could mean."""

    def __init__(self, written: str, found: int) -> None:
        none = (
            f"There is no lesson {written}: `jarvis lessons` and `jarvis lessons --forgotten` "
            "show the ids."
        )
        several = (
            f"{found} lessons begin with {written}. Give more of the id: `jarvis lessons` and "
            "`jarvis lessons --forgotten` show the ids."
        )
        super().__init__(several if found else none)
        self.found = found


class WipeRefused(MemoryFault):
    pass


class ModelUnavailable(MemoryFault):
    """`retry_after_s` is how long the provider asks to be left alone, where it says so."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
