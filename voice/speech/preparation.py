"""Text as a model writes it, made into text as a voice can read it.

Markdown, emoji and addresses become what a reader would say; dates, times, amounts and
abbreviations are written out where the voices get them wrong. Words are never dropped:
of a link its text is kept, of an address all but the protocol, "www." and the query.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from voice.speech.clauses import Abbreviations


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """How a language says what is written; the tables in `voice/speech/words/` explain themselves.

    Units and currencies are (one, several). `numeric_dates` are patterns whose groups are day,
    month and, where there is one, year. `hour` is empty where the voices read times well.
    """

    abbreviations: Abbreviations
    expansions: Mapping[str, str]
    closing_expansions: Mapping[str, str]
    numbering: Mapping[str, str]
    minus: str
    to: str
    hundreds: Mapping[str, str]
    fractions: Mapping[str, str]
    units: Mapping[str, tuple[str, str]]
    currencies: Mapping[str, tuple[str, str]]
    and_cents: str
    and_fraction: str
    scales: tuple[str, ...]
    scale_joint: str
    symbols: Mapping[str, str]
    at: str
    dot: str
    slash: str
    months: tuple[str, ...]
    date: str
    date_without_year: str
    numeric_dates: tuple[str, ...]
    days: tuple[str, ...]
    ordinal_endings: Mapping[str, str]
    hour: str
    full_hour: str
    hour_words: tuple[str, ...]


def speakable(text: str, words: Words) -> str:
    """One line that a voice can read, or "" when there is nothing to say."""
    text = text.encode(errors="ignore").decode()  # half a surrogate pair can't be sent on
    text = _without_markdown(text)
    text = _addresses(text, words)
    text = _without_emoji(text)
    text = _dates(text, words)
    text = _times(text, words)
    text = _abbreviations(text, words)
    text = _amounts(text, words)
    text = _ordinals(text, words)
    text = _signs(text, words)
    text = _one_line(text)
    return text if any(c.isalnum() for c in text) else ""


# Markdown -----------------------------------------------------------------------------

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*(?:[-*_=][ \t]*){3,}$", re.MULTILINE)
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-{2,}[-:| \t]*$", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$", re.MULTILINE)
_LINE_MARK = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+•·‣][ \t]+(?:\[[ xX]\][ \t]+)?)+", re.MULTILINE
)
_HEADING_END = re.compile(r"[ \t]+#+[ \t]*$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\(\s*<?[^)\s]*>?(?:\s+[\"'][^)\n]*[\"'])?\s*\)")
_REFERENCE = re.compile(r"!?\[([^\]\n]+)\]\[[^\]\n]*\]")
_FOOTNOTE = re.compile(r"\[\^?\d+\]")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^>\s]+)>")
_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9]*(?:\s[^<>\n]*)?/?>")
_STRONG = re.compile(r"\*\*+|~~+|(?<!\w)__+|__+(?!\w)")
_STAR = re.compile(r"(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])")
_UNDERSCORE = re.compile(r"(?<!\w)_(?=\S)|(?<=\S)_(?!\w)")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!|>~-])")
_ESCAPES_FROM = 0xF0000  # escaped signs wait in a private plane while Markdown's are taken out
_SET_ASIDE = re.compile("[\U000f0000-\U000f007f]")


def _without_markdown(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\u00ad", "")
    text = _ESCAPED.sub(lambda m: chr(_ESCAPES_FROM + ord(m[1])), text)
    text = _FENCE.sub("", text)
    text = _TABLE_RULE.sub("", text)
    text = _RULE.sub("", text)
    text = _TABLE_ROW.sub(
        lambda m: ", ".join(c.strip() for c in m[1].split("|") if c.strip()), text
    )
    text = _LINE_MARK.sub("", text)
    text = _HEADING_END.sub("", text)
    text = _AUTOLINK.sub(r"\1", text)
    text = _LINK.sub(r"\1", text)
    text = _REFERENCE.sub(r"\1", text)
    text = _FOOTNOTE.sub("", text)
    text = _TAG.sub(lambda m: "\n" if m[0].lower().startswith(("<br", "<p", "<li")) else "", text)
    text = text.replace("`", "")
    text = _STRONG.sub("", text)
    text = _STAR.sub("", text)
    text = _UNDERSCORE.sub("", text)
    return _SET_ASIDE.sub(lambda m: chr(ord(m[0]) - _ESCAPES_FROM), text)


# Addresses ----------------------------------------------------------------------------

_URL = re.compile(
    r"\b(?:https?://|mailto:|www\.)([^\s<>\"'()\[\]]*[^\s<>\"'()\[\].,;:!?])", re.IGNORECASE
)
_EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
_DOMAIN = re.compile(
    r"\b(?:[\w-]+\.)+(?:com|org|net|io|de|es|at|ch|eu|uk|info|dev)\b(?:/[\w./-]*\w)?"
)


def _addresses(text: str, words: Words) -> str:
    def said(match: re.Match[str]) -> str:
        return _address(match[match.lastindex or 0], words)

    for pattern in (_URL, _EMAIL, _DOMAIN):
        text = pattern.sub(said, text)
    return text


def _address(address: str, words: Words) -> str:
    place = re.split(r"[?#]", address, maxsplit=1)[0].rstrip("/")
    place = re.sub(r"^www\.", "", place, flags=re.IGNORECASE)
    for sign, word in (("@", words.at), (".", words.dot), ("/", words.slash)):
        place = place.replace(sign, f" {word} ")
    return re.sub(r"[-_%~+=&:]+", " ", place).strip()


# Emoji --------------------------------------------------------------------------------

_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2300-\u23ff"
    "\ufe0e\ufe0f\u200d\u20e3\U000e0020-\U000e007f\u200b\u2060\ufeff]+"
)
_KEYCAP = re.compile("([0-9#*])\ufe0f?\u20e3")
_ARROW = re.compile(r"\s*(?:[←-⇿]|[-=]+>)\s*")


def _without_emoji(text: str) -> str:
    text = _KEYCAP.sub(r"\1", text)
    text = _ARROW.sub(", ", text)
    return _EMOJI.sub(" ", text)


# Dates and times ----------------------------------------------------------------------

_ISO_DATE = re.compile(r"(?:(?<=[^\w.,/-])|^)(\d{4})-(\d{2})-(\d{2})(?![\w/-])(?:T(?=\d\d:))?")
_ISO_T = re.compile(r"(\d{4}-\d{2}-\d{2})T(?=\d\d:\d\d)")
_TIME = re.compile(r"(?<![\w.,:])([01]?\d|2[0-4]):([0-5]\d)(?::[0-5]\d)?(?![\d:]|[.,]\d)")
_TIME_RANGE = re.compile(r"(?<=\d:\d\d)\s?[-–]\s?(?=\d?\d:\d\d)")
_WORD_BEFORE = re.compile(r"(\w+)\s+$")


def _dates(text: str, words: Words) -> str:
    text = _ISO_T.sub(r"\1 ", text)
    text = _ISO_DATE.sub(lambda m: _date(m, words, day=m[3], month=m[2], year=m[1]), text)
    for pattern in words.numeric_dates:
        numbers = re.compile(rf"(?<![\w.,/-]){pattern}(?![\w/-]|[.,]\d)")
        text = numbers.sub(
            lambda m: _date(m, words, day=m[1], month=m[2], year=m[3] if m.re.groups > 2 else None),
            text,
        )
    if words.ordinal_endings:
        months = "|".join(words.months)
        named = re.compile(rf"(?<![\w.,])(\d{{1,2}})\.\s?({months})\b")
        text = named.sub(
            lambda m: _date(m, words, day=m[1], month=str(words.months.index(m[2]) + 1), year=None),
            text,
        )
    return text


def _date(match: re.Match[str], words: Words, *, day: str, month: str, year: str | None) -> str:
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return match[0]
    form = words.date if year else words.date_without_year
    return form.format(
        day=_day(int(day), words, match.string[: match.start()]),
        month=words.months[int(month) - 1],
        year=year,
    )


def _day(day: int, words: Words, before: str) -> str:
    if not words.days:
        return str(day)
    if not words.ordinal_endings:
        return words.days[day - 1]
    return words.days[day - 1] + _ending(words, before)


def _ending(words: Words, before: str) -> str:
    word = _WORD_BEFORE.search(before)
    endings = words.ordinal_endings
    return endings.get(word[1].lower() if word else "", endings[""])


def _times(text: str, words: Words) -> str:
    text = _TIME_RANGE.sub(f" {words.to} ", text)
    if not words.hour:
        return text

    def said(match: re.Match[str]) -> str:
        hour, minute = int(match[1]), int(match[2])
        return (words.hour if minute else words.full_hour).format(h=hour, m=minute)

    hour_word = "|".join(words.hour_words)
    # The word behind the time is said within it: "14:30 Uhr" is "14 Uhr 30".
    return re.sub(rf"{_TIME.pattern}(?:\s?(?:{hour_word})\b)?", said, text)


# Abbreviations ------------------------------------------------------------------------


def _abbreviations(text: str, words: Words) -> str:
    for table, closes in ((words.closing_expansions, True), (words.expansions, False)):
        for short, long in sorted(table.items(), key=lambda item: -len(item[0])):
            if long:
                text = _expanded(text, short, long, closes=closes)
    for short, long in words.numbering.items():
        text = re.sub(rf"\b{re.escape(short)}\s?(?=\d)", f"{long} ", text, flags=re.IGNORECASE)
    return text


def _expanded(text: str, short: str, long: str, *, closes: bool) -> str:
    first, rest = re.escape(short[0]), re.escape(short[1:]).replace(r"\ ", r"\s?")
    pattern = re.compile(rf"(?<![\w.])(?:{first}|{re.escape(short[0].upper())}){rest}(?!\w)")

    def said(match: re.Match[str]) -> str:
        behind = match.string[match.end() :]
        stops = not behind.strip() or (closes and re.match(r"\s+[A-ZÄÖÜÁÉÍÓÚÑ¿¡]", behind))
        return long + ("." if stops else "")

    return pattern.sub(said, text)


# Numbers and signs --------------------------------------------------------------------

_NUMBER = r"\d+(?:[.,\u202f\u00a0 ]\d{3})*(?:[.,]\d+)?"
_RANGE = re.compile(
    r"(?<![\w.,/:–-])(\d{1,4}(?:[.,]\d+)?)\s?[-–]\s?(\d{1,4}(?:[.,]\d+)?)(?=[^\w/:–-]|$)(?!\s*=)"
)
_DIFFERENCE = re.compile(r"(?<=\d)\s+[-–−]\s+(?=\d)")
_MINUS = re.compile(r"(?<![\w.,/–-])[-–−](?=\d)")
_YEAR = re.compile(r"(?<![\d.,:/-])(1[1-9])(\d\d)(?![\d:/-]|[.,]\d)")
_SLASH = re.compile(r"(?<![\d/])(\d+)\s?/\s?(\d+)(?![\d/])")
_TIMES = re.compile(r"(?<=\d)\s?x\s?(?=\d)")
_OR_SLASH = re.compile(r"(?<=[^\W\d_])\s?/\s?(?=[^\W\d_])")


def _amounts(text: str, words: Words) -> str:
    fractions = "|".join(re.escape(fraction) for fraction in words.fractions)
    text = _currencies(text, words)
    units = "|".join(re.escape(unit) for unit in sorted(words.units, key=len, reverse=True))
    text = re.sub(
        rf"((?<![\w/.,])(?:\d+ ??)??(?:{fractions})|{_NUMBER})[\s\u00a0\u202f]?({units})(?!\w)",
        lambda m: f"{m[1]} {words.units[m[2]][m[1] not in ('1', *words.fractions)]}",
        text,
    )
    return re.sub(
        rf"(?<![\w/.,])(\d+ ?)??({fractions})(?![\w/])",
        lambda m: _fraction(m[1], words.fractions[m[2]], words),
        text,
    )


def _fraction(whole: str | None, said: str, words: Words) -> str:
    """ "1½" is "1 and a half"; in German "1 einhalb"."""
    return f"{whole.strip()} {words.and_fraction}{said}" if whole else said


def _currencies(text: str, words: Words) -> str:
    signs = "|".join(re.escape(sign) for sign in words.currencies)

    def said(sign: str, number: str) -> str:
        one, many = words.currencies[sign]
        unit = one if number == "1" else many
        cents = re.fullmatch(r"(.*\d)[.,](\d\d)", number)
        if cents is None:
            return f"{number} {unit}"
        if cents[2] == "00":
            return f"{cents[1]} {one if cents[1] == '1' else many}"
        whole_unit = one if cents[1] == "1" else many
        return words.and_cents.format(whole=cents[1], unit=whole_unit, cents=int(cents[2]))

    scales = "|".join(words.scales)
    text = re.sub(rf"(?<=\d)\s?[-–]\s?(?=(?:{signs})\s?\d)", f" {words.to} ", text)
    text = re.sub(
        rf"(?<!\w)({signs})\s?({_NUMBER})(\s(?:{scales})\b)?",
        lambda m: (
            f"{m[2]}{m[3]} {words.scale_joint}{words.currencies[m[1]][1]}"
            if m[3]
            else said(m[1], m[2])
        ),
        text,
    )
    text = re.sub(
        rf"({_NUMBER}\s(?:{scales}))(?:\sde)?\s?({signs})(?!\w)",
        lambda m: f"{m[1]} {words.scale_joint}{words.currencies[m[2]][1]}",
        text,
    )
    return re.sub(rf"({_NUMBER})[\s\u00a0\u202f]?({signs})(?!\w)", lambda m: said(m[2], m[1]), text)


def _ordinals(text: str, words: Words) -> str:
    """German: "der 2. Weltkrieg" would be read as the end of a sentence."""
    if not words.ordinal_endings:
        return text
    articles = "|".join(word for word in words.ordinal_endings if word)

    def said(match: re.Match[str]) -> str:
        number = int(match[2])
        if not 1 <= number <= len(words.days):
            return match[0]
        return f"{match[1]} {words.days[number - 1]}{words.ordinal_endings[match[1].lower()]} "

    return re.sub(rf"\b({articles})\s(\d{{1,2}})\.\s(?=\w)", said, text, flags=re.IGNORECASE)


def _signs(text: str, words: Words) -> str:
    text = text.replace(">=", "≥").replace("<=", "≤").replace("!=", "≠")
    text = _RANGE.sub(lambda m: _range(m, words), text)
    text = _DIFFERENCE.sub(f" {words.minus} ", text)
    text = _MINUS.sub(f"{words.minus} ", text)
    if words.hundreds:
        text = _YEAR.sub(lambda m: _year(m[1], m[2], words), text)
    text = _OR_SLASH.sub(", ", text)
    text = _SLASH.sub(rf"\1 {words.symbols['/']} \2", text)
    text = _TIMES.sub("×", text)
    for sign, said in words.symbols.items():
        if sign == "/":
            continue
        if sign in "#§":
            text = re.sub(rf"{re.escape(sign)}+\s?(?=\d)", f"{said} ", text)
        elif sign in text:
            text = re.sub(rf"\s*{re.escape(sign)}\s*", functools.partial(_sign, said), text)
    return text


_OPERAND_BEFORE = re.compile(r"(?:[\d)]|\b[^\W\d_])$")
_OPERAND_BEHIND = re.compile(r"[\d(]|[^\W\d_]\b")


def _sign(said: str, match: re.Match[str]) -> str:
    """ "3 * x" is a product, "Settings > Sound" a path, and any other star or bracket decoration."""
    sign = match[0].strip()
    if sign in "*<>" and not (
        _OPERAND_BEFORE.search(match.string[: match.start()])
        and _OPERAND_BEHIND.match(match.string, match.end())
    ):
        inside = match.start() > 0 and match.end() < len(match.string)
        return ", " if sign == ">" and inside else " "
    return f" {said} "


def _range(match: re.Match[str], words: Words) -> str:
    """ "5-7" goes from 5 to 7; a score ("3-1") and a telephone number ("555-1234") don't."""
    low, high = (number.replace(",", ".") for number in match.groups())
    digits = len(low), len(high)
    alike = "." in low + high or digits[0] == digits[1] or digits in ((1, 2), (2, 3))
    rises = float(low) < float(high)
    return f"{match[1]} {words.to} {match[2]}" if alike and rises else match[0]


def _year(century: str, year: str, words: Words) -> str:
    hundred = words.hundreds[century]
    return hundred if year == "00" else f"{hundred} {int(year)}"


# The line -----------------------------------------------------------------------------

_OPEN_LINE = re.compile(r"[^\W_]([\"'”’“»«)\]]*)\s*$")
_SPACE_BEFORE_MARK = re.compile(r"[ \t]+([,.;:!?…])(?=\s|$)")


def _one_line(text: str) -> str:
    """Lines become sentences: what ends a line ends a thought, with or without a full stop."""
    *closed, last = text.split("\n")
    lines = [f"{line.rstrip()}." if _OPEN_LINE.search(line) else line for line in closed]
    line = " ".join(" ".join([*lines, last]).split())
    line = _SPACE_BEFORE_MARK.sub(r"\1", line)
    return re.sub(r"([,;])[,;]+", r"\1", line).strip(" ,;")
