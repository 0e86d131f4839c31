"""Fellegi and Sunter's model: levels of agreement, with rates found by EM, then one-to-one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import JaroWinkler
from rapidfuzz.process import cdist

from tielink.baselines.answer import answer, barred, check_two_files, free_records
from tielink.baselines.strings import column_of
from tielink.data.columns import Column
from tielink.data.dataset import Dataset
from tielink.data.scores import ScoredLinkage
from tielink.faults import refuse
from tielink.fields import PersonName, String
from tielink.matching import best_matching

__all__ = ["Rates", "agreement_rates", "fellegi_sunter"]

CUTS = (0.8, 0.92)
"""Jaro–Winkler similarities at which strings that differ are alike, and much alike."""
LEAST = 0.01
"""Pairs of a smaller probability get no score."""
ROUNDS = 1000
HALF = 0.5
"""Added to every count of a level, so that what was never seen is rare and not impossible."""


@dataclass(frozen=True, eq=False)
class Rates:
    """What EM found: λ, the share of pairs that match, and how often matches show each level of each field."""

    share: float
    match: list[NDArray[np.float64]]
    """m: for each field the distribution of levels among matches."""
    other: list[NDArray[np.float64]]
    """u: the same among pairs that are none."""

    def probability(self, patterns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return λΠm/(λΠm + (1−λ)Πu) of patterns (levels by field; −1, a missing value, says nothing)."""
        odds = np.full(len(patterns), np.log(self.share) - np.log1p(-self.share))
        for field, (m, u) in enumerate(zip(self.match, self.other, strict=True)):
            ratio = np.append(np.log(m) - np.log(u), 0.0)
            odds += ratio[patterns[:, field]]
        return np.asarray(1 / (1 + np.exp(-odds)))


def fellegi_sunter(data: Dataset, fields: Sequence[str] | None = None) -> ScoredLinkage:
    """Link pairs that are more likely a match than not, one-to-one with the largest sum of log-odds.

    Fields agree on levels: equal, much alike, alike, different for strings; equal or different for others. How often
    pairs that are no match show each level, u, is counted inside the files, where nobody matches; the share λ of
    matches and their levels m are found by EM on the pairs across files, λ being at most one match for each record of
    the smaller file. Anchored records take no part. Scores are match probabilities before the one-to-one choice.

    Parameters
    ----------
    data
        Two files.
    fields
        The names of the fields to compare; by default all.

    Returns
    -------
    ScoredLinkage
        The links; `.scores()` has the score of every pair that was considered.
    """
    check_two_files(data, "fellegi_sunter")
    columns = [column_of(data, name) for name in (data.columns if fields is None else fields)]
    if not columns:
        refuse("fellegi_sunter", "there is no field to compare.", "Declare fields.")
    free, edge = free_records(data), data.records.offsets[1]
    left, right = np.flatnonzero(free[:edge]), np.flatnonzero(free[edge:]) + edge
    across = _Comparison(columns, left, right)
    inside = [_Comparison(columns, side, side) for side in (left, right)]
    other = [_shares(inside[0].level_counts(field) + inside[1].level_counts(field)) for field in range(len(columns))]
    patterns, counts = across.pattern_counts()
    rates = agreement_rates(patterns, counts, other, most=min(len(left), len(right)) / max(counts.sum(), 1))
    probability = rates.probability(patterns)
    pairs, place = across.pairs_of(patterns, probability >= LEAST)
    values = probability[place]
    weight = np.where(barred(data, pairs), -1.0, np.log(values) - np.log1p(-np.minimum(values, 1 - 1e-15)))
    chosen = best_matching(pairs, weight, data.records.file_of)
    return answer(data, pairs[chosen], pairs, values, probabilities=True)


