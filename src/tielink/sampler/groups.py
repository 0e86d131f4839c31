"""Profile evidence of groups of records, kept for as long as it is asked for.

For a group c of records, E(c) = Σ_ℓ [log m(values of c) − Σ_i log m(x_i)]; `sampler.dependent` has the formula for
fields that depend on each other. Candidate pairs have a list of their own (`sampler.listed`). The table is a cache of
other groups: a group is added when a kernel asks for it, and removed when no kernel has asked for a while. What it
holds changes the time of a sweep, never the draws.
"""

from __future__ import annotations

import numpy as np

from tielink.channels.channel import Codes, Floats
from tielink.sampler.group_evidence import group_evidence
from tielink.sampler.profiles import Profiles, ProfileState
from tielink.sampler.table import Table, empty_table, enter

__all__ = ["Groups"]

FORGET_AFTER = 2
"""Refreshes after which groups that nobody asked for are dropped."""


class Groups:
    """The table of evidence at the current rates and parameters."""

    def __init__(self, profiles: Profiles, largest: int, state: ProfileState) -> None:
        self.profiles = profiles
        self.largest = max(largest, 2)
        self.state = state
        self.count = self.refreshes = 0
        self.wanted = np.empty((4096, self.largest), dtype=np.int64)
        self.missing = np.zeros(1, dtype=np.int64)
        self.table = self._empty(0)
        self._sums: list[dict[tuple[int, ...], Floats]] = [{} for _ in profiles.fields]

    def _empty(self, count: int) -> Table:
        return empty_table(max(1024, 2 * count), self.wanted, self.missing, not self.profiles.fields)

    def refresh(self, state: ProfileState) -> None:
        """Evaluate every group at new rates and parameters."""
        self.state = state
        self.refreshes += 1
        if self.refreshes % FORGET_AFTER == 0 and self.count:
            self._rebuild(np.flatnonzero(self.table.used[: self.count]))
            self.table.used[:] = 0
        for sums, parameters in zip(self._sums, state.fields, strict=True):
            if parameters.size:
                sums.clear()
        self._evaluate(0, self.count)

    def supply(self) -> None:
        """Add the groups that a kernel asked for."""
        number = min(int(self.missing[0]), len(self.wanted))
        new = np.unique(self.wanted[:number], axis=0)
        self.missing[0] = 0
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
        for place in range(len(self.profiles.fields)):
            if place not in self.profiles.dependent.places:
                total += self._of_field(place, records)
        return self.profiles.add_trees(self.state, records, total, self._of_field)

    def _of_field(self, place: int, records: Codes) -> Floats:
        """Return what one field says."""
        field, parameters = self.profiles.fields[place], self.state.fields[place]
        rates = self.profiles.record_rates(self.state, place)
        return group_evidence(field, parameters, rates, records, lambda values: self._terms(place, values))

    def _terms(self, place: int, values: Codes) -> Floats:
        """Return `Channel.group`, which sums every group of values up once for as long as the parameters stay."""
        sums, groups = self._sums[place], [tuple(group) for group in values.tolist()]
        new = [group for group in dict.fromkeys(groups) if group not in sums]
        if new:
            found = self.profiles.fields[place].group(self.state.fields[place], np.array(new))
            sums.update(zip(new, found.T, strict=True))
        return np.array([sums[group] for group in groups]).T
