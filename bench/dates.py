"""Are spoken dates right? Expressions of three languages on twenty days of saying.

What is right is counted here by the standard library, day by day, expression by
expression; nothing of the grammar is used for it. Where usage is split, nothing may be
written.

    python -m bench.dates [--wrong]
"""

from __future__ import annotations

import argparse
import calendar
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, timedelta

from memory.languages.dates import spoken_dates, with_dates

Right = Callable[[date], str | None]

MOMENTS = tuple(
    map(
        datetime.fromisoformat,
        (
            "2026-12-02T10:00:00+01:00",
            "2026-03-28T23:59:00+01:00",  # clocks go forward in the night (Europe)
            "2026-03-29T00:01:00+01:00",
            "2026-03-29T03:00:00+02:00",
            "2026-10-24T23:59:00+02:00",  # and back
            "2026-10-25T02:30:00+02:00",
            "2026-10-25T02:30:00+01:00",
            "2026-10-26T00:01:00+01:00",
            "2026-03-08T01:59:00-05:00",  # America's
            "2026-11-01T01:30:00-04:00",
            "2028-02-28T23:59:00+01:00",
            "2028-02-29T12:00:00+01:00",
            "2027-02-28T00:01:00-08:00",
            "2028-03-01T00:01:00+13:00",
            "2026-12-31T23:59:59+01:00",
            "2027-01-01T00:00:00+01:00",
            "2026-01-31T18:00:00+01:00",
            "2026-05-31T23:30:00-11:00",
            "2027-08-13T07:15:00+02:00",
            "2026-07-19T12:00:00+14:00",
        ),
    )
)


def iso(day: date) -> str:
    return day.isoformat()


def plus(count: int) -> Right:
    return lambda said: iso(said + timedelta(days=count))


def first(weekday: int, since: int, skip: int = 0) -> Right:
    """The first such weekday, looked for from `since` days on, and `skip` days behind it."""

    def right(said: date) -> str:
        day = said + timedelta(days=since)
        while day.weekday() != weekday:
            day += timedelta(days=1)
        return iso(day + timedelta(days=skip))

    return right


def before(weekday: int) -> Right:
    def right(said: date) -> str:
        day = said - timedelta(days=1)
        while day.weekday() != weekday:
            day -= timedelta(days=1)
        return iso(day)

    return right


def iso_week(weeks: int, weekday: int) -> Right:
    """By the numbers of ISO weeks."""

    def right(said: date) -> str:
        there = (said + timedelta(days=7 * weeks)).isocalendar()
        return iso(date.fromisocalendar(there.year, there.week, weekday + 1))

    return right


def whole_week(weeks: int, begin: int = 0, end: int = 6) -> Right:
    return lambda said: f"{iso_week(weeks, begin)(said)} to {iso_week(weeks, end)(said)}"


def next_weekend(said: date) -> str | None:
    return whole_week(1, 5, 6)(said) if said.isoweekday() in (6, 7) else None


def months(count: int) -> Right:
    def right(said: date) -> str:
        year, month = said.year, said.month
        for _ in range(abs(count)):
            month += 1 if count > 0 else -1
            if month == 13:
                year, month = year + 1, 1
            if month == 0:
                year, month = year - 1, 12
        for day in range(said.day, 0, -1):
            try:
                return iso(date(year, month, day))
            except ValueError:
                continue
        raise AssertionError

    return right


def month(count: int) -> Right:
    return lambda said: months(count)(said.replace(day=1))[:7]  # type: ignore[index]


def year(count: int) -> Right:
    return lambda said: str(said.year + count)


def on(month_number: int, day_number: int, skip: int = 0) -> Right:
    """Found by walking through the calendar."""

    def right(said: date) -> str:
        day = said
        while (day.month, day.day) != (month_number, day_number):
            day += timedelta(days=1)
        return iso(day + timedelta(days=skip))

    return right


