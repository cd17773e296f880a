"""What a realtime session's core leaves to the protocol of its service."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from voice.engines.realtime_records import Answer, Event, Question
from voice.engines.realtime_seed import Said, ToolUse
from voice.engines.realtime_sound import UserTurn


class Dialect(ABC):
    """Each decision, said in the service's own events."""

    @abstractmethod
    def received(self, event: Event, now_s: float) -> None:
        """An event of the present session. Raises KeyError, TypeError or ValueError when it is
        broken."""

    @abstractmethod
    def _turn_sound(self, turn: UserTurn, sound: bytes) -> None: ...

    @abstractmethod
    def _turn_dropped(self, turn: UserTurn) -> None: ...

    @abstractmethod
    def _hand_in(self, question: Question, turn: UserTurn | None) -> None: ...

    @abstractmethod
    def _request(self, answer: Answer) -> None:
        """Ask for a response. Where sound or words just handed in ask by themselves: nothing."""

    @abstractmethod
    def _cancel(self, answer: Answer) -> None: ...

    @abstractmethod
    def _cut(self, answer: Answer, played_samples: int) -> None: ...

    @abstractmethod
    def _tell(self, role: str, text: str) -> str:
        """One item of text; gives its id."""

    @abstractmethod
    def _introduce(self, said: Sequence[Said | ToolUse]) -> None: ...

    @abstractmethod
    def _tell_result(self, use: ToolUse) -> None:
        """To the session that asked for it."""

    @abstractmethod
    def _tell_use(self, use: ToolUse) -> None:
        """To a session that did not."""

    @abstractmethod
    def _after_tools(self, answer: Answer) -> None:
        """A result came. When all of a response that is over are there, the model goes on."""
