"""What `rldata500` and `rldata10000` are made of: errors of duplicates, and strangers who look alike.

Rows of one person count its pairs by the number of fields (two names, year, month and day of birth) in which the
records differ, and as many pairs as would differ so if each field erred by itself, as often as it does. Rows of
strangers count pairs of different persons, of each the first record, and the mean of 20 files in which each column is
shuffled. Here the truth is looked at; nothing is set by it. Needs `TIELINK_DATA`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

TITLE = "Duplicates: how many fields differ"
COLUMNS = (
    "data",
    "pairs",
    "differ in 0",
    "1",
    "2",
    "3 and more",
    "if fields were independent: 0",
    "1",
    "2",
    "3 and more",
)
FIELDS = ("fname_c1", "lname_c1", "by", "bm", "bd")


def independent(rates: list[float], pairs: int) -> list[float]:
    """Return how many pairs differ in 0, 1, 2 and more fields, if each differs by itself at its rate."""
    chance = np.ones(1)
    for rate in rates:
        chance = np.convolve(chance, [1 - rate, rate])
    return [*(pairs * chance[:3]), pairs * chance[3:].sum()]


def strangers(columns: list[np.ndarray]) -> list[int]:
    """Return how many pairs of records differ in no field, in one, and in two."""
    agree = []
    for differ in range(3):
        kept = combinations(range(len(columns)), len(columns) - differ)
        counts = [Counter(zip(*(columns[place] for place in places), strict=True)) for places in kept]
        agree.append(sum(n * (n - 1) // 2 for found in counts for n in found.values()))
    same, one, two = agree  # pairs that differ in fewer fields are counted for each choice of the others
    one -= 5 * same
    return [same, one, two - 4 * one - 10 * same]


def measure() -> Iterator[tuple[object, ...]]:
    """Yield two rows for each data set."""
    if "TIELINK_DATA" not in os.environ:
        return
    rng = np.random.default_rng(1)
    for name in ("rldata500", "rldata10000"):
        folder = Path(os.environ["TIELINK_DATA"]) / name
        records, truth = (
            pl.read_csv(folder / f"{part}.csv", infer_schema=False) for part in ("records", "truth_clusters")
        )
        people = records.join(truth, on="id")
        twins = people.join(people, on="cluster", suffix="_b").filter(pl.col("id") < pl.col("id_b"))
        differ = np.column_stack([(twins[field] != twins[f"{field}_b"]).to_numpy() for field in FIELDS])
        seen = np.bincount(np.minimum(differ.sum(axis=1), 3), minlength=4)
        expected = independent(differ.mean(axis=0).tolist(), len(differ))
        yield (name, "of one person", *(f"{n:,}" for n in seen), *(f"{n:,.0f}" for n in expected))
        first = people.unique("cluster", keep="first", maintain_order=True)
        columns = [first[field].to_numpy() for field in FIELDS]
        shuffled = np.mean([strangers([rng.permutation(column) for column in columns]) for _ in range(20)], axis=0)
        yield (name, "strangers", *(f"{n:,}" for n in strangers(columns)), "–", *(f"{n:,.0f}" for n in shuffled), "–")