def in_month(number: int) -> Right:
    """In a month that is not the one of saying."""

    def right(said: date) -> str | None:
        if said.month == number:
            return None
        day = said
        while day.month != number:
            day += timedelta(days=1)
        return f"{day:%Y-%m}"

    return right


def end_of(number: int) -> Right:
    def right(said: date) -> str:
        day = said
        while not (day.month == number and (day + timedelta(days=1)).month != number):
            day += timedelta(days=1)
        return iso(day)

    return right


def beginning_of(number: int) -> Right:
    def right(said: date) -> str | None:
        if said.month == number and said.day > 1:
            return None
        return on(number, 1)(said)

    return right


def end_of_month(count: int) -> Right:
    def right(said: date) -> str:
        there = date.fromisoformat(months(count)(said.replace(day=1)) or "")
        return iso(there.replace(day=calendar.monthrange(there.year, there.month)[1]))

    return right


def alone(number: int) -> Right:
    """ "On the fifteenth": not on that day itself."""

    def right(said: date) -> str | None:
        if said.day == number:
            return None
        day = said
        while day.day != number:
            day += timedelta(days=1)
        return iso(day)

    return right


def next_year_on(month_number: int, day_number: int) -> Right:
    return lambda said: iso(date(said.year + 1, month_number, day_number))


def nth(weekday: int, number: int, month_number: int) -> Right:
    def right(said: date) -> str:
        day = said
        while not (
            day.month == month_number
            and day.weekday() == weekday
            and (day.day - 1) // 7 == number - 1
        ):
            day += timedelta(days=1)
        return iso(day)

    return right


def fixed(written: str) -> Right:
    return lambda _said: written


def nothing(_said: date) -> None:
    return None


MON, TUE, WED, THU, FRI, SAT, SUN = range(7)

ENGLISH: dict[str, Right] = {
    "today i see the dentist": plus(0),
    "dinner with ana tonight": plus(0),
    "i fly to rome tomorrow": plus(1),
    "tomorrow morning i have an exam": plus(1),
    "the day after tomorrow we move": plus(2),
    "yesterday i was ill": plus(-1),
    "the day before yesterday i was ill": plus(-2),
    "last night i slept badly": plus(-1),
    "the exam is in three days": plus(3),
    "the exam is in 10 days": plus(10),
    "we leave in a fortnight": plus(14),
    "we leave in two weeks": plus(14),
    "two weeks from now we leave": plus(14),
    "i start in a week": plus(7),
    "i start in twenty one days": plus(21),
    "i start in a month": months(1),
    "i start in three months": months(3),
    "it ends in a year": months(12),
    "i quit three days ago": plus(-3),
    "i quit two weeks ago": plus(-14),
    "i quit a month ago": months(-1),
    "i have a date on friday": first(FRI, 1),
    "dentist next friday": first(FRI, 1),
    "the coming monday i start": first(MON, 1),
    "this sunday we cook": first(SUN, 0),
    "wednesday morning i swim at the lake": first(WED, 1),
    "a week from friday i start": first(FRI, 1, 7),
    "friday week i start": first(FRI, 1, 7),
    "last tuesday i fell": before(TUE),
    "next week on thursday i start": iso_week(1, THU),
    "on thursday next week i start": iso_week(1, THU),
    "i am away next week": whole_week(1),
    "i was away last week": whole_week(-1),
    "the week after next i am away": whole_week(2),
    "this weekend we paint": whole_week(0, 5, 6),
    "last weekend we painted": whole_week(-1, 5, 6),
    "we paint next weekend": next_weekend,
    "i move next month": month(1),
    "i moved last month": month(-1),
    "i graduate next year": year(1),
    "i graduated last year": year(-1),
    "the lease ends at the end of march": end_of(3),
    "it is due by the end of the month": end_of_month(0),
    "it is due at the end of next month": end_of_month(1),
    "i start at the beginning of june": beginning_of(6),
    "i am done by the end of the year": on(12, 31),
    "in july i go to spain": in_month(7),
    "the wedding is on march twelfth": on(3, 12),
    "the wedding is on the twenty third of may": on(5, 23),
    "the wedding is on june 5th": on(6, 5),
    "the wedding is on 3 october": on(10, 3),
    "the wedding is on 12/25": on(12, 25),
    "the wedding is on the 29th of february": on(2, 29),
    "the wedding is on may 3rd next year": next_year_on(5, 3),
    "my exam is on the fifteenth": alone(15),
    "the first monday in may is free": nth(MON, 1, 5),
    "on new year's eve we dance": on(12, 31),
    "the day after christmas day we leave": on(12, 25, 1),
    "my birthday is on march twelfth": fixed("every 03-12"),
    "our anniversary is the 3rd of may": fixed("every 05-03"),
    "every year on june 21st we meet": fixed("every 06-21"),
    "i was born on the twenty ninth of february": fixed("every 02-29"),
    "the wedding is on march third twenty twenty seven": nothing,
    "the wedding is on 2027-03-03": nothing,
    "every friday i swim": nothing,
    "i swim on fridays": nothing,
    "i saw her on friday": nothing,
    "it is due on 03/04": nothing,
    "we meet soon": nothing,
    "in a few days i know more": nothing,
    "i live on the first floor": nothing,
    "one day i want to see japan": nothing,
    "i may second that": nothing,
    "i read the sunday times": nothing,
}

