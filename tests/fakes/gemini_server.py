"""A server that speaks Gemini Live's BidiGenerateContent, with scripted answers and faults.

Field names and the order of messages are those of the real one. It refuses what the real one
refuses: an unknown field, a handle that it does not know, a handle whose last socket is still
open. Turns are the client's (`automaticActivityDetection.disabled`).
"""

from __future__ import annotations

import asyncio
import base64
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection

from tests.fakes.prompt_cache import tokens
from tests.fakes.service import RATE_HZ, Answer, Event, FakeConnection, FakeService, speech

SETUP_FIELDS = {
    "model", "generationConfig", "systemInstruction", "tools", "realtimeInputConfig",
    "sessionResumption", "contextWindowCompression", "inputAudioTranscription",
    "outputAudioTranscription", "proactivity", "historyConfig",
}  # fmt: skip
INPUT_FIELDS = {"audio", "video", "text", "activityStart", "activityEnd", "audioStreamEnd"}


@dataclass
class GeminiServer(FakeService["GeminiConnection"]):
    """`cap_s` ends each connection, and `go_away_s` ahead it says so. `knows_handles`: False
    refuses every handle. `plays`: turnComplete comes when the sound would have been played."""

    go_away_s: float = 5.0
    knows_handles: bool = True
    plays: bool = False

    path = "/ws/BidiGenerateContent"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.handles: dict[str, tuple[list[Event], GeminiConnection]] = {}

    def _refusal(self, status: int) -> Event:
        known = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 503: "UNAVAILABLE"}
        return {"code": status, "message": "refused", "status": known.get(status)}

    def _connection(self, socket: ServerConnection, number: int) -> GeminiConnection:
        return GeminiConnection(self, socket, number)

    def _rest(self, last: Answer, items: list[Event]) -> Answer | None:
        told = [item for item in items if item["role"] == "model" and "told" in item]
        goes_on = told and items[-1].get("text") == "Go on."
        return last.rest(str(told[-1]["text"])) if goes_on else None


