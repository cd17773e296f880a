"""Where a text comes apart into what will be clauses."""

from __future__ import annotations

from itertools import pairwise

from memory.languages.acts.line import STOPS, Line
from memory.languages.acts.people import kin_from
from memory.languages.acts.records import LIKING

_PHRASE = 2
"""Words with a meaning that may stand in front of "I"."""
_BREAKS = frozenset(",;:()[]–—-/\"'¿¡")


def pieces_of(line: Line) -> list[tuple[int, int]]:
    cuts = {0}
    thinking = {end for _, end in line.found["thinking"] if not line.is_(end - 1, "joiners")}
    whole = {at for start, end in line.found["denies"] for at in range(start + 1, end)}
    thinking |= {start for start, _ in line.found["cut"]}
    thinking |= {end for _, end in line.found["reported"] if not line.is_(end - 1, "prepositions")}
    thinking |= line.rivals
    for at, word in enumerate(line.words):
        if word.kind == "mark" and (word.text in _BREAKS or word.text in STOPS):
            cuts.add(at + 1)
        elif word.kind == "mark":
            continue
        elif (
            (
                at
                and line.is_(at, "joiners")
                and not _in_a_phrase(line, at)
                and not (line.is_(at, "that") and line.is_(at - 1, "therefore"))  # "así que"
            )
            or at in thinking
            or _denies_the_rest(line, at)
            or _follows_a_last_verb(line, at)
            or _closes_a_phrase(line, at)
            or _is_cue(line, at)
            or _opens_statement(line, at)
        ):
            cuts.add(at)
    cuts |= line.quoted
    edges = sorted(cut for cut in cuts - whole if cut < len(line.words))
    edges.append(len(line.words))
    pieces: list[tuple[int, int]] = []
    for first, last in pairwise(edges):
        if pieces and _belongs(line, pieces[-1], first, last):
            pieces[-1] = (pieces[-1][0], last)
        else:
            pieces.append((first, last))
    return pieces


def _follows_a_last_verb(line: Line, at: int) -> bool:
    """ "Weil ich Zöliakie habe | esse ich kein Brot": two finite verbs side by side."""
    return (
        line.acts.verb_second
        and line.is_(at + 1, "user")
        and line.is_(at - 1, "verbs")
        and (line.is_(at, "verbs") or line.is_(at, "opens_before"))
    )


def _closes_a_phrase(line: Line, at: int) -> bool:
    """ "Wegen meines Asthmas | darf hier keiner rauchen", "statt Klavier | lernt er Geige": the
    verb behind what opens the sentence with a preposition of its own meaning."""
    if not line.acts.verb_second or line.is_(at + 1, "user"):
        return False
    if not (line.is_(at, "verbs") or line.is_(at, "opens_before") or line.is_(at, "modals")):
        return False
    opened = max((each for each in range(at) if line.words[each].kind == "mark"), default=-1)
    return line.is_(opened + 1, "phrase_opens") and not any(
        line.is_(each, "verbs") for each in range(opened + 1, at)
    )


def _denies_the_rest(line: Line, at: int) -> bool:
    """ "Called Barrett not Bennett": a "not" behind what was stated is about what follows."""
    return (
        line.is_(at, "no_of_rest")
        and at > 1
        and bool(line.words[at - 1].key)
        and at + 1 < len(line.words)
        and (
            (
                bool(line.words[at + 1].key)
                and (
                    line.touches("name_me", 0, at)
                    or any(
                        line.is_(other, "verbs") or line.is_(other, "own_verbs")
                        for other in range(at - 1)
                    )
                )
            )
            or _is_constituent(line, at + 1)
            or (line.is_(at + 1, "user_object") and bool(line.acts.listed("agents")))  # "not me"
        )
    )


def _is_constituent(line: Line, at: int) -> bool:
    """ "No en gramos", "no la de España": what can't begin with a verb."""
    if not line.acts.listed("leaves_out"):
        return False
    return (
        line.is_(at, "prepositions") and line.acts.contracted.get(line.words[at].text) is None
    ) or (line.is_(at, "articles") and line.is_(at + 1, "of"))


def _in_a_phrase(line: Line, at: int) -> bool:
    """ "El año que viene": a word within a phrase joins nothing."""
    return any(start < at < end for start, end in line.found["horizon"])


def _belongs(line: Line, before: tuple[int, int], first: int, last: int) -> bool:
    """Marks alone make no piece, and "my wife | and I live here" is one."""
    if all(word.kind == "mark" for word in line.words[first:last]):
        return True
    if all(word.kind == "mark" for word in line.words[before[0] : before[1]]):
        return True
    if any(start <= first and last <= end + 1 for start, end in line.found["repair"]):
        return True
    if _bare_no(line, first, last):
        return True
    if not line.is_(first, "and") or first + 1 >= last:
        return False
    names = [at for at in range(*before) if line.words[at].key]
    return (
        (
            line.is_(first + 1, "user")
            or line.is_(first + 1, "user_mine")
            or line.is_(first + 1, "kin")
        )
        and 0 < len(names) <= 3
        and not any(
            line.is_(at, "verbs") or line.is_(at, "no") or line.words[at].kind == "mark"
            for at in range(*before)
        )
        and (
            any(line.is_(at, "kin") for at in names)
            or (len(names) == 1 and line.words[names[0]].capital)
        )
    )


