"""`jarvis doctor`: what works and what doesn't, each with its remedy."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from memory import Memory, NoModel
from memory.errors import MemoryFault
from memory.records import Prefix
from voice import weights
from voice.config import Config, config_file
from voice.engines import choose
from voice.engines.protocol import Opening
from voice.equipment import hearing_worker, look, model_of, needed_weights, speech_of, wishes_of
from voice.errors import PortInUse, VoiceFault
from voice.learning import background_of
from voice.links import links
from voice.own_memory import now, open_memory
from voice.remotes import remote_engine
from voice.serve import listen

MEMORY_GIB = 3.0
DISK_GIB = 1.0
_MARKS = {"works": "ok", "careful": "! ", "broken": "X "}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`remedy` is what to do; empty where nothing is to be done."""

    subject: str
    level: Literal["works", "careful", "broken"]
    text: str
    remedy: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def line(self) -> str:
        remedy = f"\n{'':<21}{self.remedy}" if self.remedy else ""
        return f"{_MARKS[self.level]}  {self.subject:<16} {self.text}{remedy}"


Look = Callable[[Config], Awaitable[list[Finding]]]


async def examine(config: Config, *, models: bool = True) -> list[Finding]:
    """Every part in turn; with `models` these are loaded and really asked for something."""
    loading: frozenset[Look] = frozenset({_hearing, _thinking, _speaking, _page})
    looks: tuple[Look, ...] = (
        _python,
        _room,
        _memory,
        _links,
        _weights,
        _hearing,
        _thinking,
        _reviews,
        _speaking,
        _page,
    )
    findings: list[Finding] = []
    for each in looks:
        if models or each not in loading:
            findings += await each(config)
    return findings


async def _python(config: Config) -> list[Finding]:
    del config
    version = ".".join(map(str, sys.version_info[:3]))
    settings = config_file()
    found = f"file: {settings}" if settings.exists() else f"no file yet: {settings} would be read"
    return [
        Finding(subject="Python", level="works", text=version),
        Finding(subject="Settings", level="works", text=found),
    ]


async def _room(config: Config) -> list[Finding]:
    found = await look(config)
    cores = f"{found.cores} cores, {found.memory_gib:.0f} GiB of memory"
    tight = found.memory_gib < MEMORY_GIB
    findings = [
        Finding(
            subject="Computer",
            level="careful" if tight else "works",
            text=cores,
            remedy="Hearing, thinking and speaking need about 1.3 GiB together." if tight else "",
        )
    ]
    folder = next(each for each in (config.state, *config.state.parents) if each.exists())
    free_gib = shutil.disk_usage(folder).free / (1 << 30)
    full = free_gib < DISK_GIB
    findings.append(
        Finding(
            subject="Disk",
            level="careful" if full else "works",
            text=f"{free_gib:.1f} GiB free where {config.state} is",
            remedy="Make room, or name another folder with --state." if full else "",
        )
    )
    return findings


async def _memory(config: Config) -> list[Finding]:
    try:
        memory = open_memory(config)
    except MemoryFault as fault:
        return [Finding(subject="Vault", level="broken", text=str(fault))]
    try:
        return [*_notebooks(memory, config), *_left(memory, config)]
    except MemoryFault as fault:
        return [Finding(subject="Memory", level="broken", text=str(fault))]
    finally:
        memory.close()


def _notebooks(memory: Memory, config: Config) -> list[Finding]:
    findings = [Finding(subject="Vault", level="works", text=str(config.vault))]
    findings += [
        Finding(
            subject=summary.name,
            level="works",
            text=f"{summary.entries:,} {'entry' if summary.entries == 1 else 'entries'}, "
            f"{summary.chars:,} characters",
        )
        for summary in memory.notebooks()
    ]
    waits = memory.waiting_for_room()
    full = f"{memory.fullness():.0%}"
    findings.append(
        Finding(
            subject="Notebooks",
            level="careful" if waits else "works",
            text=f"{full} full; {len(waits)} entries wait for room" if waits else f"{full} full",
            remedy="Have something forgotten: `jarvis forget TEXT`." if waits else "",
        )
    )
    return findings + [
        Finding(subject="Notebooks", level="careful", text=warning)
        for warning in (*memory.conflict_copies(), *memory.prefix().warnings)
    ]


def _left(memory: Memory, config: Config) -> list[Finding]:
    waiting = memory.reviews_waiting()
    marked = sum(each.marked for each in waiting)
    findings = [
        Finding(
            subject="Transcripts",
            level="works",
            text=f"{len(waiting)} hand-overs wait for their review, {marked} sentences marked, "
            f"in {config.state / 'calls'}",
            remedy="`jarvis review` does it now." if marked else "",
        )
    ]
    return findings + [
        Finding(subject="Transcripts", level="careful", text=text)
        for text in (*memory.unreadable(), *memory.events.warnings)
    ]