class GeminiConnection(FakeConnection):
    """One socket. `items` are the conversation as the model knows it: of role user or model, with
    `text` or `audio_ms`; `told` where the client told what the model said."""

    def __init__(self, server: GeminiServer, socket: ServerConnection, number: int) -> None:
        self._server = server
        super().__init__(socket, number)
        self._activity: Event | None = None
        self._turn: asyncio.Task[None] | None = None
        self._results: dict[str, asyncio.Future[str]] = {}
        self._answering: Event | None = None
        self.open = True
        self.setup: Event = {}
        self.resumed = False

    async def run(self) -> None:
        try:
            async for raw in self._socket:
                message = json.loads(raw)
                kinds = _kinds(message)
                handled = True
                for kind in kinds:
                    event = {"type": kind, **message}
                    for fault in self._server.note("client", self._number, event):
                        handled = await self._fault(fault, event) and handled
                if handled:
                    await self._handle(message)
        finally:
            self.open = False
            for task in (*self._tasks, *([self._turn] if self._turn else [])):
                task.cancel()

    async def _refuse(self, code: int, reason: str) -> None:
        await self._socket.close(code, reason)

    async def _send(self, kind: str, message: Event) -> None:
        if self._half_open:
            return
        raw = json.dumps(message).encode()
        event = {"type": kind, **message}
        faults = self._server.note("server", self._number, event)
        await self._transmit(raw, faults)
        for scripted in faults:
            await self._fault(scripted, event)

    # What the client says --------------------------------------------------------------

    async def _handle(self, message: Event) -> None:
        if len(message) != 1:
            await self._refuse(1007, "Request contains an invalid argument.")
        elif "setup" in message:
            await self._begin(message["setup"])
        elif not self.setup:
            await self._refuse(1007, "setup must be the first message")
        elif "realtimeInput" in message:
            await self._input(message["realtimeInput"])
        elif "clientContent" in message:
            await self._content(message["clientContent"])
        elif "toolResponse" in message:
            for response in message["toolResponse"]["functionResponses"]:
                waiting = self._results.get(response["id"])
                if waiting is not None and not waiting.done():
                    waiting.set_result(str(response["response"]))
        else:
            await self._refuse(1007, f'Unknown name "{next(iter(message))}"')

    async def _begin(self, setup: Event) -> None:
        server = self._server
        key = parse_qs(urlsplit(server.requests[-1].path).query).get("key", [None])[0]
        unknown = setup.keys() - SETUP_FIELDS
        if server.key is not None and key != server.key:
            await self._refuse(1007, "API key not valid. Please pass a valid API key.")
            return
        if unknown or not str(setup.get("model", "")).startswith("models/"):
            await self._refuse(1007, f"Invalid JSON payload received. Unknown name {unknown}")
            return
        if not setup["realtimeInputConfig"]["automaticActivityDetection"]["disabled"]:
            await self._refuse(1007, "This server takes no turns itself.")
            return
        handle = (setup.get("sessionResumption") or {}).get("handle")
        if handle is not None and not await self._resume(handle):
            return
        self.setup = setup
        await asyncio.sleep(server.handshake_s)
        await self._send("setupComplete", {"setupComplete": {}})
        if server.cap_s is not None:
            self._start(self._end_in_time(server.cap_s))

    async def _resume(self, handle: str) -> bool:
        state = self._server.handles.get(handle) if self._server.knows_handles else None
        if state is None:
            await self._refuse(1007, "Request contains an invalid argument.")
            return False
        items, last = state
        if last.open:
            await self._refuse(1011, "The session is in use.")
            return False
        self.items = [dict(item) for item in items]
        self.resumed = True
        return True

    async def _end_in_time(self, cap_s: float) -> None:
        ahead_s = min(self._server.go_away_s, cap_s)
        await asyncio.sleep(cap_s - ahead_s)
        await self._send("goAway", {"goAway": {"timeLeft": f"{ahead_s:g}s"}})
        await self._expire(ahead_s)

    async def _expire(self, after_s: float) -> None:
        await asyncio.sleep(after_s)
        await self._refuse(1011, "Deadline expired before operation could complete.")

    async def _input(self, given: Event) -> None:
        if given.keys() - INPUT_FIELDS or len(given) != 1:
            await self._refuse(1007, "Request contains an invalid argument.")
        elif "activityStart" in given:
            await self._interrupt()
            self._activity = {"role": "user", "audio_ms": 0, "bytes": 0, "text": ""}
        elif self._activity is None:
            return  # without an activity nothing counts
        elif "audio" in given:
            assert given["audio"]["mimeType"] == "audio/pcm;rate=16000"
            self._activity["bytes"] += len(base64.b64decode(given["audio"]["data"]))
        elif "text" in given:
            self._activity["text"] += given["text"]
        elif "activityEnd" in given:
            activity, self._activity = self._activity, None
            length = activity.pop("bytes")
            activity["audio_ms"] = length // 32
            self.turns_bytes.append(length)
            self.items.append(activity)
            self._turn = asyncio.create_task(self._answer(activity))

    async def _content(self, content: Event) -> None:
        await self._interrupt()
        for turn in content.get("turns") or []:
            text = "".join(part.get("text", "") for part in turn["parts"])
            told = {"told": True} if turn["role"] == "model" else {}
            self.items.append({"role": turn["role"], "text": text, **told})
        if content.get("turnComplete"):
            self._turn = asyncio.create_task(self._answer(self.items[-1]))

    async def _interrupt(self) -> None:
        if self._turn is None or self._turn.done():
            return
        self._turn.cancel()
        self._results.clear()
        await self._server_content("interrupted", {"interrupted": True})
        await self._complete()

    # Answers ----------------------------------------------------------------------------

    async def _server_content(self, kind: str, content: Event, **beside: Any) -> None:
        await self._send(f"serverContent.{kind}", {"serverContent": content, **beside})

    async def _answer(self, to: Event) -> None:
        answer = self._server.next_answer(self.items)
        if answer.silent:
            await asyncio.Event().wait()
        if to.get("audio_ms"):
            heard = {"inputTranscription": {"text": "what the server understood"}}
            await self._server_content("inputTranscription", heard)
        update = {"sessionResumptionUpdate": {"resumable": False}}
        await self._send("sessionResumptionUpdate", update)
        await asyncio.sleep(answer.think_s)
        said = self._answering = {"role": "model", "text": "", "audio_ms": 0}
        self.items.append(said)
        for name, arguments in answer.calls:
            await self._call(name, arguments)
        chunks = max(1, answer.audio_ms // answer.chunk_ms) if answer.audio_ms else 0
        words = answer.text.split()
        spoken = 0
        began_s = asyncio.get_running_loop().time()
        for number in range(chunks):
            data = base64.b64encode(speech(answer.chunk_ms * RATE_HZ // 1000)).decode()
            blob = {"mimeType": f"audio/pcm;rate={RATE_HZ}", "data": data}
            said["audio_ms"] += answer.chunk_ms
            await self._server_content(
                "modelTurn", {"modelTurn": {"parts": [{"inlineData": blob}]}}
            )
            due = len(words) * min(chunks, number + 1 + answer.lead) // chunks
            for word in words[spoken:due]:
                text = word if not spoken else f" {word}"
                spoken += 1
                said["text"] += text
                await self._server_content(
                    "outputTranscription", {"outputTranscription": {"text": text}}
                )
            if answer.speed is not None:
                await asyncio.sleep(answer.chunk_ms / 1000 / answer.speed)
        if chunks:
            await self._server_content("generationComplete", {"generationComplete": True})
        if self._server.plays:
            spent_s = asyncio.get_running_loop().time() - began_s
            await asyncio.sleep(max(0.0, answer.audio_ms / 1000 - spent_s))
        await self._complete()

    async def _call(self, name: str, arguments: str) -> None:
        call_id = f"call_{self._number}_{next(self._ids)}"
        result = self._results[call_id] = asyncio.get_running_loop().create_future()
        call = {"id": call_id, "name": name, "args": json.loads(arguments)}
        await self._send("toolCall", {"toolCall": {"functionCalls": [call]}})
        self.items.append({"role": "user", "text": f"{name}: {await result}"})

    async def _complete(self) -> None:
        prompt = self._prompt()
        cached = self._server.cache.cached(prompt, len(self._prefix()))
        usage = {
            "promptTokenCount": len(prompt),
            "cachedContentTokenCount": cached,
            "responseTokenCount": 10,
            "totalTokenCount": len(prompt) + 10,
        }
        await self._server_content("turnComplete", {"turnComplete": True}, usageMetadata=usage)
        handle = f"handle_{self._number}_{next(self._ids)}"
        self._server.handles[handle] = ([dict(item) for item in self.items], self)
        update = {"newHandle": handle, "resumable": True}
        await self._send("sessionResumptionUpdate", {"sessionResumptionUpdate": update})

    def _prefix(self) -> list[str]:
        instruction = self.setup["systemInstruction"]["parts"][0]["text"]
        return tokens(json.dumps(self.setup.get("tools") or [])) + tokens(instruction)

    def _prompt(self) -> list[str]:
        prompt = self._prefix()
        for item in self.items:
            if item is self._answering:
                continue
            prompt += tokens(item["text"])
            prompt += [f"{id(item)}:{at}" for at in range(0, item.get("audio_ms", 0), 100)]
        return prompt


def _kinds(message: Event) -> list[str]:
    kind = next(iter(message))
    if kind == "realtimeInput":
        return [f"realtimeInput.{each}" for each in message[kind]]
    return [str(kind)]
