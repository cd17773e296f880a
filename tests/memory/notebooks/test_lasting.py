from __future__ import annotations

import pytest

from memory.notebooks.lasting import states_it, tells_a_fact, worth_keeping
from memory.records import Language
from tests.memory.cases import case

NOT_STATED: list[tuple[Language, str]] = [
    ("en", "am I allergic to nuts"),
    ("en", "if I had a boat I would sail"),
    ("en", "set an alarm for seven"),
    ("en", "hang on, I'm in the bath"),
    ("de", "bin ich gegen Nüsse allergisch"),
    ("de", "stell den Wecker auf sieben"),
    ("es", "¿cuándo me levanto, a las cinco"),
    ("es", "tengo mucha hambre"),
    # a day, and what was just done
    ("en", "I had a really long day"),
    ("de", "ich war eben einkaufen"),
    ("de", "ich hab gut geschlafen"),
    ("es", "ha sido un buen día"),
    ("es", "acabo de comer con ella"),
]


@pytest.mark.parametrize(("language", "said"), NOT_STATED)
def test_what_is_asked_supposed_or_of_the_moment_is_not_stated(
    language: Language, said: str
) -> None:
    assert states_it(case(said, "Gets up early", language)) is not None


STATED: list[tuple[Language, str]] = [
    ("en", "I'm allergic to nuts"),
    ("de", "ich stehe immer um fünf auf"),
    ("es", "me levanto a las cinco"),
    # news, though it is fresh
    ("en", "I've just been made partner at the firm"),
    ("de", "ich habe gerade geheiratet"),
    ("es", "acabo de jubilarme este mes"),
]


@pytest.mark.parametrize(("language", "said"), STATED)
def test_what_is_stated_is(language: Language, said: str) -> None:
    assert states_it(case(said, "Gets up early", language)) is None


WORTH: list[tuple[Language, str, str, bool]] = [
    ("en", "garage door open", "Garage door open", False),
    ("en", "I really do love it", "Loves it", False),
    ("en", "my sister sings in a choir", "Sister sings in a choir", True),
    ("en", "we need milk", "Needs milk", False),
    ("de", "der Router steht im Keller", "Der Router steht im Keller", True),
    ("es", "mi hermana canta en un coro", "Su hermana canta en un coro", True),
]


@pytest.mark.parametrize(("language", "said", "text", "kept"), WORTH)
def test_words_about_nobody_and_wants_of_the_moment_are_not_kept(
    language: Language, said: str, text: str, kept: bool
) -> None:
    assert (worth_keeping(case(said, text, language)) is None) is kept


TOPICS: list[tuple[Language, str, bool]] = [
    # what is thought or spoken of, thanked or greeted
    ("en", "so I was thinking about my brother", False),
    ("en", "I welcome the report by Mrs Brown", False),
    ("en", "I would like to thank Dr Klein for her speech", False),
    ("de", "also ich hab grad an meinen Bruder gedacht", False),
    ("de", "deshalb begrüße ich den Bericht von Frau Löw", False),
    ("de", "ich möchte mich bei Herrn Maier bedanken", False),
    ("es", "estaba pensando en mi hermano", False),
    ("es", "acojo con satisfacción el informe de la señora Löw", False),
    # an answer to what was heard
    ("en", "okay thanks I'll think about it", False),
    ("en", "that sounds about right to me", False),
    ("de", "danke, das hilft mir", False),
    ("de", "ich überlege es mir noch", False),
    ("es", "no me suena de nada", False),
    ("es", "sí claro adelante hazlo así", False),
    # what only points
    ("en", "I do know all about that", False),
    ("de", "das weiß ich schon", False),
    ("de", "davon hab ich gehört", False),
    ("es", "eso ya lo sabía", False),
    ("de", "ich habe das Abitur", True),
    ("en", "I know that park in Bath", True),
    # said of the talk itself
    ("en", "I can't quite hear you today", False),
    ("de", "ich verstehe dich nicht", False),
    ("de", "ich melde mich morgen bei dir", False),
    ("es", "mañana hablo contigo otra vez", False),
    ("en", "I want short answers from you", True),
    ("de", "ich will von dir kurze Antworten", True),
    ("en", "you know I play the cello you know", True),
    # a plan, a habit, and more than the topic
    ("en", "I've been thinking about moving to Lyon", True),
    ("en", "we're thinking about a trip to Japan", True),
    ("en", "I often think about my late father", True),
    ("en", "I was thinking about my brother he lives in Rome", True),
    ("en", "it helps my back to swim every morning", True),
    ("de", "ich denke darüber nach, nach Lyon zu ziehen", True),
    ("de", "ich denke oft an meinen verstorbenen Vater", True),
    ("de", "ich wurde in Bremen geboren", True),
    ("es", "estoy pensando en mudarme a Lyon", True),
    ("es", "pienso a menudo en mi difunto padre", True),
    ("es", "estaba pensando en mi hermano vive en Roma", True),
]


@pytest.mark.parametrize(("language", "said", "told"), TOPICS)
def test_a_topic_alone_tells_no_fact(language: Language, said: str, told: bool) -> None:
    assert (tells_a_fact(case(said, "Has a brother", language)) is None) is told
