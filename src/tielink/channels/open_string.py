"""The channel of open strings: any string may be true; a record says it exactly, changed, or says another.

    f(x | v) = (1 − ψ)·1[x = v] + ψ·ζ_v(x),        ζ_v(x) = (1 − ρ)·[(1 − α)·ch(x | v) + α·af(x | v)] + ρ·p(x),

with p the distribution of true strings (see `string_truth`), ch the typing channel (see `typing_kernels`) and af that
of affixes (see `affix_kernels`), if there are any. The parameters are (ρ, ε, α): how often a distorted value is another
string altogether; the edit rate; and how often one that is not another has affixes. The latter two live on grids. Pairs
of strings that are not near drop the terms in which one is changed into the other: what is left of them is that one of
the two is another string altogether.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tielink.channels.affix_tables import AFFIX_SHARES, AffixTables, add_affixes, common_parts, draw_affixed
from tielink.channels.channel import Codes, Drawn, Floats
from tielink.channels.distorted_mixture import REMEMBERED, MixtureChannel, Place
from tielink.channels.language import Text
from tielink.channels.near_truths import NearTruths, near_rows, worth_keeping
from tielink.channels.string_truth import StringTruth
from tielink.channels.typing_tables import EDIT_RATES, TypingTables, draw_typed, rate_weights
from tielink.specification import Beta

__all__ = ["OpenStringChannel", "one_edit_away"]

_Group = tuple[Floats, Floats, Text, Floats | None, dict[int, Floats]]


@dataclass(frozen=True, eq=False)
class OpenStringChannel(MixtureChannel):
    """A string field with an open vocabulary; codes are places in the vocabulary of `tables.truth`."""

    tables: TypingTables
    edits: Beta
    affixes: AffixTables | None
    affix_share: Beta | None
    """The prior of α; None without affixes."""
    _groups: dict[tuple[int, ...], _Group] = field(default_factory=dict)

    @property
    def truth(self) -> StringTruth:
        """p(v)."""
        return self.tables.truth

    @cached_property
    def grids(self) -> tuple[tuple[Floats, Floats], ...]:
        """The grids of the edit rate and of the share of affixes, with prior masses."""
        edits = EDIT_RATES, rate_weights(EDIT_RATES, self.edits)
        if self.affix_share is None:
            return (edits,)
        return edits, (AFFIX_SHARES, rate_weights(AFFIX_SHARES, self.affix_share))

    def plain(self, place: Place, values: Codes) -> Floats:
        """Return p(x)."""
        return self.truth.probability[values]

    def mistyped(self, place: Place, values: Codes) -> Floats:
        """Return Σ_v p(v)·[(1 − α)·ch(x | v) + α·af(x | v)]."""
        typed = np.asarray(self.tables.single[place[0]][values])
        if self.affixes is None:
            return typed
        share = AFFIX_SHARES[place[1]]
        return np.asarray((1 - share) * typed + share * self.affixes.single[values])

    def near_terms(self, place: Place, found: Codes) -> tuple[Floats, Floats, Floats, Floats]:
        """Return 1[x = y]·p(x), and the sums over truths in which x, y, or both are typed or have affixes."""
        tables, affixes, p = self.tables, self.affixes, self.truth.probability
        x, y, turned = tables.rows[found], tables.columns[found], tables.turned[found]
        typed = tables.typed[place[0]]
        to_x, to_y, both = typed[turned], typed[found], tables.shared[place[0]][found]
        if affixes is not None:
            share = AFFIX_SHARES[place[1]]
            to_x = (1 - share) * to_x + share * affixes.affixed[turned]
            to_y = (1 - share) * to_y + share * affixes.affixed[found]
            mixed = (1 - share) * affixes.crossed[place[0]][found] + share * affixes.shared[found]
            both = (1 - share) ** 2 * both + share * mixed
        return np.where(x == y, p[x], 0.0), p[y] * to_x, p[x] * to_y, both

    def find(self, left: Codes, right: Codes) -> Codes:
        """Return the place of each pair among the near ones, −1 for the others."""
        return self.tables.find(left, right)

    def near(self) -> tuple[Codes, Codes]:
        """Return every near pair x < y once."""
        once = self.tables.rows < self.tables.columns
        return self.tables.rows[once], self.tables.columns[once]

    def code_probability(self) -> Floats | None:
        """Return p(v) of the vocabulary."""
        return self.truth.probability

    def near_truths(self, parameters: Floats) -> NearTruths:
        """Lay out the seen strings that each may well be a changed form of."""
        rho, place = self.split(parameters)
        found, p = self._laid_out, self.truth.probability
        values, truth = self.tables.rows[found], self.tables.columns[found]
        _, to_value, _, _ = self.near_terms(place, found)  # p(v)·t_v(x), x being the row
        clean, changed = (values == truth).astype(float), to_value / p[truth]
        whole = self.single(parameters, np.arange(self.levels))[1]
        distorted = (1 - rho) * changed + rho * p[values]
        return near_rows(values, truth, clean, distorted, p, whole, rho * p)

    @cached_property
    def _laid_out(self) -> Codes:
        """The places of near pairs (x, v) that matter at the parameters a chain starts with."""
        rho, place = self.split(self.start())
        every, tables, p = np.arange(len(self.tables.rows)), self.tables, self.truth.probability
        _, to_value, _, _ = self.near_terms(place, every)
        whole = np.sum(self.single(self.start(), np.arange(self.levels)), axis=0)[tables.rows]
        itself = tables.rows == tables.columns
        return worth_keeping(np.zeros(1), (1 - rho) * to_value / p[tables.columns], p[tables.columns], whole, itself)

    def looked_at(self, place: Place, values: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
        """Return p(v), 1[x = v] and (1 − α)·ch(x | v) + α·af(x | v) of the truths looked at for these values.

        They are the seen strings near any of the values, all one edit from two of them, and common parts. What is
        neglected are truths that nobody has, that are not one edit from two different values, and not the longest part
        common to two.
        """
        prior, clean, text, affixed, typed = self._group(values)
        if place[0] not in typed:
            typed[place[0]] = self.tables.type(*self.tables.followed_by(text), np.array(values), place[0])
        changed = typed[place[0]]
        if affixed is not None:
            share = float(AFFIX_SHARES[place[1]])
            changed = (1 - share) * changed + share * affixed
        return prior, clean, changed

    def _group(self, values: tuple[int, ...]) -> _Group:
        """Return p(v), 1[x = v], text and af(x | v) of the truths looked at, and what is known of ch(x | v)."""
        if values in self._groups:
            return self._groups[values]
        tables, truth = self.tables, self.truth
        distinct = np.unique(values)
        seen = tables.near_any(distinct)
        known = {truth.strings[code] for code in seen}
        reached = [one_edit_away(truth.strings[code], truth.language.alphabet) for code in distinct]
        others = {v for x, y in combinations(reached, 2) for v in x & y}
        if self.affixes is not None:
            others |= common_parts([truth.strings[code] for code in distinct])
        rare = sorted(others - known)
        text = truth.language.encode([*(truth.strings[code] for code in seen), *rare])
        prior = truth.of(text)
        prior[: len(seen)] = truth.probability[seen]
        for column, string in enumerate(rare, len(seen)):
            if string in truth.codes:
                prior[column] = truth.probability[truth.codes[string]]
        columns = np.concatenate([seen, np.full(len(rare), -1)])
        clean = (np.array(values)[:, None] == columns).astype(float)
        if len(self._groups) > REMEMBERED:
            self._groups.clear()
        affixed = None
        if self.affixes is not None:
            affixed = add_affixes(truth.language, *tables.followed_by(text), np.array(values))
        self._groups[values] = prior, clean, text, affixed, {}
        return self._groups[values]

    def simulate(
        self, rng: np.random.Generator, parameters: Floats, labels: Codes, distorted: NDArray[np.bool_]
    ) -> Drawn:
        """Draw true strings from p; a distorted record changes its own or says another."""
        rho, place = self.split(parameters)
        persons = self.truth.draw(rng, int(labels.max(initial=-1)) + 1)
        said = [persons[label] for label in labels]
        for record in np.flatnonzero(distorted):
            if rng.random() < rho:
                said[record] = self.truth.draw(rng, 1)[0]
            elif self.affixes is not None and rng.random() < AFFIX_SHARES[place[1]]:
                said[record] = draw_affixed(rng, said[record], self.truth.language)
            else:
                rate = float(EDIT_RATES[place[0]])
                said[record] = draw_typed(rng, said[record], rate, self.truth.language.alphabet)
        return Drawn.of_texts(persons, said)


@lru_cache(maxsize=256)
def one_edit_away(string: str, alphabet: tuple[str, ...]) -> frozenset[str]:
    """Return all strings that come of one edit."""
    places = range(len(string) + 1)
    found = {string[:i] + string[i + 1 :] for i in places[:-1]}
    found |= {string[:i] + letter + string[i:] for i in places for letter in alphabet}
    found |= {string[:i] + letter + string[i + 1 :] for i in places[:-1] for letter in alphabet}
    return frozenset(found - {string})
