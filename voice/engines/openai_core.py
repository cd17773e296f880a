"""OpenAI's Realtime protocol: what a session's decisions are in its events, and back.

Order and names as documented: tools, then instructions, then items are what the service
caches, so tools and instructions are sent once a session and only items are appended.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from memory.records import Language, Prefix, Turn
from voice.engines.realtime_core import MOST_TOOL_ROUNDS, RealtimeCore
from voice.engines.realtime_errors import OPENAI, Judgement, SessionRefused
from voice.engines.realtime_records import Answer, Event, GiveUp, Lose, Note, Question, Usage
from voice.engines.realtime_seed import Said, ToolUse
from voice.engines.realtime_sound import ANSWER_HZ, Delete, Item, Truncate, UserTurn, cut
from voice.heard import heard_text
from voice.tools import Tool

_MIN_COMMIT_MS = 100  # the server refuses less


def settings(prefix: Prefix, *, model: str, voice: str, tools: Sequence[Tool]) -> Event:
    """`session.update`, once a session: byte for byte the same while the notebooks are."""
    sound = {"type": "audio/pcm", "rate": ANSWER_HZ}
    return {
        "type": "session.update",
        "event_id": "settings",
        "session": {
            "type": "realtime",
            "model": model,
            "output_modalities": ["audio"],
            "tools": [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                }
                for tool in tools
            ],
            "instructions": prefix.text,
            "audio": {
                "input": {"format": sound, "turn_detection": None},
                "output": {"format": sound, "voice": voice},
            },
        },
    }


class OpenAIGreeting:
    """The beginning of a session, until it is as we need it."""

    def __init__(self, update: Event) -> None:
        self._update = update
        self.expires_at: float | None = None
        """When the service will end the session, in seconds since 1970, where it says so."""

    def first(self) -> list[Event]:
        return []  # the server speaks first

    def answer(self, event: Event) -> list[Event] | None:
        """What to send next, or None when the session is open. Raises SessionRefused."""
        match event.get("type"):
            case "session.created":
                expires_at = event["session"].get("expires_at")
                self.expires_at = float(expires_at) if expires_at else None
                return [self._update]
            case "session.updated":
                return None
            case "error":
                error = event["error"]
                judgement = OPENAI.judge(error.get("code"), error.get("type"))
                if judgement.verdict == "harmless":
                    # What is harmless later is not so now: the session isn't as we need it.
                    message = error.get("message")
                    judgement = Judgement("fatal", f"It refused the session's settings: {message}")
                raise SessionRefused(judgement)
            case _:
                return []


class OpenAICore(RealtimeCore):
    rate_hz = ANSWER_HZ

    def __init__(self, *, prefix: Prefix, language: Language, earlier: Sequence[Turn] = ()) -> None:
        super().__init__(prefix=prefix, language=language, earlier=earlier)

    # What the server says -------------------------------------------------------------------

    def received(self, event: Event, now_s: float) -> None:
        match event.get("type"):
            case "response.output_audio.delta":
                self._on_sound(event, now_s)
            case "response.output_audio_transcript.delta":
                self._on_words(event, now_s)
            case "response.created":
                self._on_created(event["response"]["id"])
            case "response.output_item.done":
                self._on_item(event)
            case "response.done":
                self._on_done(event["response"])
            case "error":
                self._on_error(event["error"])
            case _:
                pass

    def _on_created(self, response: str) -> None:
        answer = self._answer
        if answer is not None and answer.response is None and not answer.waits_for_tools:
            answer.response = response
            for old in [old for old in self._unkept if not old.alive and old is not answer]:
                self._settle(old, 0)  # interrupted, and nobody told that a word was heard
                if old in self._unkept:
                    self._unkept.remove(old)
            return
        self._do(Note("a response that nobody asked for is cancelled"))
        self._send({"type": "response.cancel", "response_id": response})

    def _on_words(self, event: Event, now_s: float) -> None:
        answer = self._answer_of(event["response_id"])
        if answer is not None:
            _item_of(answer, event["item_id"], event["content_index"])
            self._words(answer, str(event["delta"]), now_s)

    def _on_sound(self, event: Event, now_s: float) -> None:
        sound = base64.b64decode(event["delta"])
        item, index = str(event["item_id"]), int(event["content_index"])
        answer = self._answer_of(event["response_id"])
        if answer is not None:
            self._sound(answer, _item_of(answer, item, index), sound, now_s)

    def _on_item(self, event: Event) -> None:
        item = event["item"]
        if item.get("type") != "function_call":
            return
        call_id, name = str(item["call_id"]), str(item["name"])
        answer = self._answer_of(event["response_id"])
        if answer is not None:
            self._tool_called(answer, call_id, name, str(item.get("arguments") or "{}"))

    def _on_done(self, response: Event) -> None:
        answer = self._answer
        if answer is not None and answer.response == response["id"]:
            usage = _usage_of(response)
            self._arm("answer", None)
            self._do(
                Note(
                    f"response {response.get('status')}: {usage.cached_tokens} of "
                    f"{usage.prompt_tokens} prompt tokens cached, prefix {self.prefix.sha256}"
                )
            )
            answer.response = None
            if answer.alive and answer.calls:
                self._after_tools(answer)
                return
            self._answer = None
            self._forget_notes(answer)
            self._answer_ended(answer, response, usage)
        self._ask_what_is_owed()

    def _answer_ended(self, answer: Answer, response: Event, usage: Usage) -> None:
        details = response.get("status_details") or {}
        error = details.get("error") or {}
        judgement = OPENAI.judge(error.get("code"), error.get("type"))
        if not answer.alive:
            self._forget_unheard(answer, response)
        elif judgement.verdict == "fatal":
            self._end(answer, usage) if answer.begun else None
            self._do(GiveUp(judgement.text))
        elif answer.begun:
            self._end(answer, usage)
        elif not self._owed:
            self._ask_later(
                judgement.text
                or "The voice service gave an answer without sound. Say it once more."
            )

    def _on_error(self, error: Event) -> None:
        code, about = error.get("code"), error.get("event_id")
        judgement = OPENAI.judge(code, error.get("type"))
        self._do(Note(f"the server reports {code or error.get('type')}: {judgement.verdict}"))
        answer = self._answer
        refused = answer is not None and (
            about == answer.ask_id
            or (answer.response is None and not about and judgement.verdict != "harmless")
        )
        if code == "response_cancel_not_active":
            if answer is not None and not answer.alive:
                self._answer = None
                self._ask_what_is_owed()
        elif code == "conversation_already_has_active_response":
            if answer is not None and answer.response is None:
                # Another response runs: ours is owed once it is done. If that never
                # comes, the timer stands.
                self._answer = None
                self._owed = True
        elif judgement.verdict == "fatal":
            self._do(GiveUp(judgement.text))
        elif judgement.verdict == "reconnect":
            self._do(Lose())
        elif refused and answer is not None:
            self._answer = None
            self._disarm()
            if answer.begun:
                self._end(answer, Usage())
            else:
                message = error.get("message")
                self._ask_later(judgement.text or f"The voice service refused to answer: {message}")

    # What we say ----------------------------------------------------------------------------

    def _turn_sound(self, turn: UserTurn, sound: bytes, *, last: bool = False) -> None:
        out = turn.resampled(sound, last=last)
        if out:
            turn.opened = True
            audio = base64.b64encode(out).decode()
            self._send({"type": "input_audio_buffer.append", "audio": audio})

    def _turn_dropped(self, turn: UserTurn) -> None:
        if turn.opened:
            self._send({"type": "input_audio_buffer.clear"})

    def _hand_in(self, question: Question, turn: UserTurn | None) -> None:
        if turn is not None:
            self._turn_sound(turn, b"", last=True)
            if turn.samples * 1000 >= _MIN_COMMIT_MS * ANSWER_HZ:
                self._send({"type": "input_audio_buffer.commit", "event_id": self._id("commit")})
                return
            self._turn_dropped(turn)
        self._tell("user", question.text)

    def _request(self, answer: Answer) -> None:
        if answer.notes is not None and answer.notes_item is None:
            answer.notes_item = self._tell("system", answer.notes.block)
        self._send({"type": "response.create", "event_id": answer.ask_id})

    def _forget_notes(self, answer: Answer) -> None:
        item, answer.notes_item = answer.notes_item, None
        if item is not None and answer.session == self.session:
            self._send(_delete(item))

    def _cancel(self, answer: Answer) -> None:
        if answer.session != self.session:
            return
        if answer.response is None and answer.calls:
            # Between two responses nothing runs: there is nothing to cancel or to wait for.
            self._answer = None
            self._forget_notes(answer)
            self._arm("answer", None)
            return
        cancel: dict[str, Any] = {"type": "response.cancel", "event_id": self._id("cancel")}
        self._send(cancel)

    def _cut(self, answer: Answer, played_samples: int) -> None:
        for step in cut(answer.items, played_samples, complete=answer.complete):
            match step:
                case Truncate(item, content_index, audio_end_ms):
                    self._send(
                        {
                            "type": "conversation.item.truncate",
                            "item_id": item,
                            "content_index": content_index,
                            "audio_end_ms": audio_end_ms,
                        }
                    )
                case Delete(item):
                    self._send(_delete(item))
        told = answer.items[0] if answer.items and answer.items[0].words else None
        if told is not None and 0 < played_samples < told.samples:
            # It stands there as text, which can't be cut: the words that were heard instead.
            self._tell("assistant", heard_text(answer.alignment.pieces, played_samples))

    def _forget_unheard(self, answer: Answer, response: Event) -> None:
        """Items of a cancelled answer of which no sound was passed on."""
        output = response.get("output") or []
        named = [str(item["id"]) for item in output if item.get("type") == "message"]
        known = [item.id for item in answer.items if not item.words]
        unheard = (
            [item for item in named if item not in known]
            if answer.begun
            else list(dict.fromkeys([*named, *known]))
        )
        for item in unheard:
            self._send(_delete(item))

    def _tell(self, role: str, text: str) -> str:
        kind = "output_text" if role == "assistant" else "input_text"
        content = [{"type": kind, "text": text}]
        return self._create({"type": "message", "role": role, "content": content})

    def _create(self, item: Mapping[str, Any]) -> str:
        name = self._id("jarvis")
        self._send({"type": "conversation.item.create", "item": {"id": name, **item}})
        return name

    def _introduce(self, said: Sequence[Said | ToolUse]) -> None:
        for each in said:
            if isinstance(each, ToolUse):
                self._tell_use(each)
            else:
                self._tell(each.speaker, each.text)

    # Tools ----------------------------------------------------------------------------------

    def _tell_result(self, use: ToolUse) -> None:
        output = {"type": "function_call_output", "call_id": use.call_id, "output": use.output}
        self._create(output)

    def _tell_use(self, use: ToolUse) -> None:
        self._create(
            {
                "type": "function_call",
                "call_id": use.call_id,
                "name": use.name,
                "arguments": use.arguments,
            }
        )
        self._tell_result(use)

    def _after_tools(self, answer: Answer) -> None:
        if answer.response is not None or answer.waits_for_tools or answer is not self._answer:
            return
        answer.calls.clear()
        answer.rounds += 1
        if answer.rounds > MOST_TOOL_ROUNDS:
            self._answer = None
            self._forget_notes(answer)
            if answer.begun:
                self._end(answer, Usage())
            else:
                self._fail("The model asked for its tools again and again, and gave no answer.")
            return
        answer.ask_id = self._id("ask")
        self._request(answer)
        self._arm("answer", self.answer_s)


def _delete(item: str) -> Event:
    return {"type": "conversation.item.delete", "item_id": item}


def _item_of(answer: Answer, item: str, content_index: int) -> Item:
    for known in answer.items:
        if known.id == item:
            return known
    answer.items.append(Item(item, content_index))
    return answer.items[-1]


def _usage_of(response: Event) -> Usage:
    usage = response.get("usage") or {}
    details = usage.get("input_token_details") or {}
    return Usage(usage.get("input_tokens"), details.get("cached_tokens"))
