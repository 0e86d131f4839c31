"""Fields that depend on each other, at current rates and parameters: their evidence, and what was last computed of it.

A tree of fields says of a group of records

    E_T = Σ_ℓ∈T [log m(values) − Σ_i log m(x_i)] + log C(values) − Σ_i log C(x_i),

C being what dependence adds (see `channels.tree_kernels`). Each record has the values of another time, all of the
tree's together, with probability κ; so what the tree says in the end is

    log Σ over subsets S of the records of κ^(k−|S|)·(1 − κ)^|S|·exp E_T(S),        E_T = 0 for no record and for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from tielink.channels.channel import Codes, Floats
from tielink.channels.tree import FieldTree
from tielink.model.problem import Problem

__all__ = ["Dependent", "Given", "Moment", "draw_changed", "members", "unchanged", "with_changes"]

MANY, LEFT_OUT = 6, 2
Moment = tuple[list[Floats], list[Floats]]
"""Parameters and records' rates of the fields that depend on others."""


def members(labels: Codes) -> Codes:
    """Return the records of every person in a row, filled up with −1.

    >>> members(np.array([0, 3, 0])).tolist()
    [[0, 2], [1, -1]]
    """
    order = np.argsort(labels, kind="stable")
    size = np.unique(labels, return_counts=True)[1]
    found = np.full((len(size), int(size.max(initial=1))), -1, dtype=np.int64)
    found[np.arange(found.shape[1]) < size[:, None]] = order
    return found


def subsets(size: int, change: float) -> Iterator[tuple[Codes, float]]:
    """Yield every subset of so many records, as their places, with the log probability that just these are of one time.

    All subsets with none or one of them come last, together, as none; so do, of persons with more than `MANY` records,
    those that leave out more than `LEFT_OUT`.
    """
    rest, least = 1.0, 2 if size <= MANY else size - LEFT_OUT
    for number in range(size, least - 1, -1):
        for inside in combinations(range(size), number):
            chance = (1 - change) ** number * change ** (size - number)
            rest -= chance
            yield np.array(inside), float(np.log(max(chance, 1e-300)))
    yield np.empty(0, dtype=np.int64), float(np.log(max(rest, 1e-300)))


def with_changes(evidence: Callable[[Codes], Floats], records: Codes, change: float) -> Floats:
    """Return what a tree says of groups of the same size, given E_T of groups whose values are of one time."""
    logs = [
        log + evidence(records[:, inside]) if len(inside) else np.full(len(records), log)
        for inside, log in subsets(records.shape[1], change)
    ]
    return np.asarray(np.logaddexp(*logs) if len(logs) == 2 else logsumexp(logs, axis=0))


class Dependent:
    """All trees of a problem."""

    def __init__(self, problem: Problem) -> None:
        self.trees, self.records = problem.trees, problem.records
        self.places = {place for tree in problem.trees for place in tree.places}
        used = {*np.unique(problem.rate_of[sorted(self.places)]).tolist(), *problem.tree_rates} if self.places else ()
        self.own_rates = np.isin(np.arange(len(problem.rates)), list(used))
        """Which of the rates are those of trees and their fields."""
        self._rows: list[tuple[list[Floats], Any] | None] = [None] * len(problem.trees)
        self._alone: list[tuple[Moment, Floats] | None] = [None] * len(problem.trees)

    def log_sums(self, number: int, fields: Sequence[Floats], rates: Sequence[Floats], records: Codes) -> Floats:
        """Return log C of groups of records, a row each."""
        tree = self.trees[number]
        return tree.log_sums(self._laid_out(number, fields), records, rates)

    def alone(self, number: int, fields: Sequence[Floats], rates: Sequence[Floats]) -> Floats:
        """Return log C of every record by itself."""
        last, now = self._alone[number], self.moment(number, fields, rates)
        if last is None or not unchanged(last[0], now):
            last = now, self.log_sums(number, fields, rates, np.arange(self.records)[:, None])
            self._alone[number] = last
        return last[1]

    def added(self, number: int, fields: Sequence[Floats], rates: Sequence[Floats], records: Codes) -> Floats:
        """Return log C(values) − Σ log C(x_i) of groups of records."""
        together = self.log_sums(number, fields, rates, records)
        return np.asarray(together - self.alone(number, fields, rates)[records].sum(axis=1))

    def given(
        self, number: int, place: int, fields: Sequence[Floats], rates: Sequence[Floats], persons: Codes
    ) -> Given:
        """Return Σ log C of all persons as a function of one field's parameters, or of its rates."""
        return Given(self.trees[number], place, list(fields), list(rates), persons, self._laid_out(number, fields))

    def moment(self, number: int, fields: Sequence[Floats], rates: Sequence[Floats]) -> Moment:
        """Return what the sums of a tree depend on."""
        places = self.trees[number].places
        return [fields[place] for place in places], [rates[place] for place in places]

    def _laid_out(self, number: int, fields: Sequence[Floats]) -> Any:
        tree, kept = self.trees[number], self._rows[number]
        mine = [fields[place] for place in tree.places]
        if kept is None or any(a is not b for a, b in zip(kept[0], mine, strict=True)):
            kept = self._rows[number] = (mine, tree.rows(fields))
        return kept[1]


