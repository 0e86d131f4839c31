"""Profile evidence of groups of records, kept for as long as it is asked for.

For a group c of records, E(c) = Σ_ℓ [log m(values of c) − Σ_i log m(x_i)]. Candidate pairs are always in the table;
other groups enter it when a kernel first asks for them, and leave it when nobody has asked for a while. What is in the
table decides how long a sweep takes, never what it draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Bound, Channel, Codes, Floats, mixed, mixed_group
from tielink.data.columns import MISSING
from tielink.exact.clusters.table import Table, Wanted, enter
from tielink.exact.profiles import Profiles, ProfileState

__all__ = ["Groups"]

FORGET_AFTER = 2
"""Refreshes after which groups that nobody asked for are dropped."""


class Groups:
    """The table of evidence at the current rates and parameters."""

    def __init__(self, profiles: Profiles, pairs: Codes, largest: int, state: ProfileState) -> None:
        self.profiles = profiles
        self.largest = max(largest, 2)
        self.pairs = pairs
        self.state = state
        self.count = len(pairs)
        self.refreshes = 0
        self.wanted = Wanted(np.empty((4096, self.largest), dtype=np.int64), np.zeros(1, dtype=np.int64))
        self.table = self._empty(self.count)
        self.table.key[: self.count, :2] = pairs
        enter(self.table, 0, self.count)
        self._sums: list[dict[tuple[int, ...], Floats]] = [{} for _ in profiles.fields]
        self.refresh(state)

    def _empty(self, count: int) -> Table:
        capacity = max(1024, 2 * count)
        slots = 1 << int(4 * capacity - 1).bit_length()
        return Table(
            np.full((capacity, self.largest), -1, dtype=np.int64),
            np.zeros(capacity),
            np.zeros(capacity, dtype=np.uint8),
            np.full(slots, -1, dtype=np.int64),
        )

    def refresh(self, state: ProfileState) -> None:
        """Evaluate every group at new rates and parameters."""
        self.state = state
        self.refreshes += 1
        if self.refreshes % FORGET_AFTER == 0:
            kept = np.flatnonzero(self.table.used[len(self.pairs) : self.count]) + len(self.pairs)
            self._rebuild(np.concatenate([np.arange(len(self.pairs)), kept]))
            self.table.used[:] = 0
        if not self.profiles.fields:
            return
        for sums, parameters in zip(self._sums, state.fields, strict=True):
            if parameters.size:
                sums.clear()
        self.table.value[: len(self.pairs)] = self._of_pairs()
        self._evaluate(len(self.pairs), self.count)

    def _of_pairs(self) -> Floats:
        """Return E of the candidate pairs."""
        if self.profiles.problem.careless_share is not None:
            return self.evidence(self.pairs)  # rates differ by record
        total = np.zeros(len(self.pairs))
        for place, prepared in enumerate(self._prepared):
            prepared.add(self.state.fields[place], self.state.rates, total)
        return total

    def supply(self) -> None:
        """Add the groups that a kernel asked for."""
        number = min(int(self.wanted.number[0]), len(self.wanted.key))
        new = np.unique(self.wanted.key[:number], axis=0)
        self.wanted.number[0] = 0
        if self.count + len(new) > len(self.table.key):
            self._rebuild(np.arange(self.count), room=len(new))
        begin, self.count = self.count, self.count + len(new)
        self.table.key[begin : self.count] = new
        self.table.used[begin : self.count] = 1
        self._evaluate(begin, self.count)
        enter(self.table, begin, self.count)

    def _rebuild(self, rows: Codes, room: int = 0) -> None:
        old, self.table = self.table, self._empty(len(rows) + room)
        self.count = len(rows)
        self.table.key[: self.count] = old.key[rows]
        self.table.value[: self.count] = old.value[rows]
        self.table.used[: self.count] = old.used[rows]
        enter(self.table, 0, self.count)

    def _evaluate(self, begin: int, end: int) -> None:
        key = self.table.key[begin:end]
        sizes = (key >= 0).sum(axis=1)
        value = np.zeros(end - begin)
        for size in np.unique(sizes):
            rows = np.flatnonzero(sizes == size)
            value[rows] = self.evidence(key[rows, :size])
        self.table.value[begin:end] = value

    def evidence(self, records: Codes) -> Floats:
        """Return E of many groups of the same size, one a row."""
        total = np.zeros(len(records))
        for place, field in enumerate(self.profiles.fields):
            codes, rates = field.codes[records], self.profiles.record_rates(self.state, place)[records]
            known = codes != MISSING
            pattern = known @ (1 << np.arange(records.shape[1]))
            for bits in np.unique(pattern):
                rows, columns = np.flatnonzero(pattern == bits), np.flatnonzero((bits >> np.arange(codes.shape[1])) & 1)
                if len(columns) > 1:
                    at = np.ix_(rows, columns)
                    total[rows] += self._of_values(place, codes[at], rates[at])
        return total

    def _of_values(self, place: int, values: Codes, rates: Floats) -> Floats:
        """Return log m(x₁, …, x_k) − Σ log m(x_i) of one field, all values known."""
        field, parameters = self.profiles.fields[place], self.state.fields[place]
        size = values.shape[1]
        if size == 2:
            joint = np.asarray(sum(field.pair(parameters, *values.T).weighted(*rates.T)))
        else:
            # Evidence does not depend on the order of records; in one order, fewer groups of values differ.
            order = np.argsort(values, axis=1, kind="stable")
            values, rates = np.take_along_axis(values, order, axis=1), np.take_along_axis(rates, order, axis=1)
            joint = mixed_group(self._terms(place, values), rates)
        single = sum(np.log(mixed(field.single(parameters, values[:, i]), rates[:, i])) for i in range(size))
        return np.asarray(np.log(joint) - single)

    def _terms(self, place: int, values: Codes) -> Floats:
        """Return `Channel.group`, which sums every group of values up once for as long as the parameters stay."""
        sums, groups = self._sums[place], [tuple(group) for group in values.tolist()]
        new = [group for group in dict.fromkeys(groups) if group not in sums]
        if new:
            found = self.profiles.fields[place].group(self.state.fields[place], np.array(new))
            sums.update(zip(new, found.T, strict=True))
        return np.array([sums[group] for group in groups]).T

    @cached_property
    def _prepared(self) -> list[_Prepared]:
        return [_Prepared.make(self.profiles, place, self.pairs) for place in range(len(self.profiles.fields))]


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The candidate pairs of one field: evaluated once for each pair of distinct values and rates."""

    field: Channel
    left: Codes
    right: Codes
    rate: Codes
    """Numbers of the two rates of each distinct pair."""
    bound: Bound
    inverse: Codes
    known: NDArray[np.int64]
    """Which candidate pairs have both values."""

    @classmethod
    def make(cls, profiles: Profiles, place: int, pairs: Codes) -> _Prepared:
        field, problem = profiles.fields[place], profiles.problem
        known = np.flatnonzero((field.codes[pairs] != MISSING).all(axis=1))
        rate_of = problem.rate_of[place][problem.file_of]
        columns = [field.codes[pairs[known]], rate_of[pairs[known]]]
        key = np.zeros(len(known), dtype=np.int64)
        for column, number in zip(np.hstack(columns).T, [field.levels] * 2 + [len(problem.rates)] * 2, strict=True):
            key = key * max(number, 1) + column
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        left, right = field.codes[pairs[known[first]]].reshape(-1, 2).T
        rates = rate_of[pairs[known[first]]].reshape(-1, 2)
        return cls(field, left, right, rates, field.bind(left, right), inverse.ravel(), known)

    def add(self, parameters: Floats, rates: Floats, total: Floats) -> None:
        """Add the evidence of every candidate pair."""
        if not len(self.known):
            return
        left, right = rates[self.rate].T
        joint = np.asarray(sum(self.bound.terms(parameters).weighted(left, right)))
        singles = [
            np.log(mixed(self.field.single(parameters, x), r)) for x, r in ((self.left, left), (self.right, right))
        ]
        total[self.known] += (np.log(joint) - singles[0] - singles[1])[self.inverse]
