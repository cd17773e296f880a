"""A realtime session's edge to the pipeline: what is to come out, as frames, and tools at work."""

from __future__ import annotations

import asyncio
import logging

from pipecat.frames.frames import Frame, TTSAudioRawFrame, TTSStartedFrame, TTSStoppedFrame

from voice.engines.realtime_records import Began, Ended, Failed, RunTool, Sound, Spoke
from voice.engines.realtime_sound import ANSWER_HZ
from voice.engines.told import told
from voice.frames import AnswerBeganFrame, AnswerDoneFrame, AnswerFailedFrame, SpokenFrame
from voice.tools import Tool, arguments_of

log = logging.getLogger(__name__)

_TOOL_S = 20.0


async def used(tool: Tool | None, asked: RunTool) -> str:
    """What a tool gives, or what is wrong, as a sentence for the model."""
    if tool is None:
        return told("tools", "unknown", tool=asked.name)
    arguments = arguments_of(asked.arguments)
    if arguments is None:
        return told("tools", "arguments")
    try:
        async with asyncio.timeout(_TOOL_S):
            return await tool(arguments)
    except TimeoutError:
        return told("tools", "late")
    except Exception:
        # A tool's mistake must not leave the model, and the user, waiting for it.
        log.exception("the tool %s failed", tool.name)
        return told("tools", "failed")


def frames_of(effect: Began | Spoke | Sound | Ended | Failed, prefix_sha256: str) -> list[Frame]:
    match effect:
        case Began(to, first_token_s, extracts):
            began = AnswerBeganFrame(
                to=to,
                first_token_s=first_token_s,
                first_audio_s=asyncio.get_running_loop().time(),
                extracts=extracts,
            )
            return [began, TTSStartedFrame()]
        case Spoke(text, samples, language):
            return [
                SpokenFrame(text=text, samples=samples, sample_rate_hz=ANSWER_HZ, language=language)
            ]
        case Sound(audio):
            return [TTSAudioRawFrame(audio=audio, sample_rate=ANSWER_HZ, num_channels=1)]
        case Ended(usage):
            done = AnswerDoneFrame(
                prompt_tokens=usage.prompt_tokens,
                cached_tokens=usage.cached_tokens,
                prefix_sha256=prefix_sha256,
            )
            return [TTSStoppedFrame(), done]
        case Failed(text):
            return [AnswerFailedFrame(text=text)]
