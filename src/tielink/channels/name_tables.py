"""Sums over true names, for families and for lists of given names apart.

A true name is a family, F ~ p_F, and k given names, k ~ q, each g ~ p_G, both p as of strings (see `string_truth`). A
record shows each given name or drops it (d; the first one a tenth as often), as an initial (a) or in full; in a
mistyped record what is shown in full went through the typing channel, which spares first letters. So for one given name
shown as t,

    Σ_g p_G(g)·[a·1[t = g₁] + (1 − a)·F(t | g)],        F(t | g) = 1[t = g], or ch(t | g) in a mistyped record,

and likewise for two: everything is a sum of the string tables. The alignments of two lists are summed by a dynamic
program over true given names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import comb

from tielink.channels.language import Codes, Floats
from tielink.channels.name_kernels import align_pair
from tielink.channels.parsed_names import MOST_GIVEN
from tielink.channels.string_truth import StringTruth
from tielink.channels.typing_tables import EDIT_RATES, TypingTables

__all__ = ["DROP_RATES", "GivenNames", "given_names", "pair_sums", "single_sums"]

DROP_RATES: Floats = np.array([0.02, 0.05, 0.1, 0.2, 0.35])
"""The grid of d, the probability that a given name other than the first is not shown."""
FIRST = 0.1
"""The first given name is dropped this much less often: people leave out middle names, and seldom all."""

EDITS, DROPS = len(EDIT_RATES), len(DROP_RATES)


def single_sums(tables: TypingTables) -> Floats:
    """Return (Σ_v p(v)·1[x = v], Σ_v p(v)·ch(x | v)) of every string: 2 × edit rates × strings."""
    plain = np.broadcast_to(tables.truth.probability, tables.single.shape)
    return np.stack([plain, tables.single])


def pair_sums(tables: TypingTables, left: Codes, right: Codes) -> Floats:
    """Return Σ_v p(v)·A(x | v)·B(y | v) for A, B clean or mistyped, in the order of `Terms`: 4 × edit rates × pairs."""
    found = tables.find(left, right)
    p = tables.truth.probability
    there, back = tables.typed[:, found], tables.typed[:, tables.turned[found]]
    equal = np.broadcast_to(np.where(left == right, p[left], 0.0), there.shape)
    sums = np.stack([equal, p[right] * back, p[left] * there, tables.shared[:, found]])
    return np.where(found >= 0, sums, 0.0)


@dataclass(frozen=True, eq=False)
class GivenNames:
    """Lists of given names; `lists` holds the tables' codes of each list's names."""

    tables: TypingTables
    lists: tuple[tuple[int, ...], ...]
    initials: float
    """a: the share of given names shown as initials."""
    number: Floats
    """q: the probability of having k given names, k = 0, 1, …."""
    first: Floats
    """How much likelier each string's first letter is than the string model has it: initials count too."""

    @cached_property
    def letter(self) -> Codes:
        """The first letter of every string of the tables."""
        text = self.tables.truth.text
        return text.characters[text.begins[:-1]]

    @cached_property
    def initial(self) -> Floats:
        """1 for strings of one letter, which may be initials."""
        return np.asarray(self.tables.truth.text.lengths == 1, dtype=float)

    @cached_property
    def starts(self) -> Floats:
        """The probability that a true given name starts as each string does."""
        return np.asarray(self.first * starting(self.tables.truth)[self.letter])

    @cached_property
    def _one(self) -> Floats:
        return single_sums(self.tables)

    @cached_property
    def shown(self) -> Floats:
        """The sum over one true given name shown as each string: 2 × edit rates × strings."""
        a = self.initials
        return np.asarray(a * self.initial * self.starts + (1 - a) * self.first * self._one)

    def shown_twice(self, left: Codes, right: Codes) -> Floats:
        """Return the sum over one true given name shown as `left` by one record and as `right` by another."""
        a, first, one = self.initials, self.first[left], self._one
        x, y = one[:, :, left], one[:, :, right]
        full = (1 - a) ** 2 * first * pair_sums(self.tables, left, right)
        half = a * (1 - a) * first
        abbreviated_left = half * self.initial[left] * np.stack([y[0], y[0], y[1], y[1]])
        abbreviated_right = half * self.initial[right] * np.stack([x[0], x[1], x[0], x[1]])
        both = a**2 * self.initial[left] * self.initial[right] * self.starts[left]
        return np.where(
            self.letter[left] == self.letter[right], full + abbreviated_left + abbreviated_right + both, 0.0
        )

    @cached_property
    def single(self) -> Floats:
        """The sum over all true lists for each list shown, clean or mistyped: 2 × edit rates × drop rates × lists."""
        out = np.empty((2, EDITS, DROPS, len(self.lists)))
        for place, names in enumerate(self.lists):
            n = len(names)
            product = self.shown[:, :, list(names)].prod(axis=2)
            ways = np.array([self.number @ showing(n, len(self.number), d) for d in DROP_RATES])
            out[:, :, :, place] = product[:, :, None] * ways
        return out

    def pair(self, left: Codes, right: Codes) -> Floats:
        """Return the sums over true lists for pairs of lists: 4 × edit rates × drop rates × pairs."""
        out = np.empty((4, EDITS, DROPS, len(left)))
        for place, (one, two) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            x, y = np.array(self.lists[one], dtype=np.int64), np.array(self.lists[two], dtype=np.int64)
            grid = (len(x), len(y))
            i, j = (np.broadcast_to(codes, grid).ravel() for codes in (x[:, None], y[None, :]))
            twice = self.shown_twice(i, j).reshape(4, EDITS, *grid) if len(i) else np.zeros((4, EDITS, *grid))
            align_pair(
                self.shown[:, :, x], self.shown[:, :, y], twice, self.number, DROP_RATES, FIRST, out[:, :, :, place]
            )
        return out

    def draw(self, rng: np.random.Generator) -> str:
        """Draw a true given name: its first letter as all given names have it, then the name."""
        truth = self.tables.truth
        ratio = dict(zip([truth.strings[code][0] for code in range(len(truth.strings))], self.first, strict=True))
        most = max(ratio.values())
        while True:
            name = truth.draw(rng, 1)[0]
            if name and rng.random() * most < ratio[name[0]]:
                return name