def unchanged(before: Moment, now: Moment) -> bool:
    """Whether sums are still what they were."""
    (old, old_rates), (new, new_rates) = before, now
    same = all(a is b for a, b in zip(old, new, strict=True))
    return same and all(np.array_equal(a, b) for a, b in zip(old_rates, new_rates, strict=True))


def draw_changed(
    rng: np.random.Generator, evidence: Callable[[Codes], Floats], labels: Codes, change: float
) -> tuple[Codes, int, int]:
    """Draw which records have the values of another time, given who is whom.

    Return labels under which those records are persons of their own, and the numbers of records, of persons with two
    and more, that are of another time and that are not.
    """
    apart, changed, counted = labels.copy(), 0, 0
    everyone = members(labels)
    sizes = (everyone >= 0).sum(axis=1)
    for size in np.unique(sizes[sizes > 1]).tolist():
        records = everyone[sizes == size, :size]
        options = list(subsets(size, change))
        logs = [
            log + evidence(records[:, inside]) if len(inside) else np.full(len(records), log) for inside, log in options
        ]
        bounds = np.cumsum(np.exp(np.array(logs) - np.max(logs, axis=0)), axis=0)
        chosen = (rng.random(len(records)) * bounds[-1] >= bounds[:-1]).sum(axis=0)
        out = np.ones(records.shape, dtype=bool)
        for option, (inside, _) in enumerate(options):
            out[np.ix_(chosen == option, inside)] = False
        # With at most one record of the person's time: none, or any one, by their probabilities.
        few = np.flatnonzero(chosen == len(options) - 1)
        out[few] = _few_of_one_time(rng, len(few), size, change)
        apart[records[out]] = labels.max() + 1 + records[out]
        changed, counted = changed + int(out.sum()), counted + out.size
    return apart, changed, counted - changed


def _few_of_one_time(rng: np.random.Generator, number: int, size: int, change: float) -> NDArray[np.bool_]:
    """Draw which of a person's records are of another time, for persons in whom too few are of one to say anything."""
    out = rng.random((number, size)) < change
    again = np.flatnonzero((~out).sum(axis=1) >= (2 if size <= MANY else size - LEFT_OUT))
    while len(again):
        out[again] = rng.random((len(again), size)) < change
        again = again[(~out[again]).sum(axis=1) >= (2 if size <= MANY else size - LEFT_OUT)]
    return out


@dataclass(eq=False)
class Given:
    """Σ log C over persons as a function of one field's parameters and of its records' rates, all else being given."""

    tree: FieldTree
    place: int
    fields: list[Floats]
    of_records: list[Floats]
    persons: Codes
    rows: Any

    def at(self, parameters: Floats | None = None, rates: Floats | None = None) -> float:
        """Return the sum; what is not named stays."""
        rows = self.rows if parameters is None else self.tree.rows(self._with(self.fields, parameters))
        of_records = self.of_records if rates is None else self._with(self.of_records, rates)
        return float(self.tree.log_sums(rows, self.persons, of_records).sum())

    def _with(self, values: list[Floats], own: Floats) -> list[Floats]:
        return [own if place == self.place else kept for place, kept in enumerate(values)]
