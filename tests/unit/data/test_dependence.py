"""Fields that another one tells."""

from __future__ import annotations

import numpy as np
import polars as pl

import tielink as tl


def warnings(*, nested: bool, files: int = 2, size: int = 200) -> list[str]:
    rng = np.random.default_rng(1)
    frames = {}
    for number in range(files):
        suburb = rng.integers(0, 30, size)
        postcode = suburb if nested else rng.integers(0, 30, size)
        wrong = rng.random(size) < 0.05
        postcode = np.where(wrong, rng.integers(0, 30, size), postcode)
        frames["ab"[number]] = pl.DataFrame(
            {
                "id": np.arange(size),
                "username": [f"user{number}{place}" for place in range(size)],
                "suburb": [f"s{code}" for code in suburb],
                "postcode": [f"p{code}" for code in postcode],
                "mostly": np.where(rng.random(size) < 0.02, "yes", "no"),
            }
        )
    fields = {"username": tl.String(), **dict.fromkeys(("suburb", "postcode", "mostly"), tl.Categorical())}
    data = tl.Dataset.from_frames(frames, fields=fields)
    return [f"{fault.where} {fault.what}" for fault in data.said if "is told by" in fault.what]


def test_a_field_that_another_one_tells_is_warned_of_once():
    (only,) = warnings(nested=True)
    assert "is told by" in only
    assert {"'postcode'", "'suburb'"} < set(only.replace(":", " ").split())
    share = int(only.partition("agree there, ")[2].partition("%")[0])
    assert 84 < share < 96, "two in twenty pairs of records have a wrong postcode"


def test_independent_fields_rare_values_and_few_records_are_not():
    assert warnings(nested=False) == []
    assert warnings(nested=True, size=20) == []
    assert warnings(nested=True, files=1) == [], "records of one file may be duplicates, which agree in everything"
