"""What transcripts' words tell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory.records import LANGUAGES, Language
from voice.hearing.phrases import phrases
from voice.hearing.wording import (
    Ending,
    Evidence,
    cleaned,
    ending,
    is_backchannel,
    is_clear,
    is_stop,
    wants_silence,
    why_nothing,
    without_loops,
    words,
)

SPOKEN = Evidence(voiced_ms=900, span_ms=1100, confidence=0.95, logprob=-0.25, no_speech=0.05)
SOFT = Evidence(voiced_ms=400, span_ms=450, confidence=0.8, logprob=-0.5, no_speech=0.3)
CLICKS = Evidence(voiced_ms=120, span_ms=140, confidence=0.55, logprob=-0.6, no_speech=0.5)
ACROSS = replace(SPOKEN, above_room_db=20.0, below_usual_db=15.0)
IN_A_CROWD = replace(SPOKEN, above_room_db=3.0)
HISS = Evidence(voiced_ms=600, span_ms=700, confidence=0.6, logprob=-0.8, no_speech=0.75)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "What time is it?", "question"),
        ("en", "Turn on the lamp.", "finished"),
        ("en", "I would like to book a table for.", "unfinished"),
        ("en", "My sister's birthday is", "unfinished"),
        ("en", "I need to call my.", "unfinished"),
        ("en", "I went there because.", "unfinished"),
        ("en", "I was thinking, um.", "unfinished"),
        ("en", "I'd like to...", "unfinished"),
        ("en", "Well, maybe…", "unfinished"),
        ("en", "Where are you from?", "question"),
        ("en", "Turn it on.", "falling"),
        ("en", "Thank you.", "falling"),
        ("en", "What is my dog called?", "question"),
        ("de", "Ich verstehe das nicht.", "falling"),
        ("de", "In einer Minute werde ich fertig sein.", "falling"),
        ("de", "Wie heißt mein Hund, und wo ist er?", "question"),
        ("es", "Creo que no.", "falling"),
        ("en", "Set a timer for ten minutes", "loose"),
        ("es", "donde vivo", "finished"),
        ("es", "cuando llaman mis", "unfinished"),
        ("es", "llaman los domingos", "loose"),
        ("de", "wo wohnt mein Bruder", "finished"),
        ("en", "what does my brother drink", "finished"),
        ("en", "Stop!", "question"),
        ("de", "Wann habe ich einen Termin?", "question"),
        ("de", "Wo wohne ich?", "question"),
        ("de", "Morgen fahre ich", "unfinished"),
        ("de", "Und dann habe ich.", "unfinished"),
        ("de", "Mach das Licht an.", "falling"),
        ("de", "Erinnere mich morgen an den.", "unfinished"),
        ("de", "Ich brauche noch Milch und.", "unfinished"),
        ("de", "Ich glaube, dass", "unfinished"),
        ("de", "Meine Schwester heißt", "unfinished"),
        ("de", "Ich fahre nach Berlin.", "finished"),
        ("es", "¿Qué hora tienes?", "question"),
        ("es", "¿Qué hora es?", "question"),
        ("es", "Mañana quiero ir a la.", "unfinished"),
        ("es", "Necesito comprar pan y.", "unfinished"),
        ("es", "Mi hermana se llama", "unfinished"),
        ("es", "Apaga la luz.", "finished"),
        ("es", "¿Cuándo es el cumpleaños de mi hermana?", "question"),
        ("en", "", "unfinished"),
    ],
)
def test_ending(language: Language, text: str, expected: Ending) -> None:
    """Whoever stops at an article, a preposition or a conjunction is not done."""
    assert ending(text, phrases(language)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no, no, no, no", "no, no, no, no"),
        ("no no no no no no no", "no"),
        ("Password incorrect. " + "incorre " * 9, "Password incorrect. incorre"),
        ("I can't believe it! " * 3, "I can't believe it!"),
        ("I can't believe it! I can't believe it!", "I can't believe it! I can't believe it!"),
        ("and then we went, and then we went, and then we went, and then", "and then we went,"),
        ("what time is it", "what time is it"),
        ("", ""),
    ],
)
def test_without_loops(text: str, expected: str) -> None:
    """A transcriber's loop is kept once; people repeat themselves less."""
    assert without_loops(text) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Turn on the light. Thank you for watching!", "Turn on the light."),
        ("en", "Turn on the light. Thank you.", "Turn on the light. Thank you."),
        ("en", "[Music] What time is it? (coughs)", "What time is it?"),
        ("en", "♪ ♪", ""),
        ("de", "Wie spät ist es? Untertitel der Amara.org-Community", "Wie spät ist es?"),
        ("es", "¿Qué hora es? ¡Gracias por ver el video!", "¿Qué hora es?"),
    ],
)
def test_cleaned(language: Language, text: str, expected: str) -> None:
    """Described noises and inventions behind the words go; the words stay."""
    assert cleaned(text, phrases(language)) == expected


