"""Tables of affixes: which string is another one with something added, and the sums over true strings.

Held for the near pairs of the typing tables (see `typing_tables`), whose sums they complete: with af the channel of
affixes (see `affix_kernels`) and p(v) = w(v) + b·LM(v),

    Σ_v p(v)·af(x | v),    Σ_v p(v)·af(x | v)·af(y | v),    Σ_v p(v)·[ch(x | v)·af(y | v) + af(x | v)·ch(y | v)].

Sums over the language model are exact, and so is the first over seen strings; the others run over near ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations

import numpy as np

from tielink.channels.affix_kernels import (
    affixed_many,
    common_core_sum_many,
    core_sum_many,
    typed_core_sum_many,
)
from tielink.channels.language import Codes, Floats, Language, Text
from tielink.channels.near_strings import contained_pairs
from tielink.channels.typing_kernels import Typing, seen_sum_many
from tielink.channels.typing_tables import EDIT_RATES, TypingTables, split_rate, spread

__all__ = ["AFFIX_SHARES", "AffixTables", "add_affixes", "affix_tables", "common_parts", "draw_affixed"]

AFFIX_SHARES: Floats = np.array([0.02, 0.07, 0.2, 0.4, 0.7])
"""The grid of α: the share of distorted values, other strings left out, that have affixes."""


@dataclass(frozen=True, eq=False)
class AffixTables:
    """What affixes do among the strings of a vocabulary; places of pairs are those of the typing tables."""

    affixed: Floats
    """af(x | v) of near pairs (v, x)."""
    single: Floats
    """Σ_v p(v)·af(x | v) of every string."""
    shared: Floats
    """Σ_v p(v)·af(v | t)·af(x | t) of near pairs, t the truth."""
    crossed: Floats
    """One of the pair typed, the other with affixes, both ways together: edit rates × near pairs."""


def affix_tables(tables: TypingTables) -> AffixTables:
    """Compute the tables of a vocabulary whose first letters may be mistyped."""
    assert not tables.kept
    truth, rows, columns = tables.truth, tables.rows, tables.columns
    count, strings = len(truth.strings), (truth.text,)
    given = (truth.language.compiled,)
    affixed = np.empty(len(rows))
    spread(affixed_many, strings, (rows, columns), given, affixed)
    indptr = np.searchsorted(rows, np.arange(count + 1))
    to = affixed[tables.turned]  # row x lists the strings v near it, with af(x | v)
    single = np.empty(count)
    spread(core_sum_many, strings, (np.arange(count),), given, single)
    inner, outer = contained_pairs(truth.strings)
    seen = np.empty(len(inner))
    spread(affixed_many, strings, (inner, outer), given, seen)
    single = truth.back_off * single + np.bincount(outer, truth.counted[inner] * seen, minlength=count)

    half = np.flatnonzero(rows <= columns)
    back = tables.turned[half]
    left, right = rows[half], columns[half]
    shared, crossed = np.empty(len(rows)), np.empty((len(EDIT_RATES), len(rows)))
    one, two = np.empty((2, len(half)))
    spread(common_core_sum_many, strings, (left, right), given, one)
    spread(seen_sum_many, (indptr, columns, truth.counted, to, to), (left, right), (), two)
    shared[half] = shared[back] = truth.back_off * one + two
    for place, rate in enumerate(EDIT_RATES):
        typed = tables.typed[place][tables.turned]
        typing = Typing(truth.language.letters, *split_rate(rate), False)
        total = np.zeros(len(half))
        for pair in ((left, right), (right, left)):
            spread(typed_core_sum_many, strings, pair, (*given, typing), one)
            spread(seen_sum_many, (indptr, columns, truth.counted, typed, to), pair, (), two)
            total += truth.back_off * one + two
        crossed[place][half] = crossed[place][back] = total
    return AffixTables(affixed, single, shared, crossed)


def add_affixes(language: Language, text: Text, truths: Codes, values: Codes) -> Floats:
    """Return af(x | v) of strings of one text: values × truths."""
    out = np.empty(len(values) * len(truths))
    left, right = np.tile(truths, len(values)), np.repeat(values, len(truths))
    affixed_many(text, left, right, language.compiled, out)
    return out.reshape(len(values), len(truths))


def draw_affixed(rng: np.random.Generator, truth: str, language: Language) -> str:
    """Draw x ~ af(· | v)."""
    where = rng.integers(3)
    before = _some(rng, language) if where != 1 else ""
    return before + truth + (_some(rng, language) if where != 0 else "")


def _some(rng: np.random.Generator, language: Language) -> str:
    """Draw a string that is not empty."""
    while not (drawn := language.draw(rng)):
        pass
    return drawn


def common_parts(strings: Sequence[str]) -> set[str]:
    """Return the longest part that each two of the strings have in common."""
    found = set()
    for one, two in combinations(strings, 2):
        match = SequenceMatcher(None, one, two, autojunk=False).find_longest_match()
        found.add(one[match.a : match.a + match.size])
    return found - {""}
