"""Files that write the same values differently are read in one writing, and only those."""

from __future__ import annotations

import polars as pl
import pytest

import tielink as tl

PHONES = ["310/246-1501", "818/762-1221", "213/265-6000"]


def files(left, right, field):
    frames = {
        "left": pl.DataFrame({"id": range(len(left)), "value": left}),
        "right": pl.DataFrame({"id": range(len(right)), "value": right}),
    }
    return tl.Dataset.from_frames(frames, fields={"value": field})


@pytest.mark.parametrize("field", [tl.String(), tl.Categorical()])
@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        (["1999.0", "2003.0", "1987.0"], ["1999", "2003", "1990"], "without the ending .0 of whole numbers."),
        (["ANNA", "TOM", "ZOE"], ["Tom", "Anna", "Liam"], "without the case of letters."),
        (PHONES, [phone.replace("/", "-") for phone in PHONES], "without the case of letters, punctuation and spaces."),
    ],
)
def test_the_same_values_written_differently_are_equal_and_that_is_said(field, left, right, said):
    data = files(left, right, field)
    codes = data.columns["value"].codes
    shared = set(codes[: len(left)]) & set(codes[len(left) :])
    assert len(shared) >= 2
    assert any(said in str(line) for line in data.said)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (["ANNA", "Tom", "Zoe"], ["Tom", "Anna", "Zoe"]),  # two in three are shared as they are
        (["A", "b", "c"], ["a", "x", "y"]),  # one pair may be chance
        (["ANNA", None], [None, "Tom"]),
    ],
)
def test_other_values_stay_as_they_are(left, right):
    data = files(left, right, tl.String())
    assert set(data.columns["value"].values) == {*left, *right} - {None}
    assert not any("differently" in str(line) for line in data.said)


def test_a_list_of_all_values_is_taken_at_its_word():
    data = files(["ANNA", "TOM"], ["anna", "tom"], tl.String(vocabulary="closed"))
    assert len(data.columns["value"].values) == 4
