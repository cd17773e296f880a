"""`jarvis talk`: a call from this terminal, with its own microphone and loudspeaker."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TextIO

from voice.cancelling import Cancelling, WebRtcCancelling
from voice.config import Config
from voice.errors import VoiceFault
from voice.house import House
from voice.logs import forward_loguru
from voice.records import (
    CallEnded,
    CallEvent,
    EngineChanged,
    Level,
    MemoryForgotten,
    MemoryWritten,
    Notice,
    PartialText,
    State,
    StateChanged,
    TurnAdded,
    event_json,
)
from voice.sound_card import MiniaudioCard, SoundCard
from voice.transports.microphone import MicrophoneTransport
from voice.transports.page_messages import HangUp, Stop, Typed

Echo = Literal["cancel", "half", "off"]

_BARS = "▁▂▃▄▅▆▇█"
_STATES: dict[State, str] = {
    "connecting": "getting ready, you can speak",
    "listening": "listening",
    "hearing": "hearing you",
    "thinking": "thinking",
    "speaking": "speaking",
    "reconnecting": "reconnecting, go on",
    "ended": "ended",
}
_LINE_END, _DELETE, _RUBOUT, _CLEAR, _ESCAPE, _END = "\r\n", "\x7f", "\x08", "\x15", "\x1b", "\x04"


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkWishes:
    """`echo`: cancel what Jarvis says out of the microphone, or be deaf meanwhile (half), or
    neither (off, for headphones)."""

    microphone: str = ""
    speaker: str = ""
    push_to_talk: bool = False
    echo: Echo = "cancel"
    as_json: bool = False


async def run(config: Config, wishes: TalkWishes, *, card: SoundCard | None = None) -> None:
    """Until the call ends. Raises SoundUnavailable, and what the house raises when it is built."""
    forward_loguru()
    cancelling, half_duplex, said = _against_echo(wishes.echo)
    house = House(config)
    terminal = Terminal(sys.stdout, sys.stderr, wishes)
    try:
        transport = MicrophoneTransport(
            card or MiniaudioCard(wishes.microphone, wishes.speaker),
            cancelling=cancelling,
            half_duplex=half_duplex,
            show=terminal.show,
            folder=config.state,
            push_to_talk=wishes.push_to_talk,
        )
        try:
            await transport.open()
            if said:
                terminal.tell(said)
            with _keys(terminal, transport), _interrupts(transport):
                introducing = asyncio.create_task(_introduce(house, terminal))
                await house.talk(transport)
                introducing.cancel()
        finally:
            await transport.close()
    finally:
        terminal.done()
        await house.close()
    if terminal.failed:
        raise VoiceFault("The call could not be held. What stands above says why.")


def _against_echo(wish: Echo) -> tuple[Cancelling | None, bool, str]:
    """How Jarvis is kept from hearing itself, and what the user is to know about it."""
    if wish == "off":
        return None, False, ""
    if wish == "half":
        return None, True, "While Jarvis speaks the microphone is off. Escape stops the answer."
    try:
        return WebRtcCancelling(), False, ""
    except ImportError:
        return (
            None,
            True,
            "There is no echo canceller for this machine, so while Jarvis speaks the microphone "
            "is off; Escape stops the answer. With headphones: --echo off.",
        )


async def _introduce(house: House, terminal: Terminal) -> None:
    """What answers, as soon as it is known. A fault is told by the call itself."""
    with contextlib.suppress(VoiceFault):
        await house.load()
        for line in house.introduction():
            terminal.tell(line)


# The terminal's two halves ------------------------------------------------------------


@dataclass
class Terminal:
    """Turns go to `out`, all else to `err`. Where `err` is a terminal its last line shows the
    state, the level and what is being typed."""

    out: TextIO
    err: TextIO
    wishes: TalkWishes
    typed: str = ""
    failed: bool = False
    _live: bool = field(init=False)
    _state: State = "connecting"
    _level: float = 0.0
    _partial: str = ""
    _shown: str = ""
    _pressed: bool = field(init=False)

    def __post_init__(self) -> None:
        self._live = self.err.isatty() and not self.wishes.as_json
        self._pressed = not self.wishes.push_to_talk

    def show(self, event: CallEvent) -> None:
        if self.wishes.as_json:
            if not isinstance(event, Level | PartialText):
                print(json.dumps(event_json(event), ensure_ascii=False), file=self.out, flush=True)
            self.failed |= isinstance(event, CallEnded) and event.reason == "engine failed"
            return
        match event:
            case TurnAdded(turn=turn):
                self._partial = ""
                who = "You" if turn.speaker == "user" else "Jarvis"
                cut = " /" if turn.interrupted else ""
                self._print(self.out, f"{who:<6}  {turn.text}{cut}")
            case PartialText(speaker="user", text=text):
                self._partial = text
            case Notice(kind=kind, text=text):
                self._print(self.err, text)
                self.failed |= kind == "stop" and self._state == "connecting"
            case MemoryWritten(saved=True, notebook=notebook, entry=entry):
                self._print(self.err, f"[saved in {notebook}: {entry}]")
            case MemoryWritten(reason=reason):
                self._print(self.err, f"[not saved: {reason}]")
            case MemoryForgotten(notebook=notebook, entry=entry):
                self._print(self.err, f"[taken out of {notebook}: {entry}]")
            case EngineChanged(engine=engine, reason=reason):
                text = f"{reason} {engine.name} answers from now on. {engine.warning}".strip()
                self._print(self.err, text)
            case StateChanged(state=state):
                self._state = state
            case Level(user=user):
                self._level = user
            case CallEnded(reason=reason):
                self._print(self.err, f"The call ended: {reason}.")
            case _:
                pass
        self.refresh()

    def tell(self, text: str) -> None:
        if not self.wishes.as_json:
            self._print(self.err, text)
            self.refresh()

    def pressed(self, pressed: bool) -> None:
        self._pressed = pressed
        self.refresh()

    def refresh(self) -> None:
        if not self._live:
            return
        line = self._status()
        if line != self._shown:
            self._shown = line
            print(f"\r\x1b[K{line}", end="", file=self.err, flush=True)

    def done(self) -> None:
        if self._live:
            self._live = False
            print("\r\x1b[K", end="", file=self.err, flush=True)

    def _status(self) -> str:
        if self.typed:
            return f"> {self.typed[-200:]}"
        state = _STATES[self._state]
        if not self._pressed:
            state += " · Space to talk"
        bar = _BARS[min(len(_BARS) - 1, int(self._level * len(_BARS)))]
        return f"{bar} {state}  {self._partial[-60:]}".rstrip()

    def _print(self, where: TextIO, text: str) -> None:
        if self._live:
            print("\r\x1b[K", end="", file=self.err, flush=True)
            self._shown = ""
        print(text, file=where, flush=True)


class Keyboard:
    """Single keys: letters make a line, Return sends it, Escape stops the answer, Space on an
    empty line is the talk key where one is wanted, Ctrl-D hangs up."""

    def __init__(self, terminal: Terminal, transport: MicrophoneTransport) -> None:
        self._terminal = terminal
        self._transport = transport

    def keys(self, text: str) -> None:
        """What came at once. A line that is pasted whole counts as pasted."""
        if text.startswith(_ESCAPE):
            if text == _ESCAPE:
                self._transport.say(Stop())
            return  # an arrow or the like: longer than the key itself
        pasted = len(text.strip()) > 3
        for key in text:
            self._key(key, pasted=pasted)
        self._terminal.refresh()

    def line(self, text: str) -> None:
        """From a pipe, or where single keys can't be had."""
        if text.strip():
            self._transport.say(Typed(text.strip(), pasted=False))
        else:
            self._toggle()

    def end(self) -> None:
        self._transport.say(HangUp())

    def _key(self, key: str, *, pasted: bool) -> None:
        terminal = self._terminal
        if key in _LINE_END:
            line, terminal.typed = terminal.typed.strip(), ""
            if line:
                self._transport.say(Typed(line, pasted=pasted))
        elif key in (_DELETE, _RUBOUT):
            terminal.typed = terminal.typed[:-1]
        elif key == _CLEAR:
            terminal.typed = ""
        elif key == _END:
            self.end()
        elif key == " " and not terminal.typed and terminal.wishes.push_to_talk:
            self._toggle()
        elif key.isprintable():
            terminal.typed += key

    def _toggle(self) -> None:
        if not self._terminal.wishes.push_to_talk:
            return
        self._transport.press(not self._transport.pressed)
        self._terminal.pressed(self._transport.pressed)


