"""Evidence of a fixed list of pairs, brought up to date whenever rates or parameters change.

Every field is evaluated once for each pair of *distinct* values on the list.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Channel, Codes, Floats, Terms, mixed
from tielink.data.columns import MISSING
from tielink.data.scores import pair_keys
from tielink.kernels import njit
from tielink.sampler.dependent import Moment, unchanged
from tielink.sampler.profiles import Profiles, ProfileState

__all__ = ["ListedPairs"]


class ListedPairs:
    """Sorted pairs of records (left, right) and the evidence of each: Σ_ℓ log m(x,y) − log m(x) − log m(y)."""

    def __init__(self, profiles: Profiles, pairs: Codes, evidence: Floats) -> None:
        self.profiles = profiles
        self.pairs = pairs
        self.evidence = evidence
        self._keys = pair_keys(pairs)
        self._fields = [_ListedField(field, *pairs.T) for field in profiles.fields]
        self._last: list[tuple[Moment, Floats] | None] = [None] * len(profiles.dependent.trees)

    def numbers(self, pairs: Codes) -> Codes:
        """Return where these pairs stand on the list, −1 for those that are not there."""
        wanted, found = pair_keys(pairs), np.full(len(pairs), -1)
        place = np.searchsorted(self._keys, wanted)
        there = place < len(self._keys)
        there[there] = self._keys[place[there]] == wanted[there]
        found[there] = place[there]
        return found

    def terms(self, place: int, parameters: Floats, numbers: Codes) -> Terms | None:
        """Return the terms of these of the pairs in a field, if they are at hand for just these parameters."""
        return self._fields[place].kept(parameters, numbers)

    def refresh(self, state: ProfileState) -> None:
        """Bring the evidence up to date."""
        self.evidence[:] = 0.0
        dependent = self.profiles.dependent
        for place, field in enumerate(self._fields):
            if place not in dependent.places:
                field.add(state.fields[place], self.profiles.record_rates(state, place), self.evidence)
        for number, tree in enumerate(dependent.trees):
            own = self._added(number, state).copy()
            for place in tree.places:
                self._fields[place].add(state.fields[place], self.profiles.record_rates(state, place), own)
            together = 2 * math.log1p(-self.profiles.change(state, number))
            self.evidence += np.logaddexp(together + own, math.log(-math.expm1(together)))

    def _added(self, number: int, state: ProfileState) -> Floats:
        """Return what dependence adds to every pair, summed up again only where rates or parameters have changed."""
        dependent, rates = self.profiles.dependent, self.profiles.all_rates(state)
        last, now = self._last[number], dependent.moment(number, state.fields, rates)
        if last is None or not unchanged(last[0], now):
            last = self._last[number] = now, dependent.added(number, state.fields, rates, self.pairs)
        return last[1]


class _ListedField:
    """One field of the list."""

    def __init__(self, field: Channel, left: Codes, right: Codes) -> None:
        self.field = field
        x, y = field.codes[left], field.codes[right]
        known = np.flatnonzero((x != MISSING) & (y != MISSING))
        values, slot = np.unique(x[known] * field.levels + y[known], return_inverse=True)
        self.known, self.slot = known, slot
        self.place = np.full(len(left), -1)
        self.place[known] = slot
        self.left, self.right = left[known], right[known]
        self.x, self.y = np.divmod(values, max(field.levels, 1))
        self.bound = field.bind(self.x, self.y)
        self.seen = (np.unique(left[known]), np.unique(right[known]))
        self.values = np.empty(len(values))
        self._kept: tuple[Floats, Terms] | None = None

    def kept(self, parameters: Floats, numbers: Codes) -> Terms | None:
        """Return the terms of pairs whose values are both known, if they were last computed for these parameters."""
        if self._kept is None or self._kept[0] is not parameters:
            return None
        return Terms(*(term[self.place[numbers]] for term in self._kept[1]))

    def add(self, parameters: Floats, rates: Floats, out: Floats) -> None:
        """Add the field's evidence to that of every pair."""
        if not len(self.known):
            return
        terms = Terms(*(np.ascontiguousarray(term) for term in self.bound.terms(parameters)))
        self._kept = (parameters, terms)
        single = self.field.single(parameters, np.arange(self.field.levels))
        groups = [list(_by_rate(rates, seen)) for seen in self.seen]
        for left_rate, of_left in groups[0]:
            for right_rate, of_right in groups[1]:
                with np.errstate(divide="ignore"):  # codes that nobody has may be impossible
                    of_x, of_y = (np.log(mixed(single, rate)) for rate in (left_rate, right_rate))
                _evidence(terms, left_rate, right_rate, of_x, of_y, self.x, self.y, self.values)
                slot, known = self.slot, self.known
                if of_left is not None or of_right is not None:
                    here = np.ones(len(known), dtype=np.bool_)
                    for records, group in ((self.left, of_left), (self.right, of_right)):
                        here &= True if group is None else group[records]
                    slot, known = slot[here], known[here]
                _add(self.values, slot, known, out)


def _by_rate(rates: Floats, seen: Codes) -> Iterator[tuple[float, NDArray[np.bool_] | None]]:
    """Yield each different rate with the records that have it; None for all of those seen."""
    here = rates[seen]
    if (here == here[0]).all():
        yield float(here[0]), None
        return
    for rate in np.unique(here):
        yield float(rate), rates == rate


@njit
def _evidence(terms, left_rate, right_rate, log_x, log_y, x, y, out):
    """out = log m(x, y) − log m(x) − log m(y); see `Terms.weighted`."""
    clean, left, right, both = terms
    neither, only_left = (1 - left_rate) * (1 - right_rate), left_rate * (1 - right_rate)
    only_right, all_two = (1 - left_rate) * right_rate, left_rate * right_rate
    for u in range(out.size):
        m = neither * clean[u] + only_left * left[u] + only_right * right[u] + all_two * both[u]
        out[u] = np.log(m) - log_x[x[u]] - log_y[y[u]]


@njit
def _add(values, slot, known, out):
    for k in range(known.size):
        out[known[k]] += values[slot[k]]
