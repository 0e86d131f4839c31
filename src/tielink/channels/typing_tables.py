"""Tables of the typing channel at every edit rate of a grid: who is typed for whom, and the sums over true strings.

Held for near pairs alone (see `near_strings`); those given besides have zeros. With p(v) = w(v) + b·LM(v) (see
`string_truth`),

    c̃(x)   = Σ_v p(v)·ch(x | v)            = Σ_{v near x} w(v)·ch(x | v)             + b·Σ_v LM(v)·ch(x | v),
    s̃(x,y) = Σ_v p(v)·ch(x | v)·ch(y | v)  = Σ_{v near both} w(v)·ch(x | v)·ch(y | v) + b·Σ_v LM(v)·ch(x | v)·ch(y | v).

The sums over the language model are exact (see `typing_kernels`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import betainc

from tielink.channels.language import Codes, Floats, Text
from tielink.channels.near_strings import near_pairs
from tielink.channels.string_truth import StringTruth
from tielink.channels.typing_kernels import Typing, seen_sum_many, shared_sum_many, truth_sum_many, typed_many
from tielink.specification import Beta

__all__ = ["EDIT_RATES", "TypingTables", "draw_typed", "rate_weights", "split_rate", "spread", "typing_tables"]

EDIT_RATES: Floats = np.array([0.01, 0.02, 0.035, 0.06, 0.1, 0.15, 0.2])
"""The grid of edit rates ε: the probability of an edit at a character.

It ends where most of what is typed would no longer be near (see `near_strings.reach`): beyond that, a value is another
string altogether rather than a mistyped one.
"""


def rate_weights(rates: Floats, prior: Beta) -> Floats:
    """Return the prior mass of every rate of a grid: that of all rates nearer to it, in ratio, than to the next."""
    bounds = np.concatenate([[0.0], np.sqrt(rates[1:] * rates[:-1]), [1.0]])
    return np.diff(betainc(prior.a, prior.b, bounds))


def split_rate(rate: float) -> tuple[float, float, float]:
    """Return (ι, δ, σ), a third of the edit rate each."""
    return (rate / 3,) * 3


@dataclass(frozen=True, eq=False)
class TypingTables:
    """What typing errors do among the strings of a vocabulary; the first axis is the edit rate's place in the grid."""

    truth: StringTruth
    kept: bool
    """Whether the first letter is never touched."""
    rows: Codes
    columns: Codes
    """Near pairs (v, x) in both orders, each string with itself among them, sorted."""
    typed: Floats
    """ch(x | v) of near pairs."""
    shared: Floats
    """s̃(v, x) of near pairs."""
    single: Floats
    """c̃(x) of every string."""

    @cached_property
    def _keys(self) -> Codes:
        return self.rows * len(self.truth.strings) + self.columns

    @cached_property
    def turned(self) -> Codes:
        """The place of (x, v) for every near pair (v, x)."""
        return np.searchsorted(self._keys, self.columns * len(self.truth.strings) + self.rows)

    def find(self, left: Codes, right: Codes) -> Codes:
        """Return the place of each pair in the tables; −1 if it is not near."""
        wanted = left * len(self.truth.strings) + right
        place = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(self._keys[place] == wanted, place, -1)

    def near_any(self, values: Codes) -> Codes:
        """Return every string that is near one of these, themselves among them."""
        begins, ends = (np.searchsorted(self.rows, values, side=side) for side in ("left", "right"))
        return np.unique(np.concatenate([self.columns[b:e] for b, e in zip(begins, ends, strict=True)]))

    def followed_by(self, text: Text) -> tuple[Text, Codes]:
        """Return the vocabulary followed by further strings as one text, and the places of the latter."""
        mine = self.truth.text
        both = Text(
            np.concatenate([mine.characters, text.characters]),
            np.concatenate([mine.begins, mine.begins[-1] + text.begins[1:]]),
        )
        first = len(mine.begins) - 1
        return both, np.arange(first, first + len(text.begins) - 1)

    def type(self, both: Text, truths: Codes, values: Codes, place: int) -> Floats:
        """Return ch(x | v) for values x and truths v at these places of a text, at one rate: values × truths."""
        distinct, of = np.unique(values, return_inverse=True)
        left, right = np.tile(truths, len(distinct)), np.repeat(distinct, len(truths))
        out = np.empty(len(left))
        typing = Typing(self.truth.language.letters, *split_rate(EDIT_RATES[place]), self.kept)
        typed_many(both, left, right, typing, out)
        return np.asarray(out.reshape(len(distinct), len(truths))[of])


