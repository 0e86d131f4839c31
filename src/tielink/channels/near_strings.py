"""Which strings are near each other: by an edit distance that grows with their length, or by a part that few share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

__all__ = ["contained_pairs", "near_pairs", "one_slip_pairs", "reach", "sharing_pairs"]

Codes = NDArray[np.int64]

MANY = 50_000
"""Of more strings than this not all are compared: near are those that one slip of the hand makes of each other."""
BLOCK = 8_000_000
"""Distances looked at in one go: a block of bytes, never the whole table."""
PART = 5
"""Characters of a shared part that are enough to look at a pair."""
HOLDERS = 20
"""A part that more strings have says little about which of them go together."""
SLIP_HOLDERS = 500
"""A string with one character left out that more strings come to is too short to say anything."""
SHORTEST, LONGEST = 3, 40
"""Characters of a whole string that is part of another: fewer say nothing, more share parts in any case."""


def reach(length: int) -> int:
    """Return the distance up to which a string counts as near one of this length, the longer of the two.

    A shared character is worth some 2 to 3 nats, an edit costs some 7: beyond a third of its length a string says no
    more about another one than any string does.
    """
    return max(1, (length + 1) // 3)


def near_pairs(strings: Sequence[str]) -> tuple[Codes, Codes]:
    """Return the places i < j of all pairs of distinct strings that are near.

    Strings are sorted by length; only lengths that can be near are compared, by RapidFuzz's bit-parallel distance with
    a cutoff, block by block. Of very many strings, see `one_slip_pairs`.
    """
    if len(strings) > MANY:
        return one_slip_pairs(strings)
    lengths = np.array([len(string) for string in strings], dtype=np.int64)
    order = np.argsort(lengths, kind="stable")
    ordered = [strings[place] for place in order]
    sorted_lengths = lengths[order]
    left, right = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for length in np.unique(sorted_lengths):
        most = reach(int(length))
        first, last = np.searchsorted(sorted_lengths, [length - most, length])
        stop = int(np.searchsorted(sorted_lengths, length, side="right"))
        columns = ordered[first:stop]
        step = max(1, BLOCK // max(1, len(columns)))
        for begin in range(int(last), stop, step):
            rows = ordered[begin : min(begin + step, stop)]
            cutoff = min(most, 254)
            found = process.cdist(
                rows, columns, scorer=Levenshtein.distance, score_cutoff=cutoff, dtype=np.uint8, workers=-1
            )
            i, j = np.nonzero(found <= cutoff)
            i, j = i + begin, j + first
            keep = j < i
            left.append(order[i[keep]])
            right.append(order[j[keep]])
    one, two = np.concatenate(left), np.concatenate(right)
    return np.minimum(one, two), np.maximum(one, two)


def one_slip_pairs(strings: Sequence[str]) -> tuple[Codes, Codes]:
    """Return the places i < j of pairs of strings that are equal once each has lost at most one character.

    So one character is added, left out, replaced or moved, a transposition among them. Time grows with the characters
    of all strings, not with their pairs.

    >>> i, j = one_slip_pairs(["anna", "ana", "anan", "bob"])
    >>> list(zip(i.tolist(), j.tolist()))
    [(0, 1), (0, 2), (1, 2)]
    """
    left = [(string, place) for place, string in enumerate(strings)]
    left += [
        (part, place)
        for place, string in enumerate(strings)
        for part in {string[:cut] + string[cut + 1 :] for cut in range(len(string))}
    ]
    held = pl.DataFrame(left, schema={"part": pl.String, "place": pl.Int64}, orient="row").with_columns(
        pl.col("part").rank("dense").alias("number")
    )
    held = held.filter(pl.len().over("number") <= SLIP_HOLDERS).sort("number", "place")
    number, holder = held["number"].to_numpy(), held["place"].to_numpy()
    keys, step = [np.empty(0, dtype=np.int64)], 1
    while (same := np.flatnonzero(number[step:] == number[:-step])).size:
        keys.append(holder[same] * len(strings) + holder[same + step])
        step += 1
    found = np.unique(np.concatenate(keys))
    i, j = np.divmod(found, max(1, len(strings)))
    return i[i != j], j[i != j]


def contained_pairs(strings: Sequence[str]) -> tuple[Codes, Codes]:
    """Return the places (v, x) of all pairs of strings of which v is a part of x and not all of it."""
    place = {string: code for code, string in enumerate(strings)}
    lengths = sorted({len(string) for string in strings if 0 < len(string) <= LONGEST})
    found = [
        (place[part], outer)
        for outer, string in enumerate(strings)
        for part in {
            string[begin : begin + length]
            for length in lengths
            if length < len(string)
            for begin in range(len(string) - length + 1)
        }
        if part in place
    ]
    inner, outer = np.array(found, dtype=np.int64).reshape(-1, 2).T
    return inner, outer


def sharing_pairs(strings: Sequence[str]) -> tuple[Codes, Codes]:
    """Return the places i < j of pairs that share `PART` characters in a row, or of which one is part of the other.

    Only what few strings have counts.
    """
    number: dict[str, int] = {}
    held = [
        (number.setdefault(part, len(number)), place)
        for place, string in enumerate(strings)
        for part in {string[begin : begin + PART] for begin in range(len(string) - PART + 1)}
    ]
    part, holder = np.array(sorted(held), dtype=np.int64).reshape(-1, 2).T
    few = np.bincount(part, minlength=1)[part] <= HOLDERS if len(part) else np.zeros(0, dtype=bool)
    part, holder = part[few], holder[few]
    inner, outer = contained_pairs(strings)
    long = np.array([len(string) >= SHORTEST for string in strings], dtype=bool)
    kept = long[inner] & (np.bincount(inner, minlength=1)[inner] < HOLDERS)
    keys = [np.minimum(inner, outer)[kept] * len(strings) + np.maximum(inner, outer)[kept]]
    for step in range(1, HOLDERS):
        same = np.flatnonzero(part[step:] == part[:-step])
        keys.append(holder[same] * len(strings) + holder[same + step])
    found = np.unique(np.concatenate(keys))
    return found // max(1, len(strings)), found % max(1, len(strings))
