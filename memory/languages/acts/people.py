"""Who is spoken of in a clause, and through whom they are named."""

from __future__ import annotations

from dataclasses import dataclass

from memory.languages.acts.line import Line
from memory.languages.acts.records import JARVIS, LIKING, THIRD, USER

_KIN_REACH = 4


@dataclass(frozen=True, slots=True)
class Kin:
    """People named by what they are to somebody: their keys, their owners, the words that say so,
    and the word behind."""

    keys: frozenset[str]
    owners: frozenset[str]
    places: frozenset[int]
    behind: int


@dataclass(frozen=True, slots=True)
class _Named:
    """Somebody at a word of the clause. `leads`: as its subject, wherever it stands."""

    at: int
    who: frozenset[str]
    through: frozenset[str] = frozenset()
    places: frozenset[int] = frozenset()
    leads: bool = False


def subject_of(
    line: Line,
    first: int,
    last: int,
    before: list[tuple[frozenset[str], int]],
    people: list[tuple[frozenset[str], int]],
) -> tuple[frozenset[str], frozenset[str], frozenset[int]]:
    """Who it is, through whom they are named, and the words that say so. Who is named by what they
    are to somebody is added to `people`."""
    named: list[_Named] = []
    at = first
    while at < last:
        if _names_user(line, at, first, last, named):
            at += 1
        elif line.is_(at, "user_mine") or line.is_(at, "third_mine") or line.is_(at, "kin"):
            at = _names_kin(line, at, first, last, named, people)
        else:
            _names_others(line, at, first, last, named)
            at += 1
    if not named:
        return frozenset(), frozenset(), frozenset()
    chosen = next((each for each in named if each.leads), named[0])
    together = [chosen, *(each for each in named if _is_joined(line, each, chosen))]
    whom = frozenset[str]().union(*(each.who for each in together))
    if THIRD in whom and before:
        whom |= before[-1][0]
    return (
        whom,
        frozenset[str]().union(*(each.through for each in together)),
        frozenset[int]().union(*(each.places for each in together)),
    )


def _is_joined(line: Line, each: _Named, chosen: _Named) -> bool:
    """ "My wife and I"."""
    between = range(min(each.at, chosen.at), max(each.at, chosen.at))
    return (
        each is not chosen
        and len(between) <= _KIN_REACH
        and any(line.is_(other, "and") for other in between)
    )


def _names_user(line: Line, at: int, first: int, last: int, named: list[_Named]) -> bool:
    """Whether the word is one for the user, as a person."""
    user, here = frozenset({USER}), frozenset({at})
    behind_preposition = line.is_(at - 1, "prepositions")
    if line.is_(at, "user_named"):
        if line.entry and _is_told_of(line, first, at) and not _owns(line, at, first, last):
            named.insert(0, _topic(line, first))
        elif line.entry and not _owns(line, at, first, last) and not _is_with(line, at, named):
            named.append(_Named(at, user, places=here, leads=True))
    elif line.is_(at, "user"):
        if not (behind_preposition and line.is_(at, "we")):  # "con nosotros"
            named.append(_Named(at, user, places=here, leads=True))
    elif line.is_(at, "user_too"):
        if not behind_preposition:  # "a diferencia de mí"
            named.append(_Named(at, user, places=here))
    else:
        return False
    return True


def _names_kin(
    line: Line,
    at: int,
    first: int,
    last: int,
    named: list[_Named],
    people: list[tuple[frozenset[str], int]],
) -> int:
    """From "my", "her" or "sister" on; the word behind."""
    is_mine = line.is_(at, "user_mine")
    is_theirs = line.is_(at, "third_mine")
    kin = kin_from(line, at + 1 if is_mine or is_theirs else at, last)
    if kin is None:
        assert is_mine or is_theirs
        whose = USER if is_mine or (line.entry and not people) else THIRD
        named.append(_Named(at, frozenset({whose}), places=frozenset({at})))
        return at + 1
    owners = kin.owners
    if is_theirs and not line.entry:
        owners |= people[-1][0] if people else {THIRD}
    if not (is_mine or is_theirs):
        if _is_owner(line, at - 1, first):
            owners |= {line.words[at - 1].key}
        if line.is_(at - 1, "whose"):
            owners |= _named_last(line, at - 1, people)
    names, where = _named_as(line, first, at)
    keys, places = kin.keys | names, kin.places | where
    people.append((keys, kin.behind))
    if names or not _is_object(line, at, first):
        named.append(_Named(min(places), keys, owners, places))
    return kin.behind


