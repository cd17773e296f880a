"""What a proposal may not be, whatever was said: checks of its form, each by itself."""

from __future__ import annotations

from collections.abc import Callable

from memory.languages import acts
from memory.languages.acts import read
from memory.notebooks import canonical
from memory.notebooks.case import Grounds, Refusal
from memory.notebooks.evidence import spoken_sentences
from memory.notebooks.limits import ENTRY_CHARS
from memory.notebooks.secrets import secret_in
from memory.records import Proposal

_STOPS = ".!?…"
AN_ORDER = "The text reads like an order, or lowers a guard."

FormCheck = Callable[[Proposal, Grounds], Refusal | None]


def whole(proposal: Proposal, grounds: Grounds) -> Refusal | None:
    """Add has a text, remove an entry, update both, and the entry is there."""
    if proposal.operation != "remove" and not (proposal.text or "").strip():
        return Refusal("L1.2", "The change has no new text.")
    if proposal.operation == "add":
        return None
    if not (proposal.entry or "").strip():
        return Refusal("L1.4", "The change does not name the entry it is about.")
    if entry_there(proposal, grounds) is None:
        return Refusal("L1.4", "There is no such entry: it was edited, or is gone.")
    if proposal.operation == "update" and same(proposal.entry or "", proposal.text or ""):
        return Refusal("L6.1", "The new text is the old one.")
    return None


def one_short_line(proposal: Proposal, _grounds: Grounds) -> Refusal | None:
    text = proposal.text or ""
    if any(letter in text for letter in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"):
        return Refusal("L5.4", "The text is more than one line.")
    if len(text.strip()) > ENTRY_CHARS or len(canonical.plain(text)) > ENTRY_CHARS:
        return Refusal("L5.4", f"The text is longer than {ENTRY_CHARS} characters.")
    if len(_sentences(text)) > 1:
        return Refusal("L1.2", "The text is more than one short sentence.")
    return None


def _sentences(text: str) -> list[str]:
    """The text's sentences; what a semicolon or a colon joins is one."""
    ends = [text[:end].rstrip()[-1:] for _, end in spoken_sentences(text, None)[:-1]]
    return [each for each in ends if each in _STOPS] + [text]


def nothing_hidden(proposal: Proposal, _grounds: Grounds) -> Refusal | None:
    for text in (proposal.text or "", proposal.quote):
        mark = canonical.hidden(text)
        if mark:
            return Refusal("L5.4", f"It holds a character that nobody sees ({mark}).")
    return None


def one_script(proposal: Proposal, _grounds: Grounds) -> Refusal | None:
    word = canonical.disguised(proposal.text or "")
    return (
        Refusal("L5.4", f"“{word}” is written in letters that look like others.") if word else None
    )


def no_markup(proposal: Proposal, _grounds: Grounds) -> Refusal | None:
    mark = canonical.breaks_out(proposal.text or "")
    return Refusal("L5.4", f"The text holds markup ({mark}).") if mark else None


def no_secret(proposal: Proposal, _grounds: Grounds) -> Refusal | None:
    kind = secret_in(proposal.text or "")
    return Refusal("L5.4", f"The text holds {kind}.") if kind else None


def no_order(proposal: Proposal, _grounds: Grounds) -> Refusal | None:
    """What is to be done, in the user's own words, may be a wish about manner: what was said
    tells (`bids_nothing`)."""
    text = proposal.text or ""
    if acts.does("order", text) or (acts.does("bidding", text) and not same(text, proposal.quote)):
        return Refusal("L5.4", AN_ORDER)
    return None


def says_something(proposal: Proposal, _grounds: Grounds) -> Refusal | None:
    if proposal.operation == "remove":
        return None
    reading = read(canonical.plain(proposal.text or ""), entry=True)
    if not any(word.key for word in reading.words) or reading.does("empty"):
        return Refusal("L1.1", "The text says nothing.")
    return None


def not_there_yet(proposal: Proposal, grounds: Grounds) -> Refusal | None:
    if proposal.operation == "remove":
        return None
    for entries in grounds.notebooks.values():
        for entry in entries:
            if proposal.operation == "update" and same(entry, proposal.entry or ""):
                continue
            if same(entry, proposal.text or ""):
                return Refusal("L6.1", "It is in the notebooks already.")
    return None


def same(one: str, other: str) -> bool:
    return canonical.bare(one) == canonical.bare(other)


def entry_there(proposal: Proposal, grounds: Grounds) -> str | None:
    """The entry as it stands in the notebook."""
    if proposal.operation == "add" or proposal.entry is None:
        return None
    wanted = canonical.plain(proposal.entry)
    for entry in grounds.notebooks.get(proposal.notebook, ()):
        if canonical.plain(entry) == wanted:
            return entry
    return None


FORM: tuple[FormCheck, ...] = (
    whole,
    one_short_line,
    nothing_hidden,
    one_script,
    no_markup,
    no_secret,
    no_order,
    says_something,
    not_there_yet,
)
