"""The fake Realtime server keeps to the protocol where the tests of the engine rely on it."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.fakes.realtime_server import RealtimeServer
from tests.fakes.service import Answer, Event, speech
from voice.virtual_time import run_virtual


@asynccontextmanager
async def session(server: RealtimeServer) -> AsyncIterator[ClientConnection]:
    async with asyncio.timeout(100), server, connect(server.url, max_size=None) as socket:
        yield socket


async def send(socket: ClientConnection, kind: str, **fields: Any) -> None:
    await socket.send(json.dumps({"type": kind, "event_id": f"mine_{kind}", **fields}))


async def until(socket: ClientConnection, kind: str) -> list[Event]:
    events: list[Event] = []
    while not events or events[-1]["type"] != kind:
        events.append(json.loads(await socket.recv()))
    return events


def item(text: str) -> Event:
    return {
        "id": text,
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": text}],
    }


async def update(socket: ClientConnection, **audio: Any) -> None:
    await send(socket, "session.update", session={"type": "realtime", "audio": {"input": audio}})


async def test_an_answer_comes_in_the_protocol_s_order() -> None:
    """From the commit to `response.done`, each event once, sound and words between."""
    async with session(RealtimeServer(answers=[Answer(text="One two", audio_ms=200)])) as socket:
        await update(socket, turn_detection=None)
        await until(socket, "session.updated")
        sound = base64.b64encode(speech(24_000)).decode()
        await send(socket, "input_audio_buffer.append", audio=sound)
        await send(socket, "input_audio_buffer.commit")
        await send(socket, "response.create")
        assert [event["type"] for event in await until(socket, "response.done")] == [
            "input_audio_buffer.committed",
            "conversation.item.added",
            "conversation.item.done",
            "response.created",
            "response.output_item.added",
            "conversation.item.added",
            "response.content_part.added",
            "response.output_audio_transcript.delta",
            "response.output_audio_transcript.delta",
            "response.output_audio.delta",
            "response.output_audio.done",
            "response.output_audio_transcript.done",
            "response.content_part.done",
            "conversation.item.done",
            "response.output_item.done",
            "response.done",
        ]


async def test_turns_of_the_server_s_own_are_refused() -> None:
    """Who asks for server VAD gets an error that names the event, and no session.updated."""
    async with session(RealtimeServer()) as socket:
        await update(socket, turn_detection={"type": "server_vad"})
        (_, refused) = await until(socket, "error")
        assert refused["error"]["event_id"] == "mine_session.update"


async def test_too_little_sound_is_not_committed() -> None:
    """Below 100 ms the commit is an error with the real one's code."""
    async with session(RealtimeServer()) as socket:
        sound = base64.b64encode(speech(2_000)).decode()
        await send(socket, "input_audio_buffer.append", audio=sound)
        await send(socket, "input_audio_buffer.commit")
        refused = (await until(socket, "error"))[-1]
        assert refused["error"]["code"] == "input_audio_buffer_commit_empty"


async def test_one_response_at_a_time() -> None:
    """A second response.create is refused while the first one runs, and cancelling needs one."""
    async with session(RealtimeServer(answers=[Answer(silent=True)])) as socket:
        await send(socket, "response.cancel")
        await send(socket, "response.create")
        await send(socket, "response.create")
        first = (await until(socket, "error"))[-1]
        second = (await until(socket, "error"))[-1]
        assert first["error"]["code"] == "response_cancel_not_active"
        assert second["error"]["code"] == "conversation_already_has_active_response"


async def test_cached_tokens_are_the_shared_beginning() -> None:
    """At least 1,024 and in steps of 128; a changed first item costs them all."""
    server = RealtimeServer(answers=[Answer(audio_ms=0)])
    async with session(server) as socket:
        cached = []
        for text in ("x" * 8_000, "more", "and more"):
            await send(socket, "conversation.item.create", item=item(text))
            await send(socket, "response.create")
            done = (await until(socket, "response.done"))[-1]
            cached.append(done["response"]["usage"]["input_token_details"]["cached_tokens"])
        assert cached == [0, 1920, 1920]
        await send(socket, "conversation.item.delete", item_id="x" * 8_000)
        await send(socket, "response.create")
        done = (await until(socket, "response.done"))[-1]
        assert done["response"]["usage"]["input_token_details"]["cached_tokens"] == 0


def test_transcripts_come_late_when_the_script_says_so() -> None:
    """The server's own transcript can be slower than its whole answer."""

    async def main() -> list[str]:
        server = RealtimeServer(answers=[Answer(audio_ms=200)], transcript_after_s=7)
        async with session(server) as socket:
            await update(socket, turn_detection=None, transcription={"model": "whisper-1"})
            sound = base64.b64encode(speech(24_000)).decode()
            await send(socket, "input_audio_buffer.append", audio=sound)
            await send(socket, "input_audio_buffer.commit")
            await send(socket, "response.create")
            kind = "conversation.item.input_audio_transcription.completed"
            return [event["type"] for event in await until(socket, kind)]

    assert "response.done" in run_virtual(main, epoch_s=0)
