"""Fields that depend on each other, compiled: one tree of them, and what it adds to the evidence of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tielink.channels.channel import Channel, Codes, Floats
from tielink.channels.dependence import Edge, cells
from tielink.channels.tree_kernels import tree_sums
from tielink.data.columns import MISSING

__all__ = ["FieldTree", "compile_trees"]


class _Arrays(NamedTuple):
    """What sums along a tree read. True values of all fields are numbered one after the other.

    `start` and `to` list for each true value of a child those of the parent it was seen with, and q(u, v)/p(u)p(v) in
    `seen`; `back_start` and `back` the same the other way round, value u of a parent at `below[child] + u`. `own` and
    `others` are the shares of p(v) and p(u) that are no part of pairs as they were seen, `scale` is 1/(1 − w).
    """

    parent: Codes
    degree: Codes
    prior: Floats
    start: Codes
    to: Codes
    seen: Floats
    own: Floats
    below: Codes
    back_start: Codes
    back: Codes
    others: Floats
    scale: Floats


class _Rows(NamedTuple):
    """`NearTruths` of all fields one after the other; `place` is each record's row in each field, −1 for none."""

    place: Codes
    start: Codes
    truth: Codes
    clean: Floats
    distorted: Floats
    far: Floats
    outside: Floats


@dataclass(frozen=True, eq=False)
class FieldTree:
    """A tree over fields; `places` are their numbers, children before parents, `parents` places in that list."""

    places: tuple[int, ...]
    parents: tuple[int, ...]
    channels: tuple[Channel, ...]
    arrays: _Arrays
    _place: Codes

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields, the root first."""
        return tuple(channel.name for channel in reversed(self.channels))

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Pairs of names that the tree joins, the parent first."""
        joined = enumerate(self.parents[:-1])
        return tuple((self.channels[parent].name, self.channels[child].name) for child, parent in joined)

    def first_alike(self, records: slice) -> Codes:
        """Return for each of these records the place among them of the first with the same values."""
        _, first, kind = np.unique(self._place[records], axis=0, return_index=True, return_inverse=True)
        return np.asarray(first[kind.ravel()])

    def of_records(self, chosen: Codes, fields: Sequence[Channel]) -> FieldTree:
        """Return the tree of some records alone, `fields` being all of theirs; what is known of frequencies stays."""
        return replace(self, channels=tuple(fields[place] for place in self.places), _place=self._place[chosen])

    def rows(self, parameters: Sequence[Floats]) -> _Rows:
        """Lay out what values may stand for, at the parameters of all fields of the problem."""
        parts = [channel.near_truths(parameters[at]) for at, channel in zip(self.places, self.channels, strict=True)]
        entries = np.cumsum([0, *(len(part.truth) for part in parts)])
        first = np.cumsum([0, *(channel.levels for channel in self.channels)])
        start = [part.start[:-1] + begin for part, begin in zip(parts, entries, strict=False)]
        truth = [part.truth + begin for part, begin in zip(parts, first, strict=False)]
        numbers = [np.concatenate([part[kind] for part in parts]) for kind in range(2, 6)]
        return _Rows(self._place, np.append(np.concatenate(start), entries[-1]), np.concatenate(truth), *numbers)

    def log_sums(self, rows: _Rows, records: Codes, rates: Mapping[int, Floats] | Sequence[Floats]) -> Floats:
        """Return log C of groups of records, −1 for none; `rates` holds ψ of every record by number of field."""
        out = np.empty(len(records))
        of_fields = np.column_stack([rates[place] for place in self.places])
        tree_sums(self.arrays, rows, np.ascontiguousarray(records), of_fields, out)
        return out


def compile_trees(channels: Sequence[Channel], edges: Sequence[Edge], kept: Codes, file_of: Codes) -> list[FieldTree]:
    """Make a tree of each set of fields that edges join."""
    neighbours: dict[int, list[int]] = {}
    for one, two in edges:
        neighbours.setdefault(one, []).append(two)
        neighbours.setdefault(two, []).append(one)
    trees, seen = [], set()
    for root in sorted(neighbours, key=lambda place: (-len(neighbours[place]), place)):
        if root in seen:
            continue
        order, above = [root], {root: -1}
        for place in order:
            for other in neighbours[place]:
                if other not in above:
                    above[other] = place
                    order.append(other)
        seen |= set(order)
        trees.append(_tree(channels, order[::-1], above, kept, file_of))
    return trees


def _tree(
    channels: Sequence[Channel], places: list[int], above: Mapping[int, int], kept: Codes, file_of: Codes
) -> FieldTree:
    mine = tuple(channels[place] for place in places)
    parents = tuple(places.index(above[place]) if above[place] >= 0 else -1 for place in places)
    first = np.cumsum([0, *(channel.levels for channel in mine)])
    priors = [channel.code_probability() for channel in mine]
    prior = np.maximum(np.concatenate([p for p in priors if p is not None]), 1e-300)
    own, scale, below = np.ones(len(prior)), np.ones(len(mine)), np.zeros(len(mine), dtype=np.int64)
    joined: list[tuple[Codes, Codes, Floats]] = []
    backwards: list[tuple[Codes, Codes]] = []
    others: list[Floats] = []
    for child, parent in enumerate(parents[:-1]):
        found = cells(mine[child], mine[parent], kept, file_of)
        v, u = found.first + first[child], found.second + first[parent]
        own -= np.bincount(v, found.weight, minlength=len(prior)) / prior
        share = np.bincount(u, found.weight, minlength=len(prior)) / prior
        scale[child] = 1 / (1 - found.weight.sum())
        below[child] = sum(map(len, others)) - first[parent]
        others.append(1 - share[first[parent] : first[parent + 1]])
        joined.append((v, u, found.weight / (prior[v] * prior[u])))
        order = np.lexsort((v, u))
        backwards.append((u[order] + below[child], v[order]))
    numbers, to, seen = (np.concatenate(parts) for parts in zip(*joined, strict=True))
    back_numbers, back = (np.concatenate(parts) for parts in zip(*backwards, strict=True))
    start = np.searchsorted(numbers, np.arange(len(prior) + 1))
    back_start = np.searchsorted(back_numbers, np.arange(sum(map(len, others)) + 1))
    degree = np.bincount([end for child, parent in enumerate(parents[:-1]) for end in (child, parent)])
    arrays = _Arrays(
        np.array(parents), degree, prior, start, to, seen, own, below, back_start,
        back, np.concatenate(others), scale,
    )  # fmt: skip
    place = np.column_stack(
        [
            np.where(channel.codes == MISSING, -1, channel.codes + begin)
            for channel, begin in zip(mine, first, strict=False)
        ]
    )
    return FieldTree(tuple(places), parents, mine, arrays, place)