GERMAN: dict[str, Right] = {
    "heute gehe ich zum zahnarzt": plus(0),
    "heute abend kommt ana": plus(0),
    "heute morgen war ich laufen": plus(0),
    "morgen fliege ich nach rom": plus(1),
    "morgen früh habe ich prüfung": plus(1),
    "uebermorgen ziehen wir um": plus(2),
    "gestern war ich krank": plus(-1),
    "gestern abend war ich krank": plus(-1),
    "vorgestern war ich krank": plus(-2),
    "die prüfung ist in drei tagen": plus(3),
    "die pruefung ist in 10 tagen": plus(10),
    "in vierzehn tagen fahren wir": plus(14),
    "in zwei wochen fahren wir": plus(14),
    "in zwo wochen fahren wir": plus(14),
    "heute in acht tagen fahren wir": plus(7),
    "heute in einer woche fahren wir": plus(7),
    "in einundzwanzig tagen fange ich an": plus(21),
    "in einem monat fange ich an": months(1),
    "in drei monaten fange ich an": months(3),
    "in einem jahr endet es": months(12),
    "vor drei tagen habe ich gekündigt": plus(-3),
    "vor zwei wochen habe ich gekündigt": plus(-14),
    "vor einem monat habe ich gekündigt": months(-1),
    "am freitag habe ich einen termin": first(FRI, 1),
    "nächsten freitag zahnarzt": first(FRI, 1),
    "naechsten freitag zahnarzt": first(FRI, 1),
    "kommenden montag fange ich an": first(MON, 1),
    "diesen sonntag kochen wir": first(SUN, 0),
    "am mittwochabend gehe ich schwimmen": first(WED, 1),
    "freitag in einer woche fange ich an": first(FRI, 1, 7),
    "freitag in acht tagen fange ich an": first(FRI, 1, 7),
    "letzten dienstag bin ich gestürzt": before(TUE),
    "nächste woche donnerstag fange ich an": iso_week(1, THU),
    "am donnerstag nächster woche fange ich an": iso_week(1, THU),
    "nächste woche bin ich weg": whole_week(1),
    "letzte woche war ich weg": whole_week(-1),
    "übernächste woche bin ich weg": whole_week(2),
    "dieses wochenende streichen wir": whole_week(0, 5, 6),
    "letztes wochenende haben wir gestrichen": whole_week(-1, 5, 6),
    "nächstes wochenende streichen wir": next_weekend,
    "nächsten monat ziehe ich um": month(1),
    "letzten monat bin ich umgezogen": month(-1),
    "nächstes jahr bin ich fertig": year(1),
    "letztes jahr wurde ich fertig": year(-1),
    "der vertrag endet ende märz": end_of(3),
    "ende maerz ziehe ich um": end_of(3),
    "bis ende des monats muss es fertig sein": end_of_month(0),
    "ende nächsten monats muss es fertig sein": end_of_month(1),
    "anfang juni fange ich an": beginning_of(6),
    "bis jahresende bin ich fertig": on(12, 31),
    "im juli fahre ich nach spanien": in_month(7),
    "die hochzeit ist am zwölften märz": on(3, 12),
    "die hochzeit ist am zwoelften maerz": on(3, 12),
    "die hochzeit ist am dreiundzwanzigsten mai": on(5, 23),
    "die hochzeit ist am 5. Juni": on(6, 5),
    "die hochzeit ist am 3.10.": on(10, 3),
    "die hochzeit ist am dritten zehnten": on(10, 3),
    "die hochzeit ist am neunundzwanzigsten februar": on(2, 29),
    "die hochzeit ist am dritten mai nächsten jahres": next_year_on(5, 3),
    "meine prüfung ist am fünfzehnten": alone(15),
    "der erste montag im mai ist frei": nth(MON, 1, 5),
    "an silvester tanzen wir": on(12, 31),
    "am tag nach heiligabend fahren wir": on(12, 24, 1),
    "mein geburtstag ist am zwölften märz": fixed("every 03-12"),
    "unser hochzeitstag ist der dritte mai": fixed("every 05-03"),
    "jedes jahr am einundzwanzigsten juni treffen wir uns": fixed("every 06-21"),
    "ich bin am neunundzwanzigsten februar geboren": fixed("every 02-29"),
    "die hochzeit ist am dritten märz zweitausendsiebenundzwanzig": nothing,
    "die hochzeit ist am 03.03.2027": nothing,
    "jeden freitag gehe ich schwimmen": nothing,
    "freitags gehe ich schwimmen": nothing,
    "ich habe sie am freitag gesehen": nothing,
    "guten morgen jarvis": nothing,
    "ich jogge am morgen": nothing,
    "wir treffen uns bald": nothing,
    "in ein paar tagen weiß ich mehr": nothing,
    "ich wohne im ersten stock": nothing,
    "irgendwann will ich nach japan": nothing,
    "die katze von frau sonntag ist krank": nothing,
}

