"""True names to sum over for three or more records of one person.

Families looked at are the seen ones near any record's. Lists of given names looked at are those that the records show,
each initial standing for any name of that letter that a record shows in full, or for some other name of that letter.
All else is one family and one list more, of which each record is an independent draw, so that the sum of one record
is exact. What is neglected: two records that show the same name, or typings of one, that is not among those looked at.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from tielink.channels.language import Codes, Floats
from tielink.channels.name_tables import DROP_RATES, FIRST, GivenNames, single_sums
from tielink.channels.typing_tables import TypingTables

__all__ = ["Looked", "family_truths", "list_truths"]

NOTHING = 1e-12


class Looked(NamedTuple):
    """True values looked at, all else as the last one: p(v), then each record's clean and mistyped probabilities."""

    prior: Floats
    clean: Floats
    typed: Floats


class _Slot(NamedTuple):
    """One true given name: a string of the tables, or with name −1 any other that starts with `letter`."""

    name: int
    letter: int
    prior: float


def _with_rest(prior: Floats, clean: Floats, typed: Floats, singles: Floats) -> Looked:
    """Add all else; `singles` are each record's sums over all true values, clean and mistyped."""
    rest = max(1.0 - float(prior.sum()), NOTHING)
    left = [np.maximum(whole - shown @ prior, 0.0) / rest for whole, shown in zip(singles, (clean, typed), strict=True)]
    return Looked(np.append(prior, rest), np.column_stack([clean, left[0]]), np.column_stack([typed, left[1]]))


def family_truths(tables: TypingTables, edit: int, values: Codes) -> Looked:
    """Return the families to sum over, all others as one."""
    seen = np.unique(tables.columns[np.isin(tables.rows, values)])
    found = tables.find(np.repeat(seen[None, :], len(values), axis=0), np.repeat(values[:, None], len(seen), axis=1))
    typed = np.where(found >= 0, tables.typed[edit][found], 0.0)
    clean = (values[:, None] == seen).astype(float)
    return _with_rest(tables.truth.probability[seen], clean, typed, single_sums(tables)[:, edit, values])


def list_truths(given: GivenNames, place: tuple[int, ...], values: Codes) -> Looked:
    """Return the lists of given names to sum over, all others as one."""
    edit, drop = place
    shown = [given.lists[value] for value in values]
    full = sorted({name for names in shown for name in names if not given.initial[name]})
    lists = sorted({slots for names in set(shown) for slots in product(*(_slots(given, name, full) for name in names))})
    prior = np.array([given.number[len(slots)] * np.prod([slot.prior for slot in slots]) for slots in lists])
    clean, typed = (
        np.array(
            [[_shown(given, slots, names, full, edit, DROP_RATES[drop], typing) for slots in lists] for names in shown]
        )
        for typing in (False, True)
    )
    return _with_rest(prior, clean, typed, given.single[:, edit, drop, values])


def _slots(given: GivenNames, name: int, full: list[int]) -> list[_Slot]:
    """Return the true given names that a shown one may stand for."""
    own = given.first * given.tables.truth.probability
    letter = int(given.letter[name])
    alike = [other for other in full if given.letter[other] == letter]
    named = [_Slot(other, letter, float(own[other])) for other in alike]
    if not given.initial[name]:
        return [slot for slot in named if slot.name == name]
    left = float(given.starts[name]) - sum(slot.prior for slot in named)
    return [*named, _Slot(-1, letter, max(left, NOTHING))]


def _shown(
    given: GivenNames,
    slots: tuple[_Slot, ...],
    names: tuple[int, ...],
    full: list[int],
    edit: int,
    drop: float,
    typing: bool,
) -> float:
    """Return the probability of showing `names` when the given names are `slots`."""
    ways = np.zeros(len(names) + 1)
    ways[0] = 1.0
    for number, slot in enumerate(slots):
        chance = np.array([_one(given, slot, name, full, edit, typing) for name in names])
        left_out = drop * (1.0 if number else FIRST)
        ways[1:] = left_out * ways[1:] + (1 - left_out) * chance * ways[:-1]
        ways[0] *= left_out
    return float(ways[-1])


def _one(given: GivenNames, slot: _Slot, name: int, full: list[int], edit: int, typing: bool) -> float:
    """Return the probability that one true given name is shown as `name`."""
    if given.letter[name] != slot.letter:
        return 0.0
    truth, first = given.tables.truth.probability, given.first
    if slot.name >= 0:
        in_full = _typed(given.tables, edit, slot.name, name) if typing else float(slot.name == name)
    elif typing:
        alike = [other for other in full if given.letter[other] == slot.letter]
        known = sum(truth[other] * _typed(given.tables, edit, other, name) for other in alike)
        in_full = max(float(first[name] * (given.tables.single[edit][name] - known)), 0.0) / slot.prior
    else:
        in_full = 0.0 if name in full else float(first[name] * truth[name]) / slot.prior
    return float(given.initials * given.initial[name] + (1 - given.initials) * in_full)


def _typed(tables: TypingTables, edit: int, truth: int, value: int) -> float:
    found = int(tables.find(np.array([truth]), np.array([value]))[0])
    return float(tables.typed[edit][found]) if found >= 0 else 0.0