def typing_tables(
    truth: StringTruth, *, kept: bool = False, besides: tuple[Codes, Codes] | None = None
) -> TypingTables:
    """Compute the tables of a vocabulary; `besides` are further pairs i < j that have a place, though not by typing."""
    count = len(truth.strings)
    i, j = near_pairs(truth.strings)
    if kept:
        firsts = np.array([string[:1] for string in truth.strings], dtype=object)
        same = firsts[i] == firsts[j]
        i, j = i[same], j[same]
    itself = np.arange(count)
    near = np.concatenate([i * count + j, j * count + i, itself * count + itself])
    keys = near
    if besides is not None:
        i, j = besides
        keys = np.concatenate([near, i * count + j, j * count + i])
    keys = np.unique(keys)
    rows, columns = keys // max(1, count), keys % max(1, count)
    close = np.flatnonzero(np.isin(keys, near))
    typed, shared = np.zeros((2, len(EDIT_RATES), len(rows)))
    single = np.empty((len(EDIT_RATES), count))
    tables = TypingTables(truth, kept, rows, columns, typed, shared, single)
    text, model = truth.text, truth.language
    indptr = np.searchsorted(rows, np.arange(count + 1))
    half = close[rows[close] <= columns[close]]
    for place, rate in enumerate(EDIT_RATES):
        typing = Typing(model.letters, *split_rate(rate), kept)
        stays, drop = 1 - typing.insert, typing.drop
        chance = np.empty(len(close))
        spread(typed_many, (text,), (rows[close], columns[close]), (typing,), chance)
        typed[place][close] = chance
        to = typed[place][tables.turned]  # row x lists the strings v near it, with ch(x | v)
        given = (model.compiled, model.closure(stays * drop), typing)
        spread(truth_sum_many, (text,), (itself,), given, single[place])
        single[place] *= truth.back_off
        single[place] += np.add.reduceat(truth.counted[columns] * to, indptr[:-1]) if count else 0.0
        given = (model.compiled, model.closure(stays**2 * drop**2), typing)
        sums, seen = np.empty((2, len(half)))
        spread(shared_sum_many, (text,), (rows[half], columns[half]), given, sums)
        spread(seen_sum_many, (indptr, columns, truth.counted, to, to), (rows[half], columns[half]), (), seen)
        shared[place][half] = truth.back_off * sums + seen
        shared[place][tables.turned[half]] = shared[place][half]
    return tables


def spread(
    kernel: Callable[..., None], before: tuple[Any, ...], pairs: tuple[Codes, ...], after: tuple[Any, ...], out: Floats
) -> None:
    """Run a kernel over parts of its pairs in threads; kernels do not hold the interpreter."""
    workers = os.cpu_count() or 1
    bounds = np.linspace(0, len(out), 8 * workers + 1).astype(np.int64)
    if len(out) < 1_000:
        kernel(*before, *pairs, *after, out)
        return

    def part(begin: int, end: int) -> None:
        kernel(*before, *(codes[begin:end] for codes in pairs), *after, out[begin:end])

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(part, bounds[:-1].tolist(), bounds[1:].tolist()))


def draw_typed(rng: np.random.Generator, truth: str, rate: float, alphabet: tuple[str, ...], kept: bool = False) -> str:
    """Draw x ~ ch(· | v)."""
    insert, drop, replace = split_rate(rate)
    said = truth[:1] if kept else ""
    for place in range(len(said), len(truth) + 1):
        while rng.random() < insert:
            said += alphabet[rng.integers(len(alphabet))]
        if place < len(truth):
            u = rng.random()
            said += "" if u < drop else alphabet[rng.integers(len(alphabet))] if u < drop + replace else truth[place]
    return said