def showing(n: int, most: int, drop: float) -> Floats:
    """Return the probability of showing n given names of k, k = 0, 1, … below `most`."""
    further = np.arange(most - 1)
    one, none = (comb(further, m) * (1 - drop) ** m * drop ** np.maximum(further - m, 0) for m in (max(n - 1, 0), n))
    first = drop * FIRST
    return np.append(float(n == 0), (1 - first) * one * (n > 0) + first * none)


def starting(truth: StringTruth) -> Floats:
    """Return the probability that a true string starts with each character of the alphabet."""
    model = truth.language
    by_model = truth.back_off * model.moves[-1][model.state] * model.share
    text = truth.text
    filled = text.lengths > 0
    firsts = text.characters[text.begins[:-1][filled]]
    return np.asarray(by_model + np.bincount(firsts, truth.counted[filled], minlength=len(model.alphabet)))


def given_names(tables: TypingTables, lists: Sequence[tuple[int, ...]], counts: Floats, starts: Floats) -> GivenNames:
    """Fit q, a and first letters: `counts` are of the lists, `starts` of first letters, by the alphabet's number."""
    sizes = np.array([len(names) for names in lists])
    number = np.bincount(sizes, counts, minlength=MOST_GIVEN + 2) + 0.5
    lengths = tables.truth.text.lengths
    shown = np.array([len(names) for names in lists]) @ counts
    short = np.array([sum(lengths[name] == 1 for name in names) for names in lists]) @ counts
    text = tables.truth.text
    wanted = (starts + 0.5) / (starts + 0.5).sum()
    ratio = wanted / starting(tables.truth)
    first = ratio[text.characters[text.begins[:-1]]]
    return GivenNames(tables, tuple(lists), float((short + 1) / (shown + 2)), number / number.sum(), first)
