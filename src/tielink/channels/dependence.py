"""Fields whose true values depend on each other: which ones, found from the files, and how frequent pairs are.

The true values of two fields that a tree joins have the joint distribution

    p(u, v) = q(u, v) + [p(u) − q(u)]·[p(v) − q(v)] / (1 − w),        q(u, v) = max(o(u, v) − D, 0)/n,

with o(u, v) how often others have both values (see `counts`), D the discount, q(u) and q(v) the sums of q and w its
total: with probability w a pair as it was seen, else each value by itself. So p(u) and p(v) stay what they are in the
fields alone, and p(v | u) is shrunk towards v by itself the more, the less is known of u.

Edges are those of the largest spanning forest (Chow and Liu 1968) by how much likelier a record's two values are under
the joint distribution than under independence, each record set aside from the counts: mutual information, corrected for
chance. Who is whom is not asked. Records of one file are different persons where a file holds none twice; where it may,
likely duplicates count once (see `likely_duplicates`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from tielink.channels.channel import Channel, Codes, Floats
from tielink.channels.counts import discount, largest_count, others_count
from tielink.channels.likely_duplicates import alike_pairs, different_records
from tielink.data.columns import MISSING

__all__ = ["Cells", "Edge", "Learnt", "cells", "learn_edges"]

LEAST_GAIN = 0.1
"""Fields are joined if that makes a record's two values at least e^this as likely, in the geometric mean."""
MOST_GAIN = 2.0
"""For that decision no record's gain is more than this, so that a few duplicates do not decide."""
STANDARD_ERRORS = 4.0
"""And if this mean is so many standard errors above 0."""
LEAST_RECORDS = 50
"""Fewer records with both values tell nothing."""
MOST_RECORDS = 200_000
"""Records that gains are computed from."""
FEW = 2
"""Where a file may hold people twice, values of so few records tell nothing: they may be one person's."""
KEPT = 0.999
"""At most this share of a value's probability is that of pairs as they were seen, so that nothing is impossible."""

Edge = tuple[int, int]


class Cells(NamedTuple):
    """q(u, v) of the pairs of values for which it is not 0, sorted by u, then v."""

    first: Codes
    second: Codes
    weight: Floats


class Learnt(NamedTuple):
    """The edges of a forest over fields, and the records whose values tell how fields depend on each other."""

    edges: list[Edge]
    kept: Codes


def learn_edges(
    columns: Codes, file_of: Codes, within: bool, edges: Sequence[Edge] | None = None, forbidden: Sequence[Edge] = ()
) -> Learnt:
    """Learn a forest, the strongest edge first, or take these edges; `within`: whether a file may hold people twice."""
    records, fields = columns.shape
    alike = alike_pairs(columns if within else columns[:0], file_of)
    chosen: list[Edge] = []
    gains: dict[tuple[int, int, int], float] = {}

    def kept(joined: Sequence[Edge]) -> Codes:
        return different_records(alike, _trees(fields, joined), records)

    def gain(edge: Edge) -> float:
        a, b = edge
        these = kept([*chosen, edge])
        some = these[:: 1 + len(these) // MOST_RECORDS]
        # The more fields are joined, the fewer records are taken for duplicates: as many are the same ones.
        if (a, b, len(these)) not in gains:
            gains[a, b, len(these)] = _gain(columns[some, a], columns[some, b], file_of[some], FEW if within else 0)
        return gains[a, b, len(these)]

    while edges is None:
        tree = _trees(fields, chosen)
        possible = [(a, b) for a, b in combinations(range(fields), 2) if tree[a] != tree[b]]
        possible = [edge for edge in possible if edge not in forbidden and edge[::-1] not in forbidden]
        best = max(possible, key=gain, default=None)
        if best is None or gain(best) <= 0:
            break
        chosen.append(best)
    found = chosen if edges is None else list(edges)
    return Learnt(found, kept(found))


def _trees(fields: int, edges: Sequence[Edge]) -> Codes:
    """Return a number for every field, the same for those that edges join."""
    tree = np.arange(fields)
    for a, b in edges:
        tree[tree == tree[a]] = tree[b]
    return tree


def _gain(one: Codes, two: Codes, file_of: Codes, few: int) -> float:
    """Return the mean log p(u, v)/p(u)p(v) over records, each set aside; 0 if that is too little to tell.

    Values that no more than `few` records of a file have tell nothing.
    """
    logs = []
    for file in np.unique(file_of):
        here = (file_of == file) & (one != MISSING) & (two != MISSING)
        if here.sum() > 1:
            logs.append(_set_aside(one[here], two[here], few))
    found = np.concatenate(logs) if logs else np.zeros(0)
    if len(found) < LEAST_RECORDS:
        return 0.0
    capped = np.minimum(found, MOST_GAIN)
    told = float(capped.mean()) > max(LEAST_GAIN, STANDARD_ERRORS * float(capped.std() / np.sqrt(len(found))))
    return float(found.mean()) if told else 0.0


def _set_aside(one: Codes, two: Codes, few: int) -> Floats:
    """Return log p(u, v)/p(u)p(v) of each record of a file, by the counts of the others; 0 for values of few."""
    (_, u, of_u), (_, v, of_v) = (np.unique(codes, return_inverse=True, return_counts=True) for codes in (one, two))
    _, cell, of_cell = np.unique(u * len(of_v) + v, return_inverse=True, return_counts=True)
    off, n = discount(of_cell), float(len(one))
    own = np.maximum(of_cell - off, 0.0)
    q_u, q_v = (np.bincount(place, (own / of_cell)[cell], minlength=len(c)) for place, c in ((u, of_u), (v, of_v)))
    less = np.maximum(of_cell - 1 - off, 0.0)
    change = (own - less)[cell]
    p_u, p_v = np.maximum(of_u[u] - 1.0, 0.5), np.maximum(of_v[v] - 1.0, 0.5)
    rest_u, rest_v = (np.maximum(p - (q - change), (1 - KEPT) * p) for p, q in ((p_u, q_u[u]), (p_v, q_v[v])))
    left = max(n - own.sum(), (1 - KEPT) * n)
    logs = np.log((less[cell] + rest_u * rest_v / left) * n / (p_u * p_v))
    return np.where(np.minimum(of_u[u], of_v[v]) > few, logs, 0.0)


def cells(one: Channel, two: Channel, kept: Codes, file_of: Codes) -> Cells:
    """Return q of two fields, from the records `kept`."""
    known = kept[(one.codes[kept] != MISSING) & (two.codes[kept] != MISSING)]
    keys, cell = np.unique(one.codes[known] * two.levels + two.codes[known], return_inverse=True)
    by_file = np.array([np.bincount(cell[file_of[known] == file], minlength=len(keys)) for file in np.unique(file_of)])
    counts, others = largest_count(by_file.astype(float)), others_count(by_file.astype(float))
    weight = np.maximum(others - discount(counts), 0.0) / max(counts.sum(), 1.0)
    first, second = np.divmod(keys[weight > 0], two.levels)
    weight = weight[weight > 0]
    limits = np.ones(len(weight))
    for channel, codes in ((one, first), (two, second)):
        prior = channel.code_probability()
        assert prior is not None
        total = np.bincount(codes, weight, minlength=channel.levels)[codes]
        limits = np.minimum(limits, KEPT * prior[codes] / total)
    weight = weight * limits
    return Cells(first, second, weight * min(1.0, KEPT / max(float(weight.sum()), 1e-300)))
