"""The channel of open strings: any string may be true, and a record says it exactly, mistyped, or says another.

    f(x | v) = (1 − ψ)·1[x = v] + ψ·ζ_v(x),        ζ_v(x) = (1 − ρ)·ch(x | v) + ρ·p(x),

with p the distribution of true strings (see `string_truth`) and ch the typing channel (see `typing_kernels`). The
parameters are (ρ, ε): how often a distorted value is another string altogether, and the edit rate, which lives on a
grid. Pairs of strings that are not near drop the terms in which one is typed for the other: what is left of them is
that one of the two is another string altogether.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Codes, Drawn, Floats, Truths
from tielink.channels.distorted_mixture import MixtureChannel, Place
from tielink.channels.string_truth import StringTruth
from tielink.channels.typing_tables import EDIT_RATES, TypingTables, draw_typed, rate_weights
from tielink.specification import Beta

__all__ = ["OpenStringChannel", "one_edit_away"]

REMEMBERED = 20_000
"""Persons with three or more records whose tables are kept."""


@dataclass(frozen=True, eq=False)
class OpenStringChannel(MixtureChannel):
    """A string field with an open vocabulary; codes are places in the vocabulary of `tables.truth`."""

    tables: TypingTables
    edits: Beta
    _groups: dict[tuple[int, ...], tuple[Floats, Floats, Floats]] = field(default_factory=dict)

    @property
    def truth(self) -> StringTruth:
        """p(v)."""
        return self.tables.truth

    @cached_property
    def grids(self) -> tuple[tuple[Floats, Floats], ...]:
        """The edit rate's grid, with the prior mass of each rate."""
        return ((EDIT_RATES, rate_weights(EDIT_RATES, self.edits)),)

    def plain(self, place: Place, values: Codes) -> Floats:
        """Return p(x)."""
        return self.truth.probability[values]

    def mistyped(self, place: Place, values: Codes) -> Floats:
        """Return c̃(x)."""
        return np.asarray(self.tables.single[place[0]][values])

    def near_terms(self, place: Place, found: Codes) -> tuple[Floats, Floats, Floats, Floats]:
        """Return p(x)1[x = y], p(y)·ch(x | y), p(x)·ch(y | x) and s̃(x, y) of near pairs."""
        tables, p = self.tables, self.truth.probability
        x, y = tables.rows[found], tables.columns[found]
        typed = tables.typed[place[0]]
        return (
            np.where(x == y, p[x], 0.0),
            p[y] * typed[tables.turned[found]],
            p[x] * typed[found],
            tables.shared[place[0]][found],
        )

    def find(self, left: Codes, right: Codes) -> Codes:
        """Return the place of each pair among the near ones, −1 for the others."""
        return self.tables.find(left, right)

    def near(self) -> tuple[Codes, Codes]:
        """Return every near pair x < y once."""
        once = self.tables.rows < self.tables.columns
        return self.tables.rows[once], self.tables.columns[once]

    def truths(self, parameters: Floats, values: Codes) -> Truths:
        """Return the seen strings near any of the values, all strings one edit from any, and the rest as one column.

        The rest has the probability that is left, and types each value as often as makes m(x) of one record exact;
        within it the records are independent. So what is neglected are truths that nobody has and that are two edits
        or more from every one of the records.
        """
        rho, place = self.split(parameters)
        prior, clean, typing = self._group(tuple(values.tolist()))
        ch = typing[place[0]]
        distorted = (1 - rho) * ch + rho * self.plain(place, values)[:, None]
        rest = max(1.0 - float(prior.sum()), 1e-12)
        left = np.maximum(self.mistyped(place, values) - ch @ prior, 0.0) / rest
        return Truths(
            np.append(prior, rest),
            np.column_stack([clean, np.zeros(len(values))]),
            np.column_stack([distorted, (1 - rho) * left + rho * self.plain(place, values)]),
        )

    def _group(self, values: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
        """Return p(v), 1[x = v] and ch(x | v) (at every rate) of the truths looked at for these values."""
        if values in self._groups:
            return self._groups[values]
        tables, truth = self.tables, self.truth
        distinct = np.unique(values)
        seen = np.unique(tables.columns[np.isin(tables.rows, distinct)])
        known = {truth.strings[code] for code in seen}
        others = {v for code in distinct for v in one_edit_away(truth.strings[code], truth.language.alphabet)}
        rare = sorted(others - known)
        vocabulary = {string: code for code, string in enumerate(truth.strings)} if rare else {}
        text = truth.language.encode([*(truth.strings[code] for code in seen), *rare])
        prior = truth.of(text)
        prior[: len(seen)] = truth.probability[seen]
        for column, string in enumerate(rare, len(seen)):
            if string in vocabulary:
                prior[column] = truth.probability[vocabulary[string]]
        columns = np.concatenate([seen, np.full(len(rare), -1)])
        clean = (np.array(values)[:, None] == columns).astype(float)
        if len(self._groups) > REMEMBERED:
            self._groups.clear()
        self._groups[values] = prior, clean, tables.type(text, np.array(values))
        return self._groups[values]

    def simulate(
        self, rng: np.random.Generator, parameters: Floats, labels: Codes, distorted: NDArray[np.bool_]
    ) -> Drawn:
        """Draw true strings from p; a distorted record mistypes its own or says another."""
        rho, place = self.split(parameters)
        persons = self.truth.draw(rng, int(labels.max(initial=-1)) + 1)
        said = [persons[label] for label in labels]
        for record in np.flatnonzero(distorted):
            if rng.random() < rho:
                said[record] = self.truth.draw(rng, 1)[0]
            else:
                rate = float(EDIT_RATES[place[0]])
                said[record] = draw_typed(rng, said[record], rate, self.truth.language.alphabet)
        return Drawn.of_texts(persons, said)


def one_edit_away(string: str, alphabet: tuple[str, ...]) -> set[str]:
    """Return all strings that come of one edit."""
    places = range(len(string) + 1)
    found = {string[:i] + string[i + 1 :] for i in places[:-1]}
    found |= {string[:i] + letter + string[i:] for i in places for letter in alphabet}
    found |= {string[:i] + letter + string[i + 1 :] for i in places[:-1] for letter in alphabet}
    return found - {string}
