"""The door: what voice knows of memory, besides `memory.records` and `memory.errors`.

A name is imported when it is first used: a command that only looks into a file does not wait
for the rules of three languages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.asking import Alone as Alone
    from memory.conversations import Conversation as Conversation
    from memory.door import Memory as Memory
    from memory.embedding import Vectors as Vectors
    from memory.event_records import Event as Event
    from memory.event_records import Kind as EventKind
    from memory.event_records import Refused as Refused
    from memory.events import EventLog as EventLog
    from memory.figures import LatencySpread as LatencySpread
    from memory.figures import LatencySummary as LatencySummary
    from memory.figures import TokenSummary as TokenSummary
    from memory.figures import latency as latency_figures
    from memory.figures import tokens as token_figures
    from memory.index import Hit as Hit
    from memory.languages.dates.naming import day_named as day_named
    from memory.languages.folding import fold as fold
    from memory.lessons.records import ReflectReport as ReflectReport
    from memory.llm.at_hand import Surroundings as Surroundings
    from memory.llm.background import Background as Background
    from memory.llm.choose import Engine as TalksTo
    from memory.llm.choose import LocalModel as LocalModel
    from memory.llm.choose import NoModel as NoModel
    from memory.llm.choose import Wishes as BackgroundWishes
    from memory.llm.protocol import Billing as Billing
    from memory.llm.protocol import Llm as Llm
    from memory.llm.protocol import Question as Question
    from memory.llm.protocol import Reply as Reply
    from memory.llm.providers import providers as providers
    from memory.llm.recorded import RecordedReviewer as RecordedReviewer
    from memory.notebook_views import NotebookPage as NotebookPage
    from memory.notebooks.evidence import is_said as is_said
    from memory.notebooks.filter_line import filtered as filtered
    from memory.notebooks.judge import judged as judged
    from memory.notes.context import SMALL_EXTRACTS_CHARS as SMALL_EXTRACTS_CHARS
    from memory.notes.context import block as notes_block
    from memory.notes.context import fitting as fitting
    from memory.prompts import prompt as prompt
    from memory.remembering import OWN_WORDS as OWN_WORDS
    from memory.remembering import asks_to_remember as asks_to_remember
    from memory.remembering import only_remembering as only_remembering
    from memory.requests import Request as Request
    from memory.requests import RequestKind as RequestKind
    from memory.requests import picked as picked
    from memory.requests import requested as requested
    from memory.requests import speaks_of_forgetting as speaks_of_forgetting
    from memory.requests import speaks_of_parting as speaks_of_parting
    from memory.reviewing import Reviewed as Reviewed
    from memory.reviews import Waiting as WaitingReview
    from memory.session import Session as Session
    from memory.task import ReviewReport as ReviewReport
    from memory.thinking.ledger import Thoughts as Thoughts
    from memory.thinking.thinking import Caps as ThinkCaps
    from memory.thinking.thinking import Thinked as Thinked
    from memory.threads import brief_turns as brief_turns
    from memory.warming import warm as warm
    from memory.watching.status import Seen as Seen
    from memory.watching.status import WatchStatus as WatchStatus
    from memory.watching.tree import scan as scan
    from memory.wipe import WipeItem as WipeItem
    from memory.wipe import WipeReport as WipeReport

_WHERE = {
    "OWN_WORDS": ("memory.remembering", "OWN_WORDS"),
    "Alone": ("memory.asking", "Alone"),
    "Background": ("memory.llm.background", "Background"),
    "BackgroundWishes": ("memory.llm.choose", "Wishes"),
    "Billing": ("memory.llm.protocol", "Billing"),
    "Conversation": ("memory.conversations", "Conversation"),
    "Event": ("memory.event_records", "Event"),
    "EventKind": ("memory.event_records", "Kind"),
    "EventLog": ("memory.events", "EventLog"),
    "Hit": ("memory.index", "Hit"),
    "LatencySpread": ("memory.figures", "LatencySpread"),
    "LatencySummary": ("memory.figures", "LatencySummary"),
    "Llm": ("memory.llm.protocol", "Llm"),
    "LocalModel": ("memory.llm.choose", "LocalModel"),
    "Memory": ("memory.door", "Memory"),
    "NoModel": ("memory.llm.choose", "NoModel"),
    "NotebookPage": ("memory.notebook_views", "NotebookPage"),
    "Question": ("memory.llm.protocol", "Question"),
    "RecordedReviewer": ("memory.llm.recorded", "RecordedReviewer"),
    "Refused": ("memory.event_records", "Refused"),
    "Reply": ("memory.llm.protocol", "Reply"),
    "Request": ("memory.requests", "Request"),
    "RequestKind": ("memory.requests", "RequestKind"),
    "ReflectReport": ("memory.lessons.records", "ReflectReport"),
    "ReviewReport": ("memory.task", "ReviewReport"),
    "Reviewed": ("memory.reviewing", "Reviewed"),
    "Session": ("memory.session", "Session"),
    "Surroundings": ("memory.llm.at_hand", "Surroundings"),
    "TalksTo": ("memory.llm.choose", "Engine"),
    "TokenSummary": ("memory.figures", "TokenSummary"),
    "WipeItem": ("memory.wipe", "WipeItem"),
    "WipeReport": ("memory.wipe", "WipeReport"),
    "Vectors": ("memory.embedding", "Vectors"),
    "WaitingReview": ("memory.reviews", "Waiting"),
    "brief_turns": ("memory.threads", "brief_turns"),
    "day_named": ("memory.languages.dates.naming", "day_named"),
    "asks_to_remember": ("memory.remembering", "asks_to_remember"),
    "filtered": ("memory.notebooks.filter_line", "filtered"),
    "is_said": ("memory.notebooks.evidence", "is_said"),
    "judged": ("memory.notebooks.judge", "judged"),
    "latency_figures": ("memory.figures", "latency"),
    "token_figures": ("memory.figures", "tokens"),
    "picked": ("memory.requests", "picked"),
    "providers": ("memory.llm.providers", "providers"),
    "prompt": ("memory.prompts", "prompt"),
    "requested": ("memory.requests", "requested"),
    "speaks_of_forgetting": ("memory.requests", "speaks_of_forgetting"),
    "speaks_of_parting": ("memory.requests", "speaks_of_parting"),
    "only_remembering": ("memory.remembering", "only_remembering"),
    "SMALL_EXTRACTS_CHARS": ("memory.notes.context", "SMALL_EXTRACTS_CHARS"),
    "fold": ("memory.languages.folding", "fold"),
    "fitting": ("memory.notes.context", "fitting"),
    "notes_block": ("memory.notes.context", "block"),
    "ThinkCaps": ("memory.thinking.thinking", "Caps"),
    "Thinked": ("memory.thinking.thinking", "Thinked"),
    "Thoughts": ("memory.thinking.ledger", "Thoughts"),
    "WatchStatus": ("memory.watching.status", "WatchStatus"),
    "Seen": ("memory.watching.status", "Seen"),
    "scan": ("memory.watching.tree", "scan"),
    "warm": ("memory.warming", "warm"),
}

__all__ = [
    "OWN_WORDS",
    "SMALL_EXTRACTS_CHARS",
    "Alone",
    "Background",
    "BackgroundWishes",
    "Billing",
    "Conversation",
    "Event",
    "EventKind",
    "EventLog",
    "Hit",
    "LatencySpread",
    "LatencySummary",
    "Llm",
    "LocalModel",
    "Memory",
    "NoModel",
    "NotebookPage",
    "Question",
    "RecordedReviewer",
    "ReflectReport",
    "Refused",
    "Reply",
    "Request",
    "RequestKind",
    "ReviewReport",
    "Reviewed",
    "Seen",
    "Session",
    "Surroundings",
    "TalksTo",
    "ThinkCaps",
    "Thinked",
    "Thoughts",
    "TokenSummary",
    "Vectors",
    "WaitingReview",
    "WatchStatus",
    "WipeItem",
    "WipeReport",
    "asks_to_remember",
    "brief_turns",
    "day_named",
    "filtered",
    "fitting",
    "fold",
    "is_said",
    "judged",
    "latency_figures",
    "notes_block",
    "only_remembering",
    "picked",
    "prompt",
    "providers",
    "requested",
    "scan",
    "speaks_of_forgetting",
    "speaks_of_parting",
    "token_figures",
    "warm",
]


def __getattr__(name: str) -> Any:
    try:
        module, kept_as = _WHERE[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    found = globals()[name] = getattr(import_module(module), kept_as)
    return found