SPANISH: dict[str, Right] = {
    "hoy voy al dentista": plus(0),
    "esta noche viene ana": plus(0),
    "esta mañana fui a correr": plus(0),
    "mañana vuelo a roma": plus(1),
    "mañana por la mañana tengo un examen": plus(1),
    "manana por la tarde tengo un examen": plus(1),
    "pasado mañana nos mudamos": plus(2),
    "ayer estuve enfermo": plus(-1),
    "anoche dormí mal": plus(-1),
    "anteayer estuve enfermo": plus(-2),
    "antes de ayer estuve enfermo": plus(-2),
    "el examen es en tres días": plus(3),
    "el examen es dentro de 10 dias": plus(10),
    "salimos en quince días": plus(14),
    "salimos dentro de dos semanas": plus(14),
    "de hoy en ocho salimos": plus(7),
    "empiezo en una semana": plus(7),
    "empiezo en veintiún días": plus(21),
    "empiezo en un mes": months(1),
    "empiezo dentro de tres meses": months(3),
    "se acaba en un año": months(12),
    "lo dejé hace tres días": plus(-3),
    "lo dejé hace dos semanas": plus(-14),
    "lo dejé hace un mes": months(-1),
    "el viernes tengo una cita": first(FRI, 1),
    "el próximo viernes tengo dentista": first(FRI, 1),
    "el proximo miercoles tengo dentista": first(WED, 1),
    "el viernes que viene tengo dentista": first(FRI, 1),
    "este domingo cocinamos": first(SUN, 0),
    "el miércoles por la tarde nado en el lago": first(WED, 1),
    "el viernes en ocho días empiezo": first(FRI, 1, 7),
    "el martes pasado me caí": before(TUE),
    "el pasado martes me caí": before(TUE),
    "el jueves de la semana que viene empiezo": iso_week(1, THU),
    "la próxima semana el jueves empiezo": iso_week(1, THU),
    "la semana que viene estoy fuera": whole_week(1),
    "la semana pasada estuve fuera": whole_week(-1),
    "este fin de semana pintamos": whole_week(0, 5, 6),
    "el fin de semana pasado pintamos": whole_week(-1, 5, 6),
    "el próximo fin de semana pintamos": next_weekend,
    "el mes que viene me mudo": month(1),
    "el mes pasado me mudé": month(-1),
    "el año que viene me gradúo": year(1),
    "el ano pasado me gradué": year(-1),
    "el contrato termina a finales de marzo": end_of(3),
    "lo entrego a fin de mes": end_of_month(0),
    "lo entrego a finales del mes que viene": end_of_month(1),
    "empiezo a principios de junio": beginning_of(6),
    "a fin de año habré terminado": on(12, 31),
    "en julio voy a la playa": in_month(7),
    "la boda es el doce de marzo": on(3, 12),
    "la boda es el veintitrés de mayo": on(5, 23),
    "la boda es el 5 de junio": on(6, 5),
    "la boda es el 3/10": on(10, 3),
    "la boda es el treinta y uno de diciembre": on(12, 31),
    "la boda es el primero de mayo": on(5, 1),
    "la boda es el veintinueve de febrero": on(2, 29),
    "la boda es el tres de mayo del año que viene": next_year_on(5, 3),
    "mi examen es el día quince": alone(15),
    "el primer lunes de mayo es fiesta": nth(MON, 1, 5),
    "en nochevieja bailamos": on(12, 31),
    "el día después de nochebuena salimos": on(12, 24, 1),
    "mi cumpleaños es el doce de marzo": fixed("every 03-12"),
    "nuestro aniversario es el 3 de mayo": fixed("every 05-03"),
    "todos los años el 21 de junio nos vemos": fixed("every 06-21"),
    "nací el veintinueve de febrero": fixed("every 02-29"),
    "la boda es el tres de marzo de dos mil veintisiete": nothing,
    "la boda es el 03/03/2027": nothing,
    "todos los viernes nado": nothing,
    "los viernes nado": nothing,
    "la vi el viernes": nothing,
    "trabajo por la mañana": nothing,
    "nos vemos pronto": nothing,
    "en unos días sabré más": nothing,
    "vivo en el primer piso": nothing,
    "algún día quiero ver japón": nothing,
    "nací en santo domingo": nothing,
}

