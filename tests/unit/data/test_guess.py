"""What columns are taken for, over many made ones; every guess is said, and can be corrected."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import tielink as tl
from tielink.data.frames import Table
from tielink.data.guess import guess_field
from tielink.data.measures import read_numbers
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
    ("districts", "district"): ([str(n) for n in RNG.integers(1, 16, N)], "categorical"),
    ("ages of children", "age"): ([str(n) for n in RNG.integers(0, 16, N)], "number"),
    ("a hundred surnames", "surname"): (pick([typed().title() for _ in range(100)], 30 * N), "string"),
    ("states", "state"): (pick([a + b for a in "ABCDEF" for b in "KLMNOPQR"], 10 * N), "categorical"),
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


def test_long_texts_are_used_where_files_have_them_in_common():
    titles = [words(12) for _ in range(N)]
    assert guess_field(tables("title", [*titles, *(title.upper() for title in titles)]), "title").field.kind == "string"


def test_names_of_persons_are_known_where_the_kind_is():
    values = [f"{last}, {first}" for first, last in zip(pick(FIRST), [typed().title() for _ in range(N)], strict=True)]
    kind = "person_name" if any(kind.kind == "person_name" for kind in FIELD_KINDS) else "string"
    assert guess_field(tables("name", values), "name").field.kind == kind


def test_a_few_unreadable_dates_are_missing_and_said_and_many_make_it_text():
    values = [str(date(1930, 1, 1) + timedelta(int(n))) for n in RNG.integers(0, 27_000, N)]
    values[7] = "0000-00-00"
    assert guess_field(tables("dob", values), "dob").field.kind == "date"
    data = tl.Dataset.from_frames({"a": pl.DataFrame({"id": range(N), "dob": values})})
    said = [
        fault for fault in data.said if "1 cell is no date: '0000-00-00' (position 7), taken as missing" in fault.what
    ]
    assert [fault.severity for fault in said] == ["warning"]
    assert data.columns["dob"].codes[7] == -1
    with pytest.raises(tl.InputError, match="1 cell is no date"):
        tl.Dataset.from_frames({"a": pl.DataFrame({"id": range(N), "dob": values})}, fields={"dob": tl.Date()})
    for place in range(0, N, 10):
        values[place] = "soon"
    assert guess_field(tables("dob", values), "dob").field.kind == "string"


def test_an_id_that_files_share_is_the_best_field_and_row_numbers_are_none():
    keys = [f"c{n}" for n in RNG.permutation(50_000)[:N]]
    shared = {side: Table(pl.DataFrame({"customer_id": part}), side) for side, part in (("a", keys), ("b", keys[50:]))}
    assert guess_field(shared, "customer_id").field.kind == "string"
    numbers = RNG.permutation(10**6)[:N].tolist()
    typed_numbers = {side: Table(pl.DataFrame({"key": numbers}), side) for side in "ab"}
    assert guess_field(typed_numbers, "key").field.kind == "categorical"
    rows = {side: Table(pl.DataFrame({"row": [str(n) for n in range(N)]}), side) for side in "ab"}
    assert guess_field(rows, "row").field is None


def test_ids_that_files_share_are_said_and_can_be_compared():
    keys = [f"c{n}" for n in RNG.permutation(50_000)[:N]]
    frame = pl.DataFrame({"id": keys, "city": pick(LAST)})
    data = tl.Dataset.from_frames({"a": frame, "b": frame})
    assert any("shared between files" in fault.what and "tl.String()" in fault.do for fault in data.said)
    compared = tl.Dataset.from_frames({"a": frame, "b": frame}, fields={"id": tl.String()})
    assert list(compared.fields) == ["id"]
    assert not any("shared between files" in fault.what for fault in compared.said)


def test_decimal_commas_and_thousands_are_numbers():
    assert read_numbers(["1,75", "80", None]) == ["1.75", "80", None]
    assert read_numbers(["12,000", "1,234.5"]) == ["12000", "1234.5"]
    assert read_numbers(["1,234"]) == [None]
    guess = guess_field(
        tables("height", [f"{n / 100:.2f}".replace(".", ",") for n in RNG.integers(140, 210, N)]), "height"
    )
    assert "decimal numbers" in guess.why
    assert guess.instead == "number"


def test_usual_texts_for_missing_values_are_missing_and_said():
    frame = pl.DataFrame({"id": range(8), "city": ["Rome", "NA", "<NA>", "null", "-", "Oslo", "Null", "Oslo"]})
    data = tl.Dataset.from_frames({"a": frame})
    assert data.columns["city"].values == ("Null", "Oslo", "Rome")
    assert any("'NA' (1×)" in fault.what and "missing" in fault.what for fault in data.said)
    assert "Oslo" not in tl.Dataset.from_frames({"a": frame}, missing=["Oslo"]).columns["city"].values
    for none in ([], ""):
        assert "NA" in tl.Dataset.from_frames({"a": frame}, missing=none).columns["city"].values


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
    examples = "{!r}, {!r} and {!r}".format(*frame["username"][:3])
    assert (
        f"column 'username': taken as a string (people type it): 80 values, 40 different ({examples}). If that is "
        "wrong, say fields={'username': tl.Categorical(), …} or ignore=['username']." in said
    )
    assert any(line.startswith("column 'city': taken as categorical (one of a short list): 80 values") for line in said)
    assert any(line.startswith("column 'link': is not used: it holds web addresses ('https:") for line in said)
    ignored = tl.Dataset.from_frames({"a": frame, "b": frame}, ignore=["city"])
    assert list(ignored.fields) == ["username"]
    with pytest.raises(tl.InputError, match="Did you mean 'city'"):
        tl.Dataset.from_frames({"a": frame}, ignore=["citty"])