def _names_others(line: Line, at: int, first: int, last: int, named: list[_Named]) -> None:
    """A word for somebody else, or a verb whose ending tells who."""
    third, here = frozenset({THIRD}), frozenset({at})
    if line.is_(at, "third") and line.entry and _is_told_of(line, first, at):
        named.insert(0, _topic(line, first))
    elif (
        line.is_(at, "third_thing")
        and line.is_(at + 1, "copula")
        and line.is_(at + 2, "user_mine")
        and kin_from(line, at + 3, last) is None
    ):
        pass  # "it's our anniversary"
    elif line.is_(at, "third"):
        if line.is_(at, "dative_third") and line.acts.listed("leaves_out"):
            named += _doubled(line, first, at)
        named.append(_Named(at, third, places=here))
    elif line.is_(at, "jarvis") and not line.words[at].key:
        named.append(_Named(at, frozenset({JARVIS}), places=here))
    elif not named and _others_verb(line, at, first):
        named.append(_Named(at, third, leads=True))
    elif not named and _own_verb(line, at, first) and _may_own(line, first):
        named.append(_Named(at, frozenset({USER}), leads=True))


def _named_last(line: Line, at: int, people: list[tuple[frozenset[str], int]]) -> frozenset[str]:
    """ "Ravi, whose mum …": who is named right in front, by a name or as the last of several."""
    while at > 0 and line.words[at - 1].kind == "mark":
        at -= 1
    name = line.words[at - 1] if at else None
    if name is not None and name.capital and name.key and not line.acts.verb_second:
        return frozenset({name.key})
    return people[-1][0] if people else frozenset({THIRD})


def _named_as(line: Line, first: int, at: int) -> tuple[frozenset[str], frozenset[int]]:
    """ "Anna is my sister": the name before, where nothing but "is" stands between."""
    keyed = [other for other in range(first, at) if line.words[other].key]
    if (
        len(keyed) == 1
        and line.words[keyed[0]].capital
        and any(line.is_(other, "copula") for other in range(keyed[0], at))
        and not any(line.is_(other, "prepositions") for other in range(keyed[0], at))
    ):
        return frozenset({line.words[keyed[0]].key}), frozenset(keyed)
    return frozenset(), frozenset()


def _is_object(line: Line, at: int, first: int) -> bool:
    """ "Has a dog", "lives with her sister": who is named behind a verb that opens the
    clause, or a preposition, is not who it speaks of."""
    opening = first
    while opening < at and (line.is_(opening, "joiners") or line.words[opening].kind == "mark"):
        opening += 1
    if opening == at:
        return False
    if line.is_(opening, "verbs") and not line.is_(opening, "user"):
        return True
    if _is_of_an_entrys_verb(line, opening, at):
        return True
    determined = at
    while determined > opening and (
        line.is_(determined, "third_mine") or line.is_(determined - 1, "third_mine")
    ):
        determined -= 1
    if any(each > opening and line.is_(each, "dative") for each in (determined - 1, determined)):
        return True  # "visita a su abuela"
    if line.is_(at, "object_articles") or line.is_(at - 1, "object_articles"):
        return True
    one_of_many = line.is_(at, "indefinite") or line.is_(at - 1, "indefinite")
    if (one_of_many or not line.acts.verb_second) and any(
        line.is_(other, "verbs") for other in range(opening, at)
    ):
        return True
    by = at - 1 > opening and line.is_(at - 1, "of") and line.is_(at - 1, "prepositions")
    if by and line.entry and not any(line.words[other].key for other in range(opening, at)):
        return True  # "Wurde vom Kater gekratzt"
    if any(line.is_(other, "of") for other in range(opening + 1, at)):
        return False
    if line.entry and any(
        line.words[other].key and not line.is_(other, "adverbs") and not line.is_(other, "kin")
        for other in range(opening, at - 1)
    ):
        return True
    behind = at - 1
    while behind > opening and _determines(line, behind):
        behind -= 1
    if line.is_(behind, "prepositions"):
        return True
    return bool(
        line.words[opening].key
        and behind == opening
        and behind < at - 1
        and not line.is_(opening, "kin")
        and not any(line.is_(other, "of") for other in range(opening, at))
    )


