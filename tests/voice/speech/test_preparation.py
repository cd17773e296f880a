"""What is written, and what is said."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import LANGUAGES, Language
from voice.speech.preparation import speakable
from voice.speech.words import words_of

MARKDOWN: list[tuple[str, str]] = [
    ("**Bold** and *italic* and __strong__ and _soft_.", "Bold and italic and strong and soft."),
    ("***All*** of ~~it~~", "All of it"),
    ("**Half of", "Half of"),
    ("a pair** more", "a pair more"),
    ("3 * 4 is 12", "3 times 4 is 12"),
    ("# Bread\nMix it.", "Bread. Mix it."),
    ("### Bread ###\nMix it!", "Bread. Mix it!"),
    ("- flour\n- water\n", "flour. water."),
    ("* flour\n+ water", "flour. water"),
    ("- [x] bought\n- [ ] not bought", "bought. not bought"),
    ("1. Mix\n2. Bake\n", "1. Mix. 2. Bake."),
    ("> Be brave\n> always", "Be brave. always"),
    ("[the page](https://a.example/b?c=d) shows", "the page shows"),
    ('[the page](https://a.example "its title") shows', "the page shows"),
    ("![a red cat](cat.png)", "a red cat"),
    ("[the page][1] shows it[^2]", "the page shows it"),
    ("`print` it", "print it"),
    ("```python\nprint(1)\n```\nDone.", "print(1). Done."),
    ("| day | food |\n|---|:--:|\n| Monday | rice |", "day, food. Monday, rice"),
    ("Above\n\n---\n\nBelow", "Above. Below"),
    ("one<br>two <b>three</b>", "one. two three"),
    (r"5 \* 3", "5 times 3"),
    ("snake_case_name", "snake_case_name"),
    ("", ""),
    ("**", ""),
    ("---", ""),
    ("...", ""),
]


@pytest.mark.parametrize(("written", "said"), MARKDOWN)
def test_markdown(written: str, said: str) -> None:
    assert speakable(written, words_of("en")) == said


SIGNS: list[tuple[Language, str, str]] = [
    ("en", "Hello 👋🏽 there 👨‍👩‍👧!", "Hello there!"),
    ("en", "🇪🇸 1️⃣ ✅ done", "1 done"),
    ("en", "❤️", ""),
    ("en", "Settings → Sound", "Settings, Sound"),
    (
        "en",
        "See https://www.example.org/a-b/c?x=1&y=2#z.",
        "See example dot org slash a b slash c.",
    ),
    ("en", "<https://example.org>", "example dot org"),
    ("en", "Write to mia.b@example.org!", "Write to mia dot b at example dot org!"),
    ("en", "On example.com/foo, as ever", "On example dot com slash foo, as ever"),
    ("de", "Auf www.beispiel.de steht es.", "Auf beispiel Punkt de steht es."),
    ("es", "En ejemplo.es o a@b.es", "En ejemplo punto es o a arroba b punto es"),
    ("en", "Salt & pepper", "Salt and pepper"),
    ("de", "Salz & Pfeffer", "Salz und Pfeffer"),
    ("es", "sal & pimienta", "sal y pimienta"),
    ("es", "3 + 4 = 7", "3 más 4 igual a 7"),
    ("de", "5 - 3 = 2", "5 minus 3 gleich 2"),
    ("en", "x >= 3", "x is at least 3"),
    ("en", "he/she", "he, she"),
    ("de", "24/7", "24 durch 7"),
    ("es", "#1", "número 1"),
    ("de", "§ 5", "Paragraph 5"),
]

DATES: list[tuple[Language, str, str]] = [
    ("en", "on 2026-12-04", "on December fourth, 2026"),
    ("en", "2026-13-04", "2026-13-04"),
    ("en", "at 14:30", "at 14:30"),
    ("en", "the 14th", "the 14th"),
    ("en", "2026-12-04T14:30", "December fourth, 2026 14:30"),
    ("de", "am 2026-12-04", "am vierten Dezember 2026"),
    ("de", "am 04.12.2026", "am vierten Dezember 2026"),
    ("de", "der 4. Dezember", "der vierte Dezember"),
    ("de", "Heute ist 1. Mai", "Heute ist erster Mai"),
    ("de", "bis 14.3. warten", "bis vierzehnten März warten"),
    ("de", "im 2. Stock", "im zweiten Stock"),
    ("de", "der 2. Weltkrieg", "der zweite Weltkrieg"),
    ("de", "um 14:30 Uhr", "um 14 Uhr 30"),
    ("de", "um 07:05", "um 7 Uhr 5"),
    ("de", "um 8:00 Uhr", "um 8 Uhr"),
    ("de", "seit 1999", "seit neunzehnhundert 99"),
    ("de", "seit 1900 und 2026", "seit neunzehnhundert und 2026"),
    ("es", "el 2026-12-04", "el 4 de diciembre de 2026"),
    ("es", "el 04/12/2026", "el 4 de diciembre de 2026"),
    ("es", "a las 14:30", "a las 14 y 30"),
    ("es", "a las 7:00 h", "a las 7"),
    ("es", "de 10:00-12:30", "de 10 a 12 y 30"),
    ("es", "el 24/12", "el 24 de diciembre"),
    ("es", "24/7", "24 entre 7"),
    ("en", "on 12/04/2026", "on 12/04/2026"),
    ("en", "Jan. 5", "January 5"),
    ("de", "vom 1. bis 3. Mai", "vom ersten bis dritten Mai"),
    ("de", "von 10:00–12:00 Uhr", "von 10 Uhr bis 12 Uhr"),
]

AMOUNTS: list[tuple[Language, str, str]] = [
    ("en", "3.5 km", "3.5 kilometers"),
    ("en", "1 kg", "1 kilogram"),
    ("en", "10 °C or 50°F", "10 degrees Celsius or 50 degrees Fahrenheit"),
    ("en", "€5 and 5 € and €1", "5 euros and 5 euros and 1 euro"),
    ("en", "€9.99", "9 euros 99"),
    ("en", "$2.5 million", "2.5 million dollars"),
    ("en", "20%", "20 percent"),
    ("en", "$5-$10", "5 dollars to 10 dollars"),
    ("en", "5 x 3", "5 times 3"),
    ("en", "version 1.2.3", "version 1.2.3"),
    ("de", "§§ 5", "Paragraph 5"),
    ("en", "1½ cups, ½ cup", "1 and a half cups, a half cup"),
    ("en", "5-7 people", "5 to 7 people"),
    ("en", "call 555-1234", "call 555-1234"),
    ("en", "won 3-1", "won 3-1"),
    ("en", "-5 degrees", "minus 5 degrees"),
    ("en", "a 10-year-old", "a 10-year-old"),
    ("en", "1,250.50", "1,250.50"),
    ("de", "3,5 km", "3,5 Kilometer"),
    ("de", "1.250 m und 80 km/h", "1.250 Meter und 80 Kilometer pro Stunde"),
    ("de", "9,99 €", "9 Euro 99"),
    ("de", "5,00 EUR", "5 Euro"),
    ("de", "3 Mio. €", "3 Millionen Euro"),
    ("de", "8–10 Uhr", "8 bis 10 Uhr"),
    ("de", "1 h und 2 h", "1 Stunde und 2 Stunden"),
    ("de", "1/2 Liter", "ein halb Liter"),
    ("es", "5 € y 1 €", "5 euros y 1 euro"),
    ("es", "9,99 €", "9 euros con 99"),
    ("es", "3 millones de €", "3 millones de euros"),
    ("es", "½ kg", "medio kilo"),
    ("es", "-5 grados", "menos 5 grados"),
    ("es", "10-12 min", "10 a 12 minutos"),
]

ABBREVIATIONS: list[tuple[Language, str, str]] = [
    ("en", "fruit, e.g. apples", "fruit, for example apples"),
    ("en", "Dr. Smith", "Doctor Smith"),
    ("en", "apples etc. Then", "apples et cetera. Then"),
    ("en", "apples etc. are", "apples et cetera are"),
    ("en", "at 7 p.m.", "at 7 P M."),
    ("en", "No. I mean No. 3.", "No. I mean number 3."),
    ("de", "Obst, z. B. Äpfel", "Obst, zum Beispiel Äpfel"),
    ("de", "Z.B. Äpfel", "zum Beispiel Äpfel"),
    ("de", "d. h. Dr. Weiß", "das heißt Doktor Weiß"),
    ("de", "Äpfel usw.", "Äpfel und so weiter."),
    ("de", "ca. 5 kg", "circa 5 Kilogramm"),
    ("de", "Nr. 3", "Nummer 3"),
    ("es", "fruta, p. ej. uvas", "fruta, por ejemplo uvas"),
    ("es", "la Sra. López", "la señora López"),
    ("es", "en EE. UU. y aquí", "en Estados Unidos y aquí"),
    ("es", "el n.º 3", "el número 3"),
]


@pytest.mark.parametrize(("language", "written", "said"), SIGNS + DATES + AMOUNTS + ABBREVIATIONS)
def test_what_a_language_says(language: Language, written: str, said: str) -> None:
    assert speakable(written, words_of(language)) == said


PLAIN: list[tuple[Language, str]] = [
    ("en", "Sure, I can help with that. Isn't it well-known? Yes!"),
    ("de", "Gern, ich helfe dir dabei. Schöne Grüße an Jürgen!"),
    ("es", "¿Qué tal? ¡Claro que sí! Mañana, en el jardín."),
]


@pytest.mark.parametrize(("language", "text"), PLAIN)
def test_plain_sentences_stay_as_they_are(language: Language, text: str) -> None:
    assert speakable(text, words_of(language)) == text


@given(
    sentence=st.lists(st.sampled_from(["wir", "heute", "Kino", "casa", "niño", "help", "Ärger"])),
    marks=st.lists(
        st.sampled_from(["**", "*", "`", "# ", "> ", "- ", "😀", "\n", " ", ", ", ". "])
    ),
    language=st.sampled_from(LANGUAGES),
)
def test_no_word_is_dropped(sentence: list[str], marks: list[str], language: Language) -> None:
    """Whatever marks stand between them, the words are said, all and in order."""
    written = ""
    for index, word in enumerate(sentence):
        written += f" {marks[index % len(marks)] if marks else ''} {word}"
    assert re.findall(r"\w+", speakable(written, words_of(language))) == sentence


@given(text=st.text(max_size=120), language=st.sampled_from(LANGUAGES))
def test_any_text_becomes_one_line(text: str, language: Language) -> None:
    said = speakable(text, words_of(language))
    assert said == " ".join(said.split())
    assert not said or any(character.isalnum() for character in said)
