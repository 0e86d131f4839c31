"""Tables of the string field against the formulas, with and without a distance cap."""

from __future__ import annotations

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein
from scipy import sparse

import tielink as tl
from tielink.channels.string_tables import string_tables

WORDS = ["anna", "ann", "hanna", "bob", "bobby", "a", "constantinopolitan", "rob", "hannah", "ünal"]


def textbook(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


def zeta(frequencies, sharpness, cap):
    distance = np.array([[min(textbook(x, v), cap) for x in WORDS] for v in WORDS])
    weight = frequencies * np.exp(-sharpness * distance)
    return weight / weight.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("sharpness", [1.0, 0.3])
@pytest.mark.parametrize("cap", ["none", 2, 4])
def test_sums_over_true_values(sharpness, cap):
    frequencies = np.random.default_rng(3).dirichlet(np.ones(len(WORDS)))
    tables = string_tables(tl.String(vocabulary="closed", sharpness=sharpness, max_distance=cap), WORDS, frequencies)
    assert sparse.issparse(tables.similarity) == (cap != "none")
    Z = zeta(frequencies, sharpness, np.inf if cap == "none" else cap)
    left, right = (grid.ravel() for grid in np.meshgrid(range(len(WORDS)), range(len(WORDS)), indexing="ij"))
    D = np.diag(frequencies)
    assert tables.one_distorted(left, right) == pytest.approx((D @ Z).ravel())
    assert tables.both_distorted(left, right) == pytest.approx((Z.T @ D @ Z).ravel())
    assert tables.mixed * frequencies == pytest.approx(frequencies @ Z)
    for word in range(len(WORDS)):
        assert tables.distorted_to(word) == pytest.approx(Z[:, word])
        assert tables.distorted_from(word) == pytest.approx(Z[word])


@pytest.mark.parametrize(
    "distance", ["levenshtein", "osa", "damerau_levenshtein", "indel", "jaro_winkler", Levenshtein.distance]
)
def test_every_distance_gives_distributions(distance):
    frequencies = np.full(len(WORDS), 1 / len(WORDS))
    for cap in ("none", 0.5, 3):
        tables = string_tables(tl.String(vocabulary="closed", distance=distance, max_distance=cap), WORDS, frequencies)
        for word in range(len(WORDS)):
            assert tables.distorted_from(word).sum() == pytest.approx(1)


def test_large_vocabularies_are_capped_by_default_and_not_in_the_paper():
    assert tl.String().cap(3_000) == np.inf
    assert tl.String().cap(3_001) == 4
    assert tl.String.paper().cap(10**6) == np.inf
    assert tl.String(vocabulary="closed", max_distance=2).cap(5) == 2


def test_twenty_thousand_strings_keep_only_near_pairs():
    rng = np.random.default_rng(0)
    letters = rng.integers(97, 123, (20_000, 11)).astype(np.uint8)
    words = sorted({bytes(row[:n]).decode() for row, n in zip(letters, rng.integers(4, 12, 20_000), strict=True)})
    tables = string_tables(tl.String(), words, np.full(len(words), 1 / len(words)))
    assert tables.similarity.nnz < 0.02 * len(words) ** 2
    some = rng.integers(0, len(words), 50)
    assert (tables.both_distorted(some, some[::-1]) > 0).all()
    assert tables.distorted_from(int(some[0])).sum() == pytest.approx(1)


def test_near_pairs_are_those_within_the_cap_of_each_other_or_of_a_common_string():
    frequencies = np.full(len(WORDS), 1 / len(WORDS))
    distance = np.array([[textbook(x, v) for x in WORDS] for v in WORDS])
    tables = string_tables(tl.String(vocabulary="closed", max_distance=3), WORDS, frequencies)
    within = distance < 3
    expected = {(i, j) for j in range(len(WORDS)) for i in range(j) if (within[i] & within[j]).any()}
    assert set(zip(*(codes.tolist() for codes in tables.near()), strict=True)) == expected
    assert len(expected) < len(WORDS) * (len(WORDS) - 1) // 2
    every = string_tables(tl.String(vocabulary="closed"), WORDS, frequencies).near()
    assert len(every[0]) == len(WORDS) * (len(WORDS) - 1) // 2