def _is_of_an_entrys_verb(line: Line, opening: int, at: int) -> bool:
    """ "Left their husband", "Visits grandmother": an entry leaves out who does it."""
    verb = line.words[opening]
    if not (
        line.entry
        and opening == at - 1
        and verb.key
        and line.acts.third_ends
        and not line.is_(opening, "kin")
    ):
        return False
    if line.is_(at, "third_mine") and not line.acts.verb_second:
        return True
    return line.is_(at, "kin") and verb.text.endswith(line.acts.third_ends)


def _determines(line: Line, at: int) -> bool:
    return line.words[at].kind == "word" and any(
        line.is_(at, kind) for kind in ("user_mine", "third", "articles")
    )


def _owns(line: Line, at: int, first: int, last: int) -> bool:
    """ "the user's sister", "Schwester des Nutzers": the user is not who it is about."""
    if line.is_(at + 1, "genitive") or (
        line.words[at].text.endswith("s") and line.is_(at + 1, "kin")
    ):
        return any(
            line.is_(other, "kin") for other in range(at + 1, min(at + 2 + _KIN_REACH, last))
        )
    behind = range(max(first, at - 3), at)
    return any(line.is_(other, "of") for other in behind) and any(
        line.is_(other, "kin") for other in range(max(first, at - 5), at)
    )


def _is_owner(line: Line, at: int, first: int) -> bool:
    """ "Pauls Schwester", where an owner has an "s" and no apostrophe."""
    return (
        at >= first
        and bool(line.acts.listed("owner_before"))
        and line.words[at].capital
        and bool(line.words[at].key)
        and line.words[at].text.endswith("s")
        and not line.is_(at, "kin")
    )


def _is_with(line: Line, at: int, named: list[_Named]) -> bool:
    """ "Mother lives with the user", "Pete fixes the user's car": the entry speaks of them."""
    behind = at - 1
    while behind > 0 and line.is_(behind, "articles"):
        behind -= 1
    if not named or named[0].who & {USER, THIRD}:
        return False
    if line.is_(behind, "prepositions") or line.is_(at - 1, "object_articles"):
        return True
    if line.is_(behind, "dative") or line.words[behind].text in line.acts.contracted:
        return True
    beside = any(
        line.is_(each, "and") or line.words[each].kind == "mark"
        for each in range(max(named[-1].places, default=at), at)
    )
    return not line.acts.verb_second and not line.acts.listed("leaves_out") and not beside


def _topic(line: Line, first: int) -> _Named:
    """The clause's first word as its subject."""
    key = frozenset({line.words[first].key})
    return _Named(first, key, places=frozenset({first}), leads=True)


def _is_told_of(line: Line, first: int, at: int) -> bool:
    """ "Ben taught the user": the entry speaks of Ben."""
    opening = line.words[first]
    return (
        bool(opening.key)
        and opening.capital
        and opening.kind == "word"
        and (at > first + 1 or line.is_(at, "dative_third"))
        and not line.is_(first, "kin")
        and not any(line.words[other].key == LIKING for other in range(first, at))
        and not any(
            line.is_(other, "of")
            or line.words[other].kind == "mark"
            or (line.is_(other, "verbs") and other == first)
            for other in range(first, at)
        )
        and not _own_word(line, first)
    )