@contextlib.contextmanager
def _keys(terminal: Terminal, transport: MicrophoneTransport) -> Iterator[None]:
    """Keys of a terminal one by one; lines of a pipe as they come."""
    keyboard = Keyboard(terminal, transport)
    loop = asyncio.get_running_loop()
    try:
        descriptor = sys.stdin.fileno()
    except (OSError, ValueError):
        yield  # no standard input at all
        return
    with _single_keys(descriptor) as single:
        rest = bytearray()

        def read() -> None:
            data = _read(descriptor)
            if not data:
                loop.remove_reader(descriptor)
            elif single:
                keyboard.keys(data.decode(errors="ignore"))
            else:
                rest.extend(data)
                while (at := rest.find(b"\n")) >= 0:
                    keyboard.line(rest[:at].decode(errors="replace"))
                    del rest[: at + 1]

        try:
            loop.add_reader(descriptor, read)
        except (NotImplementedError, OSError):
            yield  # Windows, or a file: nothing can be typed
            return
        try:
            yield
        finally:
            loop.remove_reader(descriptor)


def _read(descriptor: int) -> bytes:
    import os

    try:
        return os.read(descriptor, 65_536)
    except OSError:
        return b""


@contextlib.contextmanager
def _single_keys(descriptor: int) -> Iterator[bool]:
    """The terminal gives keys as they are pressed, and shows none; False where it can't."""
    try:
        import termios
        import tty

        before: list[Any] = termios.tcgetattr(descriptor)
    except (ImportError, OSError, ValueError):
        yield False
        return
    except Exception as fault:
        # termios.error is no OSError, and the module may not be there to name it.
        if type(fault).__name__ != "error":
            raise
        yield False
        return
    tty.setcbreak(descriptor)
    try:
        yield True
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _interrupts(transport: MicrophoneTransport) -> Iterator[None]:
    """Ctrl-C hangs up; the words before it are still heard. A second one ends at once."""
    loop = asyncio.get_running_loop()
    hang_up: Callable[[], None] = lambda: _hang_up(loop, transport)  # noqa: E731 - for both calls
    try:
        loop.add_signal_handler(signal.SIGINT, hang_up)
    except (NotImplementedError, RuntimeError, ValueError):
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _hang_up(loop: asyncio.AbstractEventLoop, transport: MicrophoneTransport) -> None:
    loop.remove_signal_handler(signal.SIGINT)
    transport.leave()