LANGUAGES = {"en": ENGLISH, "de": GERMAN, "es": SPANISH}


def judged(sentence: str, at: datetime, right: Right) -> str:
    """ "right", "unresolved" or "wrong"."""
    written = [
        each.written
        for each in spoken_dates(sentence, at)
        if not each.has_year and each.written is not None
    ]
    expected = right(at.date())
    if written == ([] if expected is None else [expected]):
        return "right"
    return "unresolved" if not written else "wrong"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--wrong", action="store_true", help="list what is not right")
    show = parser.parse_args().wrong
    print("language  expressions  days  right   unresolved  wrong")
    for language, expressions in LANGUAGES.items():
        counts: Counter[str] = Counter()
        for sentence, right in expressions.items():
            for at in MOMENTS:
                verdict = judged(sentence, at, right)
                counts[verdict] += 1
                if show and verdict != "right":
                    expected = right(at.date())
                    print(f"  {verdict} {at:%a %Y-%m-%d} {with_dates(sentence, at)} [{expected}]")
        share = 100 * counts["right"] / counts.total()
        print(
            f"{language:8}  {len(expressions):11}  {len(MOMENTS):4}  {share:5.1f} %"
            f"  {counts['unresolved']:10}  {counts['wrong']:5}"
        )


if __name__ == "__main__":
    main()
