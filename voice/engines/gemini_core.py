"""Gemini Live's protocol: what a session's decisions are in its messages, and back.

BidiGenerateContent has no ids, no cancel and no truncation. A turn is an activity: it is told
when its first words are there, because an activity that was begun can't be taken back, and
everything the user did not say would be answered. Whose sound comes is known from the order:
`interrupted` or `turnComplete` ends what was generated before.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memory.records import Language, Prefix, Turn
from voice.engines.realtime_core import MOST_TOOL_ROUNDS, RealtimeCore
from voice.engines.realtime_records import Answer, Event, Note, Question, Renew, Timer, Usage
from voice.engines.realtime_seed import Said, ToolUse, seed
from voice.engines.realtime_sound import ANSWER_HZ, MICROPHONE_HZ, Alignment, Item, UserTurn
from voice.engines.told import told
from voice.heard import heard_text
from voice.tools import Tool

_TRIGGER_TOKENS = 25_600
_TARGET_TOKENS = 12_800


class GeminiSetup:
    """The beginning of a session: `setup`, then `setupComplete`. With a `handle` the service
    carries on with the session that it belongs to."""

    expires_at: float | None = None

    def __init__(
        self,
        prefix: Prefix,
        *,
        model: str,
        voice: str,
        tools: Sequence[Tool],
        handle: str | None = None,
    ) -> None:
        self._setup = {
            "setup": {
                "model": f"models/{model.removeprefix('models/')}",
                "generationConfig": {
                    "responseModalities": ["AUDIO"],
                    "speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": voice}}},
                },
                "tools": [{"functionDeclarations": [_declared(tool) for tool in tools]}]
                if tools
                else [],
                "systemInstruction": {"parts": [{"text": prefix.text}]},
                "realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}},
                "inputAudioTranscription": {},
                "outputAudioTranscription": {},
                "historyConfig": {"initialHistoryInClientContent": True},
                "sessionResumption": {"handle": handle} if handle else {},
                "contextWindowCompression": {
                    "triggerTokens": str(_TRIGGER_TOKENS),
                    "slidingWindow": {"targetTokens": str(_TARGET_TOKENS)},
                },
            }
        }

    def first(self) -> list[Event]:
        return [self._setup]

    def answer(self, event: Event) -> list[Event] | None:
        return None if "setupComplete" in event else []


def _declared(tool: Tool) -> Event:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
        # The model waits for the result, instead of talking on without it.
        "behavior": "BLOCKING",
    }


class GeminiCore(RealtimeCore):
    rate_hz = MICROPHONE_HZ
    answer_s = 6.0

    def __init__(self, *, prefix: Prefix, language: Language, earlier: Sequence[Turn] = ()) -> None:
        super().__init__(prefix=prefix, language=language, earlier=earlier)
        self._handle_knows = 0
        self._fresh_session()

    def _fresh_session(self) -> None:
        self._activity = False  # between activityStart and activityEnd
        self._running = False  # the service answers the last turn
        self._stale = 0  # so many of its turns are over for us, and not yet for it
        self._cut_off = False  # it said "interrupted", its turnComplete may follow
        self._triggered = False
        self._silent = True  # the service has said nothing in this session
        self._usage = Usage()

    # Sessions -----------------------------------------------------------------------------

    def _history(self, waiting: Sequence[str]) -> list[Said | ToolUse]:
        """What waits for an answer is said anew, not told. A resumed session knows the turns up to
        its handle."""
        del waiting
        known = self._handle_knows if self.handle is not None else 0
        unsaid = _without(self._turns, [question.text for question in self._questions])
        uses = [use for use in self._uses if use.after >= known]
        shifted = [replace(use, after=use.after - known) for use in uses]
        return seed(unsaid[known:], [], shifted)

    def forget_resumption(self) -> bool:
        handle, self.handle = self.handle, None
        return handle is not None

    def adopt(self, at: datetime, prefix: Prefix | None = None) -> None:
        self._fresh_session()
        super().adopt(at, prefix)

    def lost(self) -> None:
        answer = self._answer
        if answer is not None and answer.generated:
            self._end(answer, self._usage)
        if self._silent and self.session > 1:
            self.forget_resumption()  # a session that ended before it began: by text, next time
        super().lost()

    # What the service says ------------------------------------------------------------------

    def received(self, event: Event, now_s: float) -> None:
        self._silent = False
        if "usageMetadata" in event:
            self._usage = _usage_of(event["usageMetadata"])
        if "serverContent" in event:
            self._on_content(event["serverContent"], now_s)
        if "toolCall" in event:
            for call in event["toolCall"]["functionCalls"]:
                self._on_tool_call(call)
        if "toolCallCancellation" in event:
            self._on_tools_cancelled(event["toolCallCancellation"]["ids"])
        if "sessionResumptionUpdate" in event:
            self._on_handle(event["sessionResumptionUpdate"])
        if "goAway" in event:
            self._do(Renew(_seconds(event["goAway"].get("timeLeft"))))

    def _on_handle(self, update: Event) -> None:
        if not update.get("resumable") or not update.get("newHandle"):
            return  # in mid-answer: the last handle still stands for what was before
        self.handle = str(update["newHandle"])
        # What is being played is known there, and becomes the next turn.
        playing = sum(kept.alive for kept in self._unkept)
        self._handle_knows = len(self._turns) + playing

    def _on_content(self, content: Event, now_s: float) -> None:
        """Fields come alone or together; the end of a turn is the last of them."""
        if content.get("interrupted"):
            self._cut_off = True
            self._turn_over()
        for part in (content.get("modelTurn") or {}).get("parts") or []:
            if "inlineData" in part:
                self._on_sound(part["inlineData"], now_s)
        text = (content.get("outputTranscription") or {}).get("text")
        if text:
            answer = self._sounding()
            if answer is not None:
                self._words(answer, str(text), now_s)
        if content.get("generationComplete") and not self._stale:
            self._generated()
        if content.get("turnComplete") and content.get("interactionStatus") != "IN_PROGRESS":
            cut_off, self._cut_off = self._cut_off, False
            if not cut_off:
                self._turn_over()

    def _sounding(self) -> Answer | None:
        """The answer that sound and words belong to now."""
        self._cut_off = False
        answer = self._answer
        if self._stale or answer is None:
            return None
        self._arm("answer", self.answer_s)
        return answer if answer.alive and not answer.complete else None

    def _on_sound(self, data: Event, now_s: float) -> None:
        rate = str(data.get("mimeType", "")).partition("rate=")[2]
        if rate not in ("", str(ANSWER_HZ)):
            raise ValueError(f"sound at {rate} Hz")
        sound = base64.b64decode(data["data"])
        answer = self._sounding()
        if answer is not None:
            if not answer.items or answer.items[-1].words:
                answer.items.append(Item(answer.ask_id, 0))
            self._sound(answer, answer.items[-1], sound, now_s)

    def _generated(self) -> None:
        """All sound is there. The end of the turn, with its counts, follows when the service thinks
        that it was played; that is not waited for longer than the sound lasts."""
        answer = self._answer
        if answer is None or not answer.alive or not answer.begun or answer.waits_for_tools:
            return
        answer.generated = True
        self._arm("answer", None)
        self._arm("end", max(0.0, answer.alignment.samples / ANSWER_HZ - _BEFORE_END_S))

    def fired(self, timer: Timer) -> None:
        answer = self._answer
        if timer == "end" and answer is not None and answer.generated:
            self._end(answer, self._usage)
        elif timer != "end":
            super().fired(timer)

    def _turn_over(self) -> None:
        if self._stale:
            self._stale -= 1
            return
        self._running = False
        answer = self._answer
        self._do(
            Note(
                f"turn complete: {self._usage.cached_tokens} of {self._usage.prompt_tokens} "
                f"prompt tokens cached, prefix {self.prefix.sha256}"
            )
        )
        if answer is None or answer.waits_for_tools:
            return
        self._arm("answer", None)
        self._arm("end", None)
        self._answer = None
        if answer.begun:
            self._end(answer, self._usage)
        elif answer.alive:
            self._ask_later("The voice service gave an answer without sound. Say it once more.")

    # Turns ----------------------------------------------------------------------------------

    def worth(self) -> None:
        """Not while an answer sounds: an activity would end it, and "mhm" is none."""
        turn = self._turn
        sounds = any(kept.alive for kept in self._unkept) or self._answer is not None
        if turn is not None and not turn.opened and self.connected and not sounds:
            self._open_activity(turn)

    def _open_activity(self, turn: UserTurn) -> None:
        turn.opened = True
        self._begin_activity()
        self._turn_sound(turn, self._microphone.since(turn.began_ms))

    def _begin_activity(self) -> None:
        self._breaks_in()
        self._activity = True
        self._send({"realtimeInput": {"activityStart": {}}})

    def _end_activity(self) -> None:
        self._activity = False
        self._running = True
        self._usage = Usage()
        self._send({"realtimeInput": {"activityEnd": {}}})

    def _breaks_in(self) -> None:
        """What the service is saying ends with what is sent now."""
        if self._running:
            self._running = False
            self._stale += 1

    def _turn_sound(self, turn: UserTurn, sound: bytes) -> None:
        if not turn.opened or not sound:
            return
        turn.samples += len(sound) // 2
        data = base64.b64encode(sound).decode()
        blob = {"data": data, "mimeType": f"audio/pcm;rate={MICROPHONE_HZ}"}
        self._send({"realtimeInput": {"audio": blob}})

    def _resend(self) -> None:
        """In a new session the turn begins anew, at once when it had words."""
        if self._turn is not None:
            had_words = self._turn.opened
            self._turn = UserTurn(self._turn.began_ms, self.rate_hz)
            if had_words:
                self._open_activity(self._turn)

    def _turn_dropped(self, turn: UserTurn) -> None:
        if turn.opened and self._activity:
            # It had words and came to nothing. An activity can't be taken back: it ends, and what
            # the service says to it is nobody's.
            self._end_activity()
            self._breaks_in()

    def _hand_in(self, question: Question, turn: UserTurn | None) -> None:
        if turn is not None and not turn.opened:
            self._open_activity(turn)
        if question.notes is not None:
            self._tell("system", question.notes.block)
        if turn is None:
            self._say(question.text)
        else:
            self._end_activity()
        self._triggered = True

    def _say(self, text: str) -> None:
        """A turn in words. As realtime input: content of the client alone moves no model of the
        third generation to answer."""
        if not self._activity:
            self._begin_activity()
        self._send({"realtimeInput": {"text": text}})
        self._end_activity()

    # Answers --------------------------------------------------------------------------------

    def _ask(self) -> None:
        """What was handed in asks by itself, and ends what was being said."""
        active = self._answer
        if active is not None:
            self._end(active, self._usage) if active.begun else None
            active.alive = active.alive and active.begun
        self._answer = Answer(
            questions=tuple(self._questions),
            ask_id=self._id("ask"),
            session=self.session,
            alignment=Alignment(self._letters_per_s),
        )
        self._request(self._answer)
        self._arm("answer", self.answer_s)

    def _request(self, answer: Answer) -> None:
        triggered, self._triggered = self._triggered, False
        if triggered:
            return
        texts = [question.text for question in answer.questions]
        self._say(told("realtime", "go_on_now") if answer.begun else " ".join(texts))

    def _cancel(self, answer: Answer) -> None:
        """There is no way to. What is told of it, or the next turn, ends it; nothing more of it is
        heard."""
        self._arm("answer", None)
        self._arm("end", None)
        if self._answer is answer:
            self._answer = None
        self._breaks_in()

    def _cut(self, answer: Answer, played_samples: int) -> None:
        """The service keeps what it has sent; it is told in words what of that was heard."""
        if answer.complete and played_samples >= answer.alignment.samples:
            return
        heard = heard_text(answer.alignment.pieces, played_samples)
        name = "heard" if heard else "not_heard"
        self._tell("system", told("realtime", name, heard=heard))

    # Words ----------------------------------------------------------------------------------

    def _tell(self, role: str, text: str) -> str:
        said = _content(role, text)
        if self._activity:
            self._send({"realtimeInput": {"text": said["parts"][0]["text"]}})
        else:
            self._breaks_in()
            self._send({"clientContent": {"turns": [said], "turnComplete": False}})
        return self._id("told")

    def _introduce(self, said: Sequence[Said | ToolUse]) -> None:
        turns = [
            _content("system", _used(each))
            if isinstance(each, ToolUse)
            else _content(each.speaker, each.text)
            for each in said
        ]
        if turns:
            self._send({"clientContent": {"turns": turns, "turnComplete": False}})

    # Tools ----------------------------------------------------------------------------------

    def _on_tool_call(self, call: Event) -> None:
        call_id, name = str(call["id"]), str(call["name"])
        answer = self._answer
        if self._stale or answer is None or not answer.alive:
            return
        answer.rounds += 1
        self._arm("answer", None)
        self._tool_called(answer, call_id, name, json.dumps(call.get("args") or {}))
        if answer.rounds > MOST_TOOL_ROUNDS:
            self.tool_done(call_id, told("tools", "enough"))

    def _on_tools_cancelled(self, ids: Sequence[Any]) -> None:
        for use in self._uses:
            if use.call_id in ids and use.output is None:
                use.output = told("tools", "cancelled")

    def _tell_result(self, use: ToolUse) -> None:
        response = {"id": use.call_id, "name": use.name, "response": {"result": use.output}}
        self._send({"toolResponse": {"functionResponses": [response]}})

    def _tell_use(self, use: ToolUse) -> None:
        self._tell("system", _used(use))

    def _after_tools(self, answer: Answer) -> None:
        """The service goes on by itself."""
        if not answer.waits_for_tools:
            self._arm("answer", self.answer_s)


_BEFORE_END_S = 0.2


def _content(role: str, text: str) -> dict[str, Any]:
    """One turn as the service knows it; there is no role for what neither of the two said."""
    if role == "system":
        text = told("realtime", "not_said", text=text)
    return {"role": "model" if role == "assistant" else "user", "parts": [{"text": text}]}


def _used(use: ToolUse) -> str:
    return told("realtime", "used", tool=use.name, arguments=use.arguments, output=use.output or "")


def _without(turns: Sequence[Turn], waiting: Sequence[str]) -> list[Turn]:
    """The turns but for the user's last ones that wait for an answer."""
    kept, left = list(turns), [text.strip() for text in waiting]
    while kept and left and kept[-1].speaker == "user" and kept[-1].text.strip() in left:
        left.remove(kept.pop().text.strip())
    return kept


def _usage_of(usage: Event) -> Usage:
    prompt = usage.get("promptTokenCount")
    if prompt is not None:
        prompt += usage.get("toolUsePromptTokenCount") or 0
    return Usage(prompt, usage.get("cachedContentTokenCount") or (0 if prompt else None))


def _seconds(left: object) -> float:
    """A duration as protobuf writes it: "50s", "9.5s"."""
    try:
        return float(str(left).removesuffix("s"))
    except ValueError:
        return _SHORT_NOTICE_S


_SHORT_NOTICE_S = 10.0
