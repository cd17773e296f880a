"""A server that speaks OpenAI's Realtime protocol, with scripted answers and faults.

Field names and the order of events are those of the real one (`session.created` … `response.done`).
It hears nothing: turns are the client's (`turn_detection: null`), and a client that asks
for the server's own is refused.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request

from tests.fakes.prompt_cache import tokens
from tests.fakes.service import (
    RATE_HZ,
    Answer,
    Error,
    Event,
    FakeConnection,
    FakeService,
    speech,
)

MIN_COMMIT_MS = 100


@dataclass
class RealtimeServer(FakeService["Connection"]):
    """`transcript_after_s` delays the server's own transcripts, for clients that ask for them.
    `cancels`: False lets a response run on that was cancelled."""

    transcript_after_s: float = 0.0
    cancels: bool = True

    path = "/v1/realtime"

    def _unwelcome(self, request: Request) -> int | None:
        wanted = None if self.key is None else f"Bearer {self.key}"
        return 401 if wanted and request.headers.get("Authorization") != wanted else None

    def _refusal(self, status: int) -> Event:
        code = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
        return {"code": code.get(status), "message": "refused", "type": "error"}

    def _connection(self, socket: ServerConnection, number: int) -> Connection:
        return Connection(self, socket, number)

    def _rest(self, last: Answer, items: list[Event]) -> Answer | None:
        said = [item for item in items if item.get("role") != "system"]
        if not said or said[-1].get("role") != "assistant" or "_words" in said[-1]:
            return None
        words = _words(said[-1])
        return last.rest(words) if words and last.text.startswith(words + " ") else None


class Connection(FakeConnection):
    """One session."""

    def __init__(self, server: RealtimeServer, socket: ServerConnection, number: int) -> None:
        self._server = server
        super().__init__(socket, number)
        self._buffer_bytes = 0
        self._response: asyncio.Task[None] | None = None
        self._response_id = ""
        self._current_output: list[Event] = []
        self.audio = b""
        self.session: Event = {
            "type": "realtime",
            "object": "realtime.session",
            "id": self._id("sess"),
            "model": "gpt-realtime-2.1",
            "output_modalities": ["audio"],
            "instructions": "",
            "tools": [],
            "tool_choice": "auto",
            "max_output_tokens": "inf",
            "audio": {
                "input": {
                    "format": {"type": "audio/pcm", "rate": RATE_HZ},
                    "transcription": None,
                    "noise_reduction": None,
                    "turn_detection": {"type": "server_vad", "silence_duration_ms": 500},
                },
                "output": {
                    "format": {"type": "audio/pcm", "rate": RATE_HZ},
                    "voice": "alloy",
                    "speed": 1.0,
                },
            },
        }

    async def run(self) -> None:
        try:
            await asyncio.sleep(self._server.handshake_s)
            if self._server.cap_s is not None:
                self.session["expires_at"] = int(time.time() + self._server.cap_s)
            await self._send("session.created", session=self.session)
            if self._server.cap_s is not None:
                self._start(self._expire(self._server.cap_s))
            async for raw in self._socket:
                event = json.loads(raw)
                faults = self._server.note("client", self._number, event)
                handled = True
                for fault in faults:
                    handled = await self._fault(fault, event) and handled
                if handled:
                    await self._handle(event)
        finally:
            for task in (*self._tasks, *([self._response] if self._response else [])):
                task.cancel()

    async def _expire(self, after_s: float) -> None:
        await asyncio.sleep(after_s)
        await self._error("session_expired", "Your session hit the maximum duration.")
        await self._socket.close(1001, "session_expired")

    async def _send(self, kind: str, **fields: Any) -> None:
        if self._half_open:
            return
        event = {"type": kind, "event_id": self._id("event"), **fields}
        raw = json.dumps(event)
        faults = self._server.note("server", self._number, event)
        await self._transmit(raw, faults)
        for scripted in faults:
            await self._fault(scripted, event)

    async def _report(self, error: Error, event: Event) -> bool:
        about = event.get("event_id") if error.about else None
        await self._error(error.code, error.message, kind=error.kind, event_id=about)
        return not error.instead

    async def _error(
        self,
        code: str,
        message: str,
        *,
        kind: str = "invalid_request_error",
        event_id: str | None = None,
    ) -> None:
        await self._send(
            "error",
            error={
                "type": kind,
                "code": code,
                "message": message,
                "param": None,
                "event_id": event_id,
            },
        )

    # What the client asks --------------------------------------------------------------

    async def _handle(self, event: Event) -> None:
        match event["type"]:
            case "session.update":
                await self._update(event)
            case "input_audio_buffer.append":
                sound = base64.b64decode(event["audio"])
                self._buffer_bytes += len(sound)
                self.audio += sound
            case "input_audio_buffer.clear":
                self._buffer_bytes = 0
                await self._send("input_audio_buffer.cleared")
            case "input_audio_buffer.commit":
                await self._commit(event)
            case "conversation.item.create":
                await self._add({"status": "completed", "object": "realtime.item", **event["item"]})
            case "conversation.item.truncate":
                await self._truncate(event)
            case "conversation.item.delete":
                await self._delete(event)
            case "response.create":
                await self._respond(event)
            case "response.cancel":
                await self._cancel(event)
            case other:
                await self._error("invalid_value", f"Unknown event {other}.")

    async def _update(self, event: Event) -> None:
        new = event["session"]
        detection = new.get("audio", {}).get("input", {}).get("turn_detection", "kept")
        if detection not in (None, "kept"):
            await self._error(
                "invalid_value", "This server takes no turns itself.", event_id=event["event_id"]
            )
            return
        for side, given in new.get("audio", {}).items():
            self.session["audio"][side].update(given)
        self.session.update({name: value for name, value in new.items() if name != "audio"})
        await self._send("session.updated", session=self.session)

    async def _commit(self, event: Event) -> None:
        length_ms = self._buffer_bytes * 1000 // (2 * RATE_HZ)
        if length_ms < MIN_COMMIT_MS:
            await self._error(
                "input_audio_buffer_commit_empty",
                f"Expected at least {MIN_COMMIT_MS}ms of audio, got {length_ms}ms.",
                event_id=event["event_id"],
            )
            return
        self.turns_bytes.append(self._buffer_bytes)
        self._buffer_bytes = 0
        item = {
            "id": self._id("item"),
            "object": "realtime.item",
            "type": "message",
            "status": "completed",
            "role": "user",
            "content": [{"type": "input_audio", "audio": None, "transcript": None}],
        }
        await self._send(
            "input_audio_buffer.committed", item_id=item["id"], previous_item_id=self._last()
        )
        await self._add({**item, "_audio_ms": length_ms})
        if self.session["audio"]["input"].get("transcription"):
            self._start(self._transcribe(str(item["id"])))

    async def _transcribe(self, item: str) -> None:
        await asyncio.sleep(self._server.transcript_after_s)
        await self._send(
            "conversation.item.input_audio_transcription.completed",
            item_id=item,
            content_index=0,
            transcript="what the server understood",
        )

    def _last(self) -> str | None:
        return self.items[-1]["id"] if self.items else None

    async def _add(self, item: Event) -> None:
        shown = {name: value for name, value in item.items() if not name.startswith("_")}
        previous = self._last()
        self.items.append(item)
        await self._send("conversation.item.added", previous_item_id=previous, item=shown)
        await self._send("conversation.item.done", previous_item_id=previous, item=shown)

    def _find(self, item: str) -> Event | None:
        return next((known for known in self.items if known["id"] == item), None)

    async def _truncate(self, event: Event) -> None:
        item = self._find(event["item_id"])
        if item is None or item.get("role") != "assistant" or "_audio_ms" not in item:
            await self._error(
                "item_truncate_invalid_item_id", "No such item.", event_id=event["event_id"]
            )
            return
        if event["audio_end_ms"] > item["_audio_ms"]:
            await self._error(
                "item_truncate_invalid_audio_end_ms",
                f"Audio is only {item['_audio_ms']}ms long.",
                event_id=event["event_id"],
            )
            return
        item["_audio_ms"] = event["audio_end_ms"]
        item["_truncated"] = True
        await self._send(
            "conversation.item.truncated",
            item_id=event["item_id"],
            content_index=event["content_index"],
            audio_end_ms=event["audio_end_ms"],
        )

    async def _delete(self, event: Event) -> None:
        item = self._find(event["item_id"])
        if item is None:
            await self._error(
                "item_delete_invalid_item_id", "No such item.", event_id=event["event_id"]
            )
            return
        self.items.remove(item)
        await self._send("conversation.item.deleted", item_id=event["item_id"])

    # Answers ----------------------------------------------------------------------------

    def _active(self) -> bool:
        return self._response is not None and not self._response.done()

    async def _respond(self, event: Event) -> None:
        if self._active():
            await self._error(
                "conversation_already_has_active_response",
                f"Conversation already has an active response in progress: {self._response_id}.",
                event_id=event["event_id"],
            )
            return
        self._response_id = self._id("resp")
        self._current_output = []
        self._response = asyncio.create_task(self._answer(self._server.next_answer(self.items)))

    async def _cancel(self, event: Event) -> None:
        if not self._active():
            await self._error(
                "response_cancel_not_active",
                "Cancellation failed: no active response found.",
                event_id=event["event_id"],
            )
            return
        if not self._server.cancels:
            return
        assert self._response is not None
        self._response.cancel()
        for item in self._current_output:
            item["status"] = "incomplete"
        details = {"type": "cancelled", "reason": "client_cancelled"}
        await self._done("cancelled", details)

    async def _done(self, status: str, details: Event | None) -> None:
        prompt = self._prompt()
        input_tokens = len(prompt)
        cached = self._server.cache.cached(prompt, len(self._prefix()))
        output_tokens = sum(len(tokens(_words(item))) for item in self._current_output)
        await self._send(
            "response.done",
            response={
                "id": self._response_id,
                "object": "realtime.response",
                "status": status,
                "status_details": details,
                "output": [_shown(item) for item in self._current_output],
                "output_modalities": ["audio"],
                "usage": {
                    "total_tokens": input_tokens + output_tokens,
                    "input_tokens": input_tokens,
                    "output_tokens": output_tokens,
                    "input_token_details": {
                        "cached_tokens": cached,
                        "text_tokens": input_tokens,
                        "audio_tokens": 0,
                        "cached_tokens_details": {"text_tokens": cached, "audio_tokens": 0},
                    },
                    "output_token_details": {"text_tokens": output_tokens, "audio_tokens": 0},
                },
            },
        )

    def _prompt(self) -> list[str]:
        """Tools, then instructions, then items: the order in which the real one caches."""
        prompt = self._prefix()
        for item in self.items:
            if item in self._current_output:
                continue
            if "_audio_ms" in item:
                prompt += [f"{item['id']}:{at}" for at in range(0, item["_audio_ms"], 100)]
            prompt += tokens(_words(item))
        return prompt

    def _prefix(self) -> list[str]:
        return tokens(json.dumps(self.session["tools"])) + tokens(self.session["instructions"])

    async def _answer(self, answer: Answer) -> None:
        if answer.silent:
            await asyncio.Event().wait()
        await self._send(
            "response.created",
            response={
                "id": self._response_id,
                "object": "realtime.response",
                "status": "in_progress",
                "status_details": None,
                "output": [],
                "usage": None,
            },
        )
        await asyncio.sleep(answer.think_s)
        chunks = max(1, answer.audio_ms // answer.chunk_ms) if answer.audio_ms else 0
        stop = chunks if answer.until_chunk is None else answer.until_chunk
        words = answer.text.split()
        told = 0
        per_item = -(-chunks // answer.items) if chunks else 1
        for number in range(min(stop, chunks)):
            if number % per_item == 0:
                if self._current_output:
                    await self._end_item()
                await self._begin_item()
            due = len(words) * min(chunks, number + 1 + answer.lead) // chunks
            for word in words[told:due]:
                await self._tell("transcript", word if told == 0 else f" {word}")
                told += 1
            await self._tell("audio", speech(answer.chunk_ms * RATE_HZ // 1000))
            if answer.speed is not None:
                await asyncio.sleep(answer.chunk_ms / 1000 / answer.speed)
        if self._current_output and chunks:
            await self._end_item()
        for name, arguments in answer.calls:
            await self._call(name, arguments)
        details = None
        if answer.status != "completed":
            error = {"type": "server_error", "code": answer.code, "message": "scripted"}
            details = {"type": answer.status, "error": error}
        await self._done(answer.status, details)

    async def _call(self, name: str, arguments: str) -> None:
        item: Event = {
            "id": self._id("item"),
            "object": "realtime.item",
            "type": "function_call",
            "status": "completed",
            "call_id": self._id("call"),
            "name": name,
            "arguments": arguments,
        }
        self._current_output.append(item)
        self.items.append(item)
        output = {
            "response_id": self._response_id,
            "output_index": len(self._current_output) - 1,
        }
        started = {**item, "status": "in_progress", "arguments": ""}
        await self._send("response.output_item.added", **output, item=started)
        await self._send("conversation.item.added", previous_item_id=None, item=started)
        where = {**output, "item_id": item["id"], "call_id": item["call_id"]}
        await self._send("response.function_call_arguments.delta", **where, delta=arguments)
        await self._send(
            "response.function_call_arguments.done", **where, name=name, arguments=arguments
        )
        await self._send("conversation.item.done", previous_item_id=None, item=item)
        await self._send("response.output_item.done", **output, item=item)

    def _where(self) -> Event:
        return {
            "response_id": self._response_id,
            "item_id": self._current_output[-1]["id"],
            "output_index": len(self._current_output) - 1,
            "content_index": 0,
        }

    async def _begin_item(self) -> None:
        item: Event = {
            "id": self._id("item"),
            "object": "realtime.item",
            "type": "message",
            "status": "in_progress",
            "role": "assistant",
            "content": [],
            "_audio_ms": 0,
            "_words": "",
        }
        previous = self._last()
        self._current_output.append(item)
        self.items.append(item)
        where = self._where()
        await self._send(
            "response.output_item.added",
            response_id=self._response_id,
            output_index=where["output_index"],
            item=_shown(item),
        )
        await self._send("conversation.item.added", previous_item_id=previous, item=_shown(item))
        await self._send(
            "response.content_part.added", **where, part={"type": "audio", "transcript": ""}
        )

    async def _tell(self, what: str, said: str | bytes) -> None:
        item, where = self._current_output[-1], self._where()
        if isinstance(said, str):
            item["_words"] += said
            await self._send("response.output_audio_transcript.delta", **where, delta=said)
            return
        item["_audio_ms"] += len(said) * 1000 // (2 * RATE_HZ)
        delta = base64.b64encode(said).decode()
        await self._send("response.output_audio.delta", **where, delta=delta)

    async def _end_item(self) -> None:
        item, where = self._current_output[-1], self._where()
        item["status"] = "completed"
        item["content"] = [{"type": "output_audio", "transcript": item["_words"]}]
        await self._send("response.output_audio.done", **where)
        await self._send(
            "response.output_audio_transcript.done", **where, transcript=item["_words"]
        )
        await self._send(
            "response.content_part.done",
            **where,
            part={"type": "audio", "transcript": item["_words"]},
        )
        await self._send("conversation.item.done", previous_item_id=None, item=_shown(item))
        await self._send(
            "response.output_item.done",
            response_id=self._response_id,
            output_index=where["output_index"],
            item=_shown(item),
        )


def _shown(item: Event) -> Event:
    return {name: value for name, value in item.items() if not name.startswith("_")}


def _words(item: Event) -> str:
    if "_words" in item:
        return str(item["_words"])
    if item["type"] != "message":
        return "".join(str(item.get(part) or "") for part in ("name", "arguments", "output"))
    parts = item.get("content") or []
    return "".join(part.get("text") or "" for part in parts)