async def _links(config: Config) -> list[Finding]:
    """From a changed file to what is recalled (J6)."""
    try:
        memory = open_memory(config)
    except MemoryFault:
        return []  # the vault's own finding says why
    try:
        found = await asyncio.to_thread(links, memory, config, datetime.now().astimezone())
    except MemoryFault as fault:
        return [Finding(subject="Journal", level="broken", text=str(fault))]
    finally:
        memory.close()
    return [
        Finding(subject=each.subject, level=each.level, text=each.text, remedy=each.remedy)
        for each in found
    ]


async def _reviews(config: Config) -> list[Finding]:
    """Who is asked about marked sentences, and who pays (L4.3)."""
    if not config.learning:
        return [Finding(subject="Learning", level="works", text="switched off (learning = false)")]
    try:
        choice: choose.Choice | None = choose.choose(wishes_of(config), await look(config))
    except VoiceFault:
        choice = None  # the engine's own finding says why
    background = background_of(config, choice, lambda: None)
    try:
        found = await background.choice()
    finally:
        await background.close()
    if isinstance(found, NoModel):
        return [
            Finding(
                subject="Reviews",
                level="works" if found.off else "careful",
                text=found.why,
                remedy="" if found.off else "Until then what you say waits on disk.",
            )
        ]
    return [
        Finding(
            subject="Reviews",
            level="works",
            text=f"{found.why} Billing: {found.billing}.",
            remedy=found.hint,
        )
    ]


async def _weights(config: Config) -> list[Finding]:
    findings = []
    for name in needed_weights(config):
        state = weights.state_of(name, config.weights)
        size = weights.size_words(state.bytes)
        stands = {
            "present": f"{name}: here, {size}",
            "missing": f"{name}: missing, {size}",
            "damaged": f"{name}: damaged, {size}",
        }
        here = state.state == "present"
        findings.append(
            Finding(
                subject="Weights",
                level="works" if here else "broken",
                text=stands[state.state],
                remedy="" if here else f"jarvis models --bring {name}",
            )
        )
    return findings


async def _hearing(config: Config) -> list[Finding]:
    try:
        worker = hearing_worker(config)
        try:
            await worker.call("warm", {"languages": list(config.languages)})
        finally:
            await worker.close()
    except VoiceFault as fault:
        return [Finding(subject="Hearing", level="broken", text=str(fault))]
    return [Finding(subject="Hearing", level="works", text="Whisper base transcribes")]


async def _thinking(config: Config) -> list[Finding]:
    found = await look(config)
    try:
        choice = choose.choose(wishes_of(config), found)
    except VoiceFault as fault:
        return [Finding(subject="Engine", level="broken", text=str(fault))]
    findings = [Finding(subject="Engine", level="works", text=choice.why)]
    if choice.hint:
        findings.append(Finding(subject="Engine", level="works", text=choice.hint))
    try:
        if choice.is_remote:
            return [*findings, await _service(config, choice)]
        model = model_of(config, choice)
        assert model is not None
        try:
            await model.prepare("You are being tested.")
        finally:
            await model.close()
    except VoiceFault as fault:
        return [*findings, Finding(subject="Thinking", level="broken", text=str(fault))]
    return [*findings, Finding(subject="Thinking", level="works", text=f"{choice.model} answers")]


async def _service(config: Config, choice: choose.Choice) -> Finding:
    """A session is really opened, and closed before anything is said: that costs nothing."""
    engine = remote_engine(config, choice)
    opening = Opening(
        prefix=Prefix(text="You are being tested.", sha256=""),
        language=config.languages[0],
        now=now,
        news=_no_news,
        notify=lambda _: None,
    )
    try:
        await engine.open(opening)
    finally:
        await engine.close()
    return Finding(subject="Thinking", level="works", text=f"{choice.model} opens a session")


async def _no_news() -> None:
    return None


async def _speaking(config: Config) -> list[Finding]:
    speech = speech_of(config)
    try:
        warnings = await speech.warm(config.languages)
        names = ", ".join(
            f"{language}: {speech.voice_name(language)}" for language in config.languages
        )
        return [
            Finding(subject="Speaking", level="works", text=names),
            *(Finding(subject="Speaking", level="careful", text=text) for text in warnings),
        ]
    except VoiceFault as fault:
        return [Finding(subject="Speaking", level="broken", text=str(fault))]
    finally:
        await speech.close()


async def _page(config: Config) -> list[Finding]:
    try:
        listener: socket.socket = await asyncio.to_thread(listen, config.port)
    except PortInUse as fault:
        return [Finding(subject="Page", level="careful", text=str(fault))]
    listener.close()
    browser = next(
        (name for name in ("chromium", "google-chrome", "firefox") if shutil.which(name)), None
    )
    screen = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    where = f"http://127.0.0.1:{config.port} is free"
    if sys.platform == "linux" and not (browser and screen):
        where += "; no browser window can be opened from here"
    return [Finding(subject="Page", level="works", text=where)]