def agreement_rates(
    patterns: NDArray[np.int64], counts: NDArray[np.int64], other: list[NDArray[np.float64]], most: float
) -> Rates:
    """Find λ and m by EM, u given.

    Parameters
    ----------
    patterns, counts
        Levels by field (−1 for missing), and how many pairs show each pattern.
    other
        u, for each field the distribution of levels among pairs that are no match.
    most
        The largest λ that one-to-one links allow.
    """
    match = [np.append(np.full(len(u) - 1, 0.1 / (len(u) - 1)), 0.9) for u in other]
    rates = Rates(most / 2, match, other)
    for _ in range(ROUNDS):
        weight = rates.probability(patterns) * counts
        found = [
            _shares(np.bincount(patterns[known, field], weight[known], minlength=len(u)))
            for field, u in enumerate(other)
            for known in [patterns[:, field] >= 0]
        ]
        share = float(np.clip(weight.sum() / counts.sum(), 1e-12, most))
        moved = [float(np.abs(new - old).max()) for new, old in zip(found, rates.match, strict=True)]
        change = max(abs(share - rates.share) / rates.share, *moved)
        rates = Rates(share, found, other)
        if change < 1e-8:
            break
    return rates


def _shares(counts: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray((counts + HALF) / (counts + HALF).sum())


class _Comparison:
    """The levels of agreement of all pairs of two sets of records, held by distinct values."""

    def __init__(self, columns: Sequence[Column], left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
        self.left, self.right = left, right
        self.same = left is right
        self.levels: list[NDArray[np.int8]] = []
        self.places: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for column in columns:
            sides = [np.unique(column.codes[side], return_inverse=True) for side in (left, right)]
            self.levels.append(_level_matrix(column, sides[0][0], sides[1][0]))
            self.places.append((sides[0][1], sides[1][1]))
        self.sizes = [len(CUTS) + 2 if isinstance(column.field, String | PersonName) else 2 for column in columns]

    def row(self, number: int) -> NDArray[np.int64]:
        """Return the levels of one left record against every right one: right records × fields."""
        return np.column_stack(
            [level[a[number]][b].astype(np.int64) for level, (a, b) in zip(self.levels, self.places, strict=True)]
        )

    def keys(self, number: int) -> NDArray[np.int64]:
        """Return one number for each pattern of a row."""
        key = np.zeros(len(self.right), dtype=np.int64)
        for size, levels in zip(self.sizes, self.row(number).T, strict=True):
            key = key * (size + 1) + levels + 1
        return key

    def level_counts(self, field: int) -> NDArray[np.float64]:
        """Count how many pairs show each level of a field; of a set with itself each pair once, none with itself."""
        counts = np.zeros(self.sizes[field])
        level, (a, b) = self.levels[field], self.places[field]
        for number in range(len(self.left)):
            found = level[a[number]][b[number + 1 :] if self.same else b]
            counts += np.bincount(found[found >= 0], minlength=len(counts))
        return counts

    def pattern_counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the patterns that occur and how often."""
        counts = np.zeros(int(np.prod([size + 1 for size in self.sizes])), dtype=np.int64)
        for number in range(len(self.left)):
            counts += np.bincount(self.keys(number), minlength=len(counts))
        there = np.flatnonzero(counts)
        self._there = there
        columns = []
        rest = there.copy()
        for size in reversed(self.sizes):
            rest, level = np.divmod(rest, size + 1)
            columns.append(level - 1)
        return np.column_stack(columns[::-1]), counts[there]

    def pairs_of(
        self, patterns: NDArray[np.int64], wanted: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return all pairs that show wanted patterns, and the place of each one's pattern."""
        pairs, places = [np.empty((0, 2), dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for number, record in enumerate(self.left):
            place = np.searchsorted(self._there, self.keys(number))
            chosen = np.flatnonzero(wanted[place])
            pairs.append(np.column_stack([np.full(len(chosen), record), self.right[chosen]]))
            places.append(place[chosen])
        return np.concatenate(pairs), np.concatenate(places)


def _level_matrix(column: Column, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int8]:
    """Return the level of every two values: 0 different, then alike, much alike, equal; −1 where one is missing."""
    if isinstance(column.field, String | PersonName):
        names = [["" if code < 0 else column.values[code] for code in side] for side in (left, right)]
        similarity = cdist(names[0], names[1], scorer=JaroWinkler.similarity, dtype=np.float32)
        levels = np.digitize(similarity, CUTS).astype(np.int8)
        top = len(CUTS) + 1
    else:
        levels = np.zeros((len(left), len(right)), dtype=np.int8)
        top = 1
    levels[left[:, None] == right[None, :]] = top
    levels[left < 0] = -1
    levels[:, right < 0] = -1
    return np.asarray(levels)
