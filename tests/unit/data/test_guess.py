"""What columns are taken for, over many made ones; every guess is said, and can be corrected."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import tielink as tl
from tielink.data.frames import Table
from tielink.data.guess import guess_field
from tielink.fields import FIELD_KINDS

RNG = np.random.default_rng(4)
N = 300
FIRST = "Anna Bob Carla Dora Emil Frida Gus Hanna Ivo Jana".split()
LAST = "Meier Smith O'Neil Lopez Kim Braun Novak Silva Roth Yates".split()


def pick(values, size=N):
    return [values[i] for i in RNG.integers(0, len(values), size)]


def words(count):
    return " ".join(pick("the a red house walks into some green forest near town".split(), count))


def typed():
    return "".join(pick(list("abcdefghijklmnopqrstuvwxyz"), 7))


COLUMNS = {
    ("zip code with leading zeros", "zip"): ([f"{n:05d}" for n in RNG.integers(501, 60_000, N)], "string"),
    ("few zip codes", "plz"): (pick([f"{n:05d}" for n in range(1001, 90_000, 2_000)]), "categorical"),
    ("five digits named so", "postcode"): ([str(n) for n in RNG.integers(10_000, 99_000, N)], "string"),
    ("phone numbers", "phone"): ([f"0{n}" for n in RNG.integers(10**8, 10**9, N)], "string"),
    ("phone numbers by another name", "contact"): ([str(n) for n in RNG.integers(10**9, 10**10, N)], "string"),
    ("ages", "age"): ([str(n) for n in RNG.integers(18, 90, N)], "number"),
    ("ages as numbers", "age"): (RNG.integers(18, 90, N).tolist(), "number"),
    ("ages with gaps", "age"): ([None if n % 3 else float(n) for n in RNG.integers(18, 90, N)], "number"),
    ("years of birth", "yob"): ([str(n) for n in RNG.integers(1920, 2005, N)], "number"),
    ("months", "bm"): ([str(n) for n in RNG.integers(1, 13, N)], "categorical"),
    ("ISO dates", "dob"): ([str(date(1930, 1, 1) + timedelta(int(n))) for n in RNG.integers(0, 27_000, N)], "date"),
    ("real dates", "dob"): ([date(1930, 1, 1) + timedelta(int(n)) for n in RNG.integers(0, 27_000, N)], "date"),
    ("dates as digits", "dob"): (
        [(date(1930, 1, 1) + timedelta(int(n))).strftime("%Y%m%d") for n in RNG.integers(0, 27_000, N)],
        "date",
    ),
    ("American dates", "dob"): (
        [(date(1930, 1, 1) + timedelta(int(n))).strftime("%m/%d/%Y") for n in RNG.integers(0, 27_000, N)],
        "date",
    ),
    ("eight digits that are no dates", "account"): ([str(n) for n in RNG.integers(10**7, 10**8, N)], "string"),
    ("flags", "smokes"): (pick(["0", "1"]), "categorical"),
    ("truth values", "smokes"): (pick([True, False]), "categorical"),
    ("genders", "gender"): (pick(["F", "M", ""]), "categorical"),
    ("cities", "city"): (pick(LAST), "categorical"),
    ("emails", "email"): ([f"{typed()}@example.org" for _ in range(N)], "string"),
    ("usernames", "username"): ([typed() for _ in range(N)], "string"),
    ("surnames", "surname"): ([typed().title() for _ in range(N)], "string"),
    ("sparse usernames", "nick"): ([typed() if n % 25 == 0 else None for n in range(N)], "string"),
    ("decimal numbers", "weight"): ((70 + 9 * RNG.normal(size=N)).tolist(), None),
    ("row numbers", "n"): ([str(n + 1) for n in range(N)], None),
    ("shuffled row numbers", "n"): (RNG.permutation(N).tolist(), None),
    ("ids", "customer_id"): ([f"c{n}" for n in RNG.permutation(5_000)[:N]], None),
    ("tokens", "account"): ([f"{n:032x}" for n in RNG.integers(0, 2**60, N)], None),
    ("addresses of pages", "homepage"): ([f"https://example.org/{typed()}" for _ in range(N)], None),
    ("free text", "remarks"): ([words(12) for _ in range(N)], None),
    ("one value", "country"): (["DE"] * N, None),
    ("nothing", "void"): ([None] * N, None),
    ("lists", "list"): ([[1]] * N, None),
}


def tables(name, values):
    half = len(values) // 2
    return {
        side: Table(pl.DataFrame({name: part}), side) for side, part in (("a", values[:half]), ("b", values[half:]))
    }


@pytest.mark.parametrize("case", COLUMNS, ids=lambda case: case[0])
def test_columns_are_taken_for_what_they_are(case):
    values, kind = COLUMNS[case]
    guess = guess_field(tables(case[1], values), case[1])
    assert (guess.field.kind if guess.field else None) == kind, guess
    assert guess.why


def test_names_of_persons_are_known_where_the_kind_is():
    values = [f"{last}, {first}" for first, last in zip(pick(FIRST), [typed().title() for _ in range(N)], strict=True)]
    kind = "person_name" if any(kind.kind == "person_name" for kind in FIELD_KINDS) else "string"
    assert guess_field(tables("name", values), "name").field.kind == kind


def test_almost_dates_are_strings_and_missing_texts_can_be_named():
    values = [str(date(1930, 1, 1) + timedelta(int(n))) for n in RNG.integers(0, 27_000, N)]
    values[7] = "0000-00-00"
    assert guess_field(tables("dob", values), "dob").field.kind == "string"
    assert guess_field(tables("dob", values), "dob", missing=["0000-00-00"]).field.kind == "date"


def test_every_guess_is_said_with_how_to_correct_it():
    frame = pl.DataFrame(
        {
            "id": range(40),
            "username": [typed() for _ in range(40)],
            "city": pick(["Rome", "Oslo"], 40),
            "link": [f"https://example.org/{typed()}" for _ in range(40)],
        }
    )
    said = [str(fault) for fault in tl.Dataset.from_frames({"a": frame, "b": frame}).said]
    assert (
        "column 'username': taken as a string (people type it): 80 values, 40 different. If that is wrong, say "
        "--categorical username or --ignore username (in Python, `fields` or `ignore`)." in said
    )
    assert any(line.startswith("column 'city': taken as categorical (one of a short list): 80 values") for line in said)
    assert "column 'link': is not used: it holds web addresses." in said
    ignored = tl.Dataset.from_frames({"a": frame, "b": frame}, ignore=["city"])
    assert list(ignored.fields) == ["username"]
    with pytest.raises(tl.InputError, match="Did you mean 'city'"):
        tl.Dataset.from_frames({"a": frame}, ignore=["citty"])