@pytest.mark.parametrize(
    ("language", "text", "evidence", "stands"),
    [
        ("en", "What time is it?", SPOKEN, True),
        ("en", "Thank you for watching!", SPOKEN, False),
        ("de", "Untertitel der Amara.org-Community", SPOKEN, False),
        ("de", "Untertitelung des ZDF, 2020", SPOKEN, False),
        ("es", "¡Gracias por ver el video!", SPOKEN, False),
        ("es", "Subtítulos realizados por la comunidad de Amara.org", SPOKEN, False),
        ("en", "Thank you.", SPOKEN, True),
        ("en", "Thank you.", SOFT, True),
        ("en", "Goodbye.", SOFT, True),
        ("de", "Tschüss.", SOFT, True),
        ("es", "Adiós.", SOFT, True),
        ("en", "Thank you.", CLICKS, False),
        ("en", "you", HISS, False),
        ("de", "Vielen Dank.", CLICKS, False),
        ("es", "Gracias.", HISS, False),
        ("en", "That's what I'm talking about.", CLICKS, False),
        ("en", "...", SPOKEN, False),
        ("en", "Thank you very much.", SPOKEN, True),
        ("en", "Thank you very much.", ACROSS, False),
        ("en", "Thank you very much. Thank you.", IN_A_CROWD, False),
        ("en", "Thank you very much, Robin.", IN_A_CROWD, True),
        ("de", "Vielen Dank.", IN_A_CROWD, False),
        ("es", "Muchas gracias.", ACROSS, False),
        ("en", "When is the museum open?", ACROSS, True),
        ("en", "I would be so glad.", replace(SPOKEN, logprob=-1.25), True),
        ("en", "I would be so glad.", replace(ACROSS, logprob=-1.25), False),
        ("en", "You did it.", replace(IN_A_CROWD, confidence=0.65, logprob=-0.75), False),
        ("en", "You did it.", replace(SPOKEN, confidence=0.65, logprob=-0.75), True),
        ("en", "Stop.", SOFT, True),
        (
            "en",
            "Thank you very much.",
            Evidence(voiced_ms=8000, span_ms=9900, confidence=0.9, logprob=-0.4, no_speech=0.3),
            False,
        ),
        (
            "en",
            "Something unclear here",
            Evidence(voiced_ms=900, span_ms=900, confidence=0.9, logprob=-1.4, no_speech=0.1),
            False,
        ),
        *(
            (
                "en",
                "Good evening. Come on.",
                Evidence(
                    voiced_ms=1560,
                    span_ms=2180,
                    confidence=confidence,
                    logprob=logprob,
                    no_speech=0.45,
                ),
                stands,
            )
            for confidence, logprob, stands in (
                (0.54, -0.86, False),  # colleagues, far away
                (0.53, -0.73, False),
                (0.56, -0.74, True),
                (0.75, -0.86, True),
                (0.75, -1.1, False),
            )
        ),
    ],
)
def test_why_nothing(language: Language, text: str, evidence: Evidence, stands: bool) -> None:
    """Inventions on silence and noise fall; a soft but real word of thanks stands."""
    assert (why_nothing(text, evidence, phrases(language)) is None) is stands


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Mm-hmm.", True),
        ("en", "Yeah, yeah.", True),
        ("en", "Okay.", True),
        ("en", "Stop.", False),
        ("en", "No.", False),
        ("en", "Wait a moment.", False),
        ("de", "Mhm.", True),
        ("de", "Ja, genau.", True),
        ("de", "Nein!", False),
        ("de", "Halt.", False),
        ("es", "Sí, sí.", True),
        ("es", "Ajá.", True),
        ("es", "Para.", False),
        ("en", "", True),
    ],
)
def test_backchannel(language: Language, text: str, expected: bool) -> None:
    """Signs of listening are none of an interruption."""
    assert is_backchannel(text, phrases(language)) is expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_phrases_are_as_they_are_compared(language: Language) -> None:
    """Every phrase is written as transcripts are compared, or it could never match."""
    known = phrases(language)
    for group in (
        known.never_last,
        known.last_in_questions,
        known.last_if_it_sounds_over,
        known.asks,
        known.backchannels,
        known.stops,
        known.inventions,
        known.doubtful,
    ):
        assert [phrase for phrase in group if " ".join(words(phrase)) != phrase] == []
    assert not known.never_last & known.last_if_it_sounds_over
    assert not known.inventions & known.doubtful
    assert not known.stops & known.backchannels
    assert known.called_out <= known.stops


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Stop!", True),
        ("en", "Okay, stop.", True),
        ("en", "Wait, wait, wait.", True),
        ("en", "Hold on.", True),
        ("en", "Stop the washing machine at nine.", False),
        ("en", "Yeah.", False),
        ("de", "Ja, warte mal.", True),
        ("de", "Stopp, stopp.", True),
        ("de", "Warte auf den Bus.", False),
        ("es", "¡Para!", True),
        ("es", "Vale, espera.", True),
        ("es", "Para mañana.", False),
    ],
)
def test_words_of_stopping(language: Language, text: str, expected: bool) -> None:
    """Who says no more than that wants silence; in a sentence they are words like others."""
    assert is_stop(text, phrases(language)) is expected


@pytest.mark.parametrize(
    ("language", "text", "into_answer", "expected"),
    [
        ("en", "Stop.", False, True),
        ("en", "Wait a moment.", False, True),
        ("en", "No.", False, False),
        ("en", "No, no.", False, False),
        ("en", "No.", True, True),
        ("en", "Yes.", True, False),
        ("de", "Stopp.", False, True),
        ("de", "Nein.", False, False),
        ("de", "Nein, nein.", True, True),
        ("es", "Para.", False, True),
        ("es", "No.", False, False),
        ("es", "No.", True, True),
    ],
)
def test_what_nothing_is_said_to(
    language: Language, text: str, into_answer: bool, expected: bool
) -> None:
    """ "No" answers a question, but into an answer it asks for silence like "stop"."""
    assert wants_silence(text, phrases(language), into_answer=into_answer) is expected


@pytest.mark.parametrize(
    ("text", "logprob", "expected"),
    [
        ("Him?", -0.88, False),
        ("No.", -0.28, True),
        ("My number, please.", -0.75, True),
        ("I'm going back to my room.", -1.1, False),
    ],
)
def test_few_words_have_to_be_clear(text: str, logprob: float, expected: bool) -> None:
    """A hum becomes a short word that the transcriber doubts; a sentence may be less sure."""
    assert is_clear(text, logprob) is expected
