from __future__ import annotations

from datetime import date, datetime

import pytest

from memory.languages.dates import dates_named, follows, passed

AT = datetime.fromisoformat("2026-12-02T10:00:00+01:00")
TODAY = AT.date()


@pytest.mark.parametrize(
    ("text", "said", "wrong"),
    [
        ("Dentist next Friday (2026-12-04)", "dentist next friday", None),
        ("Dentist on 2026-12-04", "dentist next friday", None),
        ("Dentist on 4 December 2026", "dentist next friday", None),
        ("Dentist on Friday", "dentist next friday", None),
        ("Zahnarzt am 4. Dezember", "dentist next friday", None),
        ("Zahnarzt am 4. Dezember 2026", "am nächsten freitag zahnarzt", None),
        ("Dentista el 4 de diciembre de 2026", "el viernes que viene tengo dentista", None),
        ("Dentist on 2026-12-11", "dentist next friday", "2026-12-11"),
        ("Dentist next Friday (2026-12-11)", "dentist next friday", "(2026-12-11)"),
        ("Dentist on Thursday (2026-12-04)", "dentist next friday", "Thursday"),
        ("Dentist on Thursday", "dentist next friday", "Thursday"),
        ("Dentist on 4 December 2026 (2027-01-01)", "dentist next friday", "(2027-01-01)"),
        ("In 2020 (2026-12-04) dentist", "dentist next friday", "In 2020"),
        ("Sister's birthday: every 12 March", "my sister's birthday is on march twelfth", None),
        ("Sister's birthday (every 03-12)", "my sister's birthday is on march twelfth", None),
        ("Sister's birthday: March 13", "my sister's birthday is on march twelfth", "March 13"),
        ("Sister's birthday (every 03-13)", "it's on march twelfth", "(every 03-13)"),
        ("Sister's birthday (every 03-12)", "it's on march twelfth", None),
        ("Birthday every 12 March", "I was born on march twelfth nineteen eighty five", None),
        ("Born 1985-03-12", "I was born on march twelfth nineteen eighty five", None),
        ("Geboren am 12. März 1985", "am zwölften märz neunzehnhundertfünfundachtzig", None),
        ("Geboren am 12. März 1986", "am zwölften märz neunzehnhundertfünfundachtzig", "12. März 1986"),
        ("Moves in March 2027", "I move at the end of march", None),
        ("Moves in 2027", "I move at the end of march", None),
        ("Moves 2027-03-15", "I move at the end of march", "2027-03-15"),
        ("Away from 2026-12-07 to 2026-12-13", "I'm away next week", None),
        ("Away on 2026-12-09", "I'm away next week", "2026-12-09"),
        ("Away from 2027-05-03 to 2027-05-05", "away from the 3rd to the 5th of May", None),
        ("Moved to Berlin in 2019", "2019 sind wir nach Berlin gezogen", None),
        ("Moved in 1985", "neunzehnhundertfünfundachtzig sind wir umgezogen", None),
        ("Moved to Berlin in 2020", "2019 sind wir nach Berlin gezogen", "in 2020"),
        ("Birthday is in November", "november is my birthday", None),
        ("Birthday is in October", "november is my birthday", "in October"),
        ("Married on March 3", "we married on march third", None),
        ("Married on March 4", "we married on march third", "March 4"),
        ("Married on 2025-03-03", "we married on march third", "2025-03-03"),
        ("Swims every Friday", "i swim on fridays", None),
        ("Swims on Fridays", "i swim on tuesdays", "Fridays"),
        ("Nada todos los viernes", "i swim on fridays", None),
        ("Trip soon", "a trip", None),
        ("Trip tomorrow", "a trip", "tomorrow"),
        ("Lives here since 2024", "i moved here two years ago", None),
        ("Dentist (2026-12-04)", "Known: dentist next Friday (2026-12-04)", None),
        ("Dentist (2026-11-06)", "Known: dentist next Friday (2026-11-06)", None),
        ("Dentist (2026-12-04)", "Known: dentist next Friday (2026-11-06)", "(2026-12-04)"),
        ("Has two cats", "I have two cats", None),
    ],
)  # fmt: skip
def test_each_date_was_said_or_follows(text: str, said: str, wrong: str | None) -> None:
    """A date in an entry is one that was said, or one that the calendar makes of it."""
    assert follows(text, said, AT) == wrong


@pytest.mark.parametrize(
    ("entry", "over"),
    [
        ("Dentist next Friday (2026-11-27)", True),
        ("Dentist on 2026-12-01", True),
        ("Dentist on 2026-12-02", False),
        ("Dentist next Friday (2026-12-04)", False),
        ("Exam on 20 November 2026", True),
        ("Prüfung am 20.11.2026", True),
        ("Examen el 20 de noviembre de 2026", True),
        ("Away next week (2026-11-23 to 2026-11-29)", True),
        ("Away next week (2026-11-30 to 2026-12-06)", False),
        ("Moves next month (2026-11)", True),
        ("Moves next month (2026-12)", False),
        ("Conference (2026-11)", True),
        ("Wants to run a marathon in 2025", True),
        ("Wants to run a marathon in 2026", False),
        ("Zieht Anfang November (2026-11-01) um", True),
        ("Zieht Anfang Dezember (2026-12-01) um", False),
        ("Booked a flight for 2026-11-20", True),
        ("Passport valid until 2026-11-20", True),
        # What recurs, what was past already, what lasts, and what can't be told
        ("Sister's birthday on March 12 (every 03-12)", False),
        ("Sister's birthday: 12 March 1985", False),
        ("Born on 12 March 1985", False),
        ("Geboren am 12. März 1985", False),
        ("Nació el 3 de mayo de 1985", False),
        ("Every Friday until 2026-11-20 yoga", False),
        ("Bought a car last Friday (2026-11-27)", False),
        ("Bought a car on 2026-11-20", False),
        ("Hat am 20. November 2026 geheiratet", False),
        ("Moved to Berlin in 2019", False),
        ("Lives in Berlin since 2019-05-01", False),
        ("Wohnt seit 1. Mai 2019 in Berlin", False),
        ("Vive en Madrid desde 2019", False),
        ("Trip 2026-11-20, back on 2026-12-10", False),
        ("Dentist on Friday", False),
        ("Dentist on 2026-11-20, then on Friday", False),
        ("Likes cats", False),
    ],
)
def test_only_a_date_that_is_over_makes_an_entry_outdated(entry: str, over: bool) -> None:
    """An entry is outdated when all its real dates are past; what recurs or lasts never is."""
    assert passed(entry, TODAY) == over


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("dentist next friday", []),
        ("dentist next friday (2026-12-04)", ["2026-12-04"]),
        ("the trip (2026-12-07 to 2026-12-13)", ["2026-12-07 to 2026-12-13"]),
        ("on 4 December 2026 and am 5. Januar 2027", ["2026-12-04", "2027-01-05"]),
        ("her birthday is on March 12", ["every 03-12"]),
        ("in 2019, en mayo de 2020", ["2019", "2020-05"]),
        ("soon, on Friday, every Friday", []),
    ],
)
def test_dates_that_a_text_names_by_itself(text: str, named: list[str]) -> None:
    """A date that needs no day of saying: in ISO form, with a year, or recurring."""
    assert [each.written for each in dates_named(text)] == named


def test_an_entry_is_over_the_day_after_its_last_day() -> None:
    """On its own day a plan stands."""
    assert not passed("Exam on 2026-12-04", date(2026, 12, 4))
    assert passed("Exam on 2026-12-04", date(2026, 12, 5))
