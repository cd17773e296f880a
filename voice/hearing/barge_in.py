"""A voice into an answer: whose it is, what becomes of the answer meanwhile, and whether it ends it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memory.records import Language
from voice.hearing.endpoint import FrameSound
from voice.hearing.open_turn import OpenTurn, Words
from voice.hearing.own_voice import OwnVoice, Whose
from voice.hearing.phrases import phrases
from voice.hearing.wording import is_backchannel, is_clear, is_stop, words
from voice.hearing.yielding import Action, Yielding
from voice.playback import Playback

_NO_SOUND = FrameSound(gate=False, probability=0.0, level_dbfs=-120.0)
_HALF_DUPLEX = (
    "Jarvis hears itself through the microphone, so from now on it doesn't listen while it "
    "speaks. Use headphones, or stop it with the button."
)
_WORDS_TAKE_MS = 700


class BargeIn:
    """For one call. Without a playback `answering` is what somebody else says of it."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self._languages = tuple(languages)
        self._playback: Playback | None = None
        self._own = OwnVoice(None)
        self._yielding = Yielding()
        self._told_deaf = False
        self._notify: Callable[[str], None] = lambda _: None
        self.answering = False
        """Jarvis speaks now."""

    def attach(self, playback: Playback, notify: Callable[[str], None]) -> None:
        """As `Listener.attach`."""
        self._playback = playback
        self._own = OwnVoice(playback)
        self._notify = notify

    def spoke(self, text: str) -> None:
        """What the present answer says, as far as it is being played."""
        self._own.spoke(text)

    @property
    def stoppable(self) -> bool:
        """A voice that lasts may end an answer. What may be Jarvis itself doesn't."""
        return self.answering and self._own.verdict != "unsure"

    def frame(self, sound: FrameSound, *, waits: bool) -> tuple[FrameSound, bool]:
        """The frame without Jarvis' own voice, and whether it has just silenced the answer, so that
        its words are wanted. `waits`: words are being asked for."""
        sound = self._own.frame(sound)
        if self._playback is None:
            return sound, False
        self.answering = self._own.sounding
        if self._own.half_duplex and not self._told_deaf:
            self._told_deaf = True
            self._notify(_HALF_DUPLEX)
        counts = sound if self._own.surely else _NO_SOUND
        action = self._yielding.frame(counts, sounding=self.answering, waits=waits)
        self._take(action)
        return sound, action == "hold"

    def heard(self, turn: OpenTurn, *, pausing: bool) -> None:
        """An open turn's last frame, as far as it tells who speaks."""
        if not pausing:
            turn.answered_into = self.answering
            turn.suspicion.add(self._own.verdict)

    def whose(self, turn: OpenTurn, found: Words, position_ms: int) -> Whose:
        """Who said these words of a turn."""
        return self._own.whose(found.text, turn.suspicion, position_ms - turn.began_ms)

    def only_listens(self, found: Words) -> bool:
        """Signs of listening, or what may be one. In any of the call's languages: who listens to
        one says "mhm" in another."""
        return not self._stops(found) and (
            self.is_sign(found) or not is_clear(found.text, found.logprob)
        )

    def is_sign(self, found: Words) -> bool:
        """A sign of listening, for sure."""
        return any(is_backchannel(found.text, phrases(each)) for each in self._languages)

    def _stops(self, found: Words) -> bool:
        return any(is_stop(found.text, phrases(each)) for each in self._languages)

    def ends_answer(self, turn: OpenTurn, found: Words, position_ms: int, *, whole: bool) -> bool:
        """Whether these words end the answer: "mhm" and music don't, and let it go on. `whole`: they
        are all of a pause's words."""
        if turn.barged or not self.answering:
            return False
        if (
            not whole
            and not self._stops(found)
            and (position_ms - turn.began_ms < _WORDS_TAKE_MS or len(words(found.text)) < 2)
        ):
            return False  # half a word is any word: "vale" begins like "bye"; it is silent already
        meant = found.nothing is None and not self.only_listens(found)
        if meant and self.whose(turn, found, position_ms) != "own":
            return True
        if whole:
            # While a voice lasts, words that make no sense yet are the beginning of some that will.
            self.nothing_meant()
        return False

    def nothing_meant(self) -> None:
        """The voice was no word, or a sign of listening."""
        self._take(self._yielding.nothing_meant())

    def more_came(self) -> None:
        """Behind a pause the same voice says more."""
        self._yielding.more_came()

    def stopped(self) -> None:
        """The answer was ended."""
        self._yielding.stopped()

    def got_through(self) -> None:
        """Jarvis' own words became a turn."""
        self._own.got_through()

    def _take(self, action: Action | None) -> None:
        if action is None or self._playback is None:
            return
        match action:
            case "lower":
                self._playback.lower()
            case "hold":
                self._playback.hold()
            case "go on":
                self._playback.go_on()