def _is_cue(line: Line, at: int) -> bool:
    """A cue before "kann ich" may stand within a sentence that begins with its object."""
    return at in line.cues and not (
        line.acts.verb_second
        and line.is_(at + 1, "user")
        and (line.is_(at, "verbs") or line.is_(at, "opens_before"))
    )


def _bare_no(line: Line, first: int, last: int) -> bool:
    """ "… but coriander, certainly not": the no belongs to what stands before."""
    return any(line.is_(at, "no") for at in range(first, last)) and not any(
        line.words[at].key
        or line.is_(at, "user")
        or line.is_(at, "user_too")
        or line.is_(at, "user_object")
        or line.is_(at, "third")
        or line.is_(at, "verbs")
        or line.is_(at, "user_mine")
        or (line.is_(at, "particle") and _is_particle_alone(line, at, first))
        for at in range(first, last)
    )


def _is_particle_alone(line: Line, at: int, first: int) -> bool:
    return at == first and line.words[at].text in line.acts.listed("particle")


def _is_behind_own_verb(line: Line, at: int) -> bool:
    """ "Cobro por horas | no tengo sueldo fijo": the user's own verb has opened what stands here."""
    opened = max(
        (
            each
            for each in range(at)
            if line.words[each].kind == "mark" or line.is_(each, "joiners")
        ),
        default=-1,
    )
    return line.is_(opened + 1, "own_verbs") or line.words[opened + 1].text.endswith(
        line.acts.endings
    )


def _opens_statement(line: Line, at: int) -> bool:
    """ "I" in the middle of words without punctuation: somebody goes on."""
    if at < 2 or line.words[at - 1].kind == "mark":
        return False
    if any(
        start < at <= end
        for act in ("hedge", "condition", "restriction")
        for start, end in line.found[act]
    ):
        return False
    if line.is_(at, "user_too") and (
        not _starts_anew(line, at) or _stands_in_front(line, at, at + 1)
    ):
        return False
    if (
        line.is_(at, "particle")
        and line.is_(at + 1, "own_verbs")
        and line.acts.endings
        and line.words[at - 1].key
    ):
        return _is_behind_own_verb(line, at)
    if line.is_(at, "opens") and line.acts.verb_second:
        return line.is_(at + 1, "opens_before") and not line.is_(at - 1, "joiners")
    if line.is_(at, "user_mine") and line.is_(at + 1, "thing") and line.is_(at + 2, "copula"):
        return bool(line.words[at - 1].key) or line.words[at - 1].kind == "number"
    ended = any(
        end == at and any(line.words[each].key for each in range(start, end))
        for start, end in line.found["stopped"]
    )  # "I don't drive any more | I sold the car"
    if not line.words[at - 1].key and not line.is_(at - 1, "adverbs") and not ended:
        return False
    if line.is_(at, "dative") and line.is_(at + 1, "user_mine"):
        kin = kin_from(line, at + 2, len(line.words))
        return kin is not None and line.is_(kin.behind, "third")
    if line.is_(at, "opens") and _follows_a_phrase(line, at):
        return False
    if line.is_(at, "opens"):
        return not line.acts.listed("opens_before") or line.is_(at + 1, "opens_before")
    if line.is_(at, "user_mine") and not line.is_(at, "of"):
        kin = kin_from(line, at + 1, len(line.words))
        return (
            kin is not None
            and (
                line.is_(kin.behind, "verbs")
                or line.is_(kin.behind + 1, "verbs")
                or _goes_on_as_subject(line, at, kin.behind)
            )
            and not line.is_(at - 1, "verbs")
        )
    return False


def _starts_anew(line: Line, at: int) -> bool:
    """ "… me gusta el jazz", and not "las multitudes me agotan"."""
    following = line.words[at + 1] if at + 1 < len(line.words) else None
    return (
        following is not None
        and not line.is_(at - 1, "kin")
        and (
            following.key == LIKING
            or line.is_(at + 1, "verbs")
            or following.text.endswith(line.acts.endings)
        )
    )


def _stands_in_front(line: Line, at: int, verb: int) -> bool:
    """ "La carne me gusta poco hecha": a noun with its article alone is what is liked."""
    return (
        line.words[verb].key == LIKING
        and at >= 2
        and line.is_(at - 2, "articles")
        and (at == 2 or line.words[at - 3].kind == "mark")
    )


def _follows_a_phrase(line: Line, at: int) -> bool:
    """ "For breakfast I always have porridge": what a preposition opens, and nobody says or shows."""
    first = max((each + 1 for each in range(at) if line.words[each].kind == "mark"), default=0)
    keyed = [each for each in range(first, at) if line.words[each].key]
    return (
        line.is_(first, "prepositions")
        and not line.is_(first, "infinitive")
        and 0 < len(keyed) <= _PHRASE
        and not any(
            line.is_(each, name)
            for each in range(first, at)
            for name in (
                "verbs",
                "joiners",
                "user",
                "third",
                "jarvis",
                "kin",
                "medium",
                "tales",
                "no",
            )
        )
    )


def _goes_on_as_subject(line: Line, at: int, behind: int) -> bool:
    """Where objects that are people have an "a" before them, one without is a subject."""
    return (
        bool(line.acts.listed("dative"))
        and not any(
            line.is_(at - 1, name) for name in ("dative", "prepositions", "copula", "joiners")
        )
        and behind < len(line.words)
        and bool(line.words[behind].key)
        and not line.words[behind].capital
    )