def _doubled(line: Line, first: int, at: int) -> list[_Named]:
    """ "A los mellizos les dan miedo": whom a "les" takes up."""
    opening = first + (1 if line.is_(first, "joiners") else 0)
    keyed = [other for other in range(opening, at) if line.words[other].key]
    if not keyed or not (
        line.is_(opening, "dative") or line.words[opening].text in line.acts.contracted
    ):
        return []
    if line.is_(keyed[0], "kin"):
        return []
    place = keyed[0]
    return [_Named(place, frozenset({line.words[place].key}), places=frozenset({place}))]


def _own_word(line: Line, at: int) -> bool:
    return line.is_(at, "own_verbs") or line.is_(at, "verbs")


def _may_own(line: Line, first: int) -> bool:
    """Behind an "and" a verb is of the person named before, unless its form tells."""
    return bool(line.acts.endings) or not line.is_(first, "joiners")


def _others_verb(line: Line, at: int, first: int) -> bool:
    """ "Ayer empezó …": the ending of a verb that opens the clause is of somebody else."""
    word = line.words[at]
    return (
        bool(word.key)
        and word.kind == "word"
        and line.raw[word.end - 1 : word.end].lower() in line.acts.listed("not_own_ends")
        and not any(
            line.words[other].key and not line.is_(other, "adverbs") for other in range(first, at)
        )
    )


def _own_verb(line: Line, at: int, first: int) -> bool:
    """A verb in the first person where no "I" is needed, at the beginning."""
    text = line.words[at].text
    last_letter = line.raw[line.words[at].end - 1 : line.words[at].end].lower()
    if last_letter in line.acts.listed("not_own_ends"):
        return False  # "mordió" is not "muerdo"
    if line.is_(at, "not_own"):
        return False
    behind = line.words[at - 1].text if at else ""
    if (
        line.is_(at - 1, "articles")
        or line.is_(at - 1, "prepositions")
        or behind in line.acts.contracted
    ):
        return False
    if (
        line.words[at].kind == "word"
        and (
            last_letter in line.acts.listed("own_ends")
            or (text.endswith(line.acts.endings) and line.is_(at - 1, "before_verbs"))
        )
        and line.words[at].key
        and not line.words[at].capital
    ):
        return bool(line.acts.endings)
    if line.words[at].kind != "word" or any(
        line.words[other].key
        and not line.is_(other, "adverbs")
        and not line.touches("horizon", other, other + 1)
        for other in range(first, at)
        if line.words[other].kind == "word"
    ):
        return False
    return text in line.acts.listed("own_verbs") or (
        bool(line.acts.endings)
        and not line.is_(at, "joiners")
        and not line.is_(first, "and")
        and (not line.words[at].capital or at == 0)
        and len(text) > 3
        and text.endswith(line.acts.endings)
        and bool(line.words[at].key)
    )


def kin_from(line: Line, at: int, last: int) -> Kin | None:
    """The people named from here on."""
    start = next(
        (other for other in range(at, min(at + _KIN_REACH, last)) if line.is_(other, "kin")),
        None,
    )
    if start is None or any(line.words[other].kind == "mark" for other in range(at, start)):
        return None
    if any(
        not (line.words[other].key or line.is_(other, "user_mine") or line.is_(other, "articles"))
        or line.is_(other, "verbs")
        or line.is_(other, "thing")
        for other in range(at, start)
    ):
        return None
    keys = {line.words[start].key or line.words[start].text}
    owners: set[str] = set()
    places = set(range(at, start + 1))
    follow = start + 1
    while follow < last:
        word = line.words[follow]
        if line.is_(follow, "genitive"):
            following = kin_from(line, follow + 1, last)
            if following is None:
                follow += 1
                break
            return Kin(
                following.keys,
                frozenset(owners | keys | following.owners),
                frozenset(places | following.places),
                following.behind,
            )
        if line.is_(follow, "of"):
            following = kin_from(line, follow + 1, min(last, follow + 4))
            if following is None:
                break
            owners |= following.keys | following.owners
            places |= following.places
            follow = following.behind
            break
        if word.kind == "word" and word.capital and word.key and not line.is_(follow, "verbs"):
            keys.add(word.key)
            places.add(follow)
            follow += 1
            continue
        break
    return Kin(frozenset(keys), frozenset(owners), frozenset(places), follow)
