"""The channel of persons' names: families and given names, initials, dropped parts, typing errors.

A record's value is its name as read (see `parsed_names`); order, case and punctuation are gone. A clean record shows
the family exactly and each given name in full, as an initial, or not at all; a mistyped one has typing errors in all
that is shown in full; another one shows the name of somebody else. Sums over true names are products of a sum over
families and one over lists of given names (see `name_tables`). The parameters are (ρ, ε, d): how often a distorted
name is another, the edit rate and the rate at which given names are dropped. Names whose families are not near drop
the terms in which both stand for one name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Codes, Drawn, Floats
from tielink.channels.counts import count_by_file, largest_count, others_count
from tielink.channels.distorted_mixture import MixtureChannel, Place
from tielink.channels.name_tables import DROP_RATES, FIRST, GivenNames, given_names, pair_sums, single_sums
from tielink.channels.name_truths import family_truths, list_truths
from tielink.channels.parsed_names import Name, parse_name
from tielink.channels.string_truth import string_truth
from tielink.channels.typing_tables import EDIT_RATES, TypingTables, draw_typed, rate_weights, typing_tables
from tielink.data.columns import MISSING, Column
from tielink.fields import PersonName
from tielink.specification import Beta

__all__ = ["PersonNameChannel", "compile_names"]


@dataclass(frozen=True, eq=False)
class PersonNameChannel(MixtureChannel):
    """Code i is a name with family `families.truth.strings[family[i]]` and list `given.lists[listed[i]]`."""

    families: TypingTables
    given: GivenNames
    family: Codes
    listed: Codes
    edits: Beta
    drops: Beta

    @cached_property
    def grids(self) -> tuple[tuple[Floats, Floats], ...]:
        """The grids of the edit rate and of the rate of dropping, with prior masses."""
        return (EDIT_RATES, rate_weights(EDIT_RATES, self.edits)), (DROP_RATES, rate_weights(DROP_RATES, self.drops))

    @cached_property
    def _single(self) -> Floats:
        """2 × edit rates × drop rates × names."""
        by_family = single_sums(self.families)[:, :, self.family]
        return by_family[:, :, None, :] * self.given.single[:, :, :, self.listed]

    @cached_property
    def _near(self) -> tuple[Codes, Codes]:
        """Pairs of names, in both orders and each with itself, whose families are near; sorted."""
        count = len(self.family)
        by_family = np.argsort(self.family, kind="stable")
        starts = np.searchsorted(self.family[by_family], np.arange(len(self.families.truth.strings) + 1))
        left, right = [], []
        for one, two in zip(self.families.rows.tolist(), self.families.columns.tolist(), strict=True):
            x, y = by_family[starts[one] : starts[one + 1]], by_family[starts[two] : starts[two + 1]]
            if len(x) and len(y):
                left.append(np.repeat(x, len(y)))
                right.append(np.tile(y, len(x)))
        rows, columns = np.concatenate(left), np.concatenate(right)
        order = np.argsort(rows * count + columns)
        return rows[order], columns[order]

    @cached_property
    def _lists_near(self) -> tuple[Codes, Floats]:
        """For each near pair the place of its pair of lists, and the sums of all pairs of lists that occur."""
        rows, columns = self._near
        keys = self.listed[rows] * len(self.given.lists) + self.listed[columns]
        wanted, place = np.unique(keys, return_inverse=True)
        return place, self.given.pair(wanted // len(self.given.lists), wanted % len(self.given.lists))

    @cached_property
    def _family_pair(self) -> Codes:
        """For each near pair the place of its pair of families."""
        rows, columns = self._near
        return self.families.find(self.family[rows], self.family[columns])

    @cached_property
    def _families_near(self) -> Floats:
        """4 × edit rates × near pairs of families."""
        return pair_sums(self.families, self.families.rows, self.families.columns)

    def plain(self, place: Place, values: Codes) -> Floats:
        """Return Σ_v p(v)·c_v(x)."""
        return np.asarray(self._single[0][place][values])

    def mistyped(self, place: Place, values: Codes) -> Floats:
        """Return Σ_v p(v)·t_v(x)."""
        return np.asarray(self._single[1][place][values])

    def find(self, left: Codes, right: Codes) -> Codes:
        """Return the place of each pair among the near ones, −1 for the others."""
        count, (rows, columns) = len(self.family), self._near
        keys, wanted = rows * count + columns, left * count + right
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, place, -1)

    def near_terms(self, place: Place, found: Codes) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the sums of near pairs: families times given names."""
        lists, sums = self._lists_near
        product = self._families_near[:, place[0], self._family_pair[found]] * sums[:, place[0], place[1], lists[found]]
        return product[0], product[1], product[2], product[3]

    def near(self) -> tuple[Codes, Codes]:
        """Return every pair of names with near families once."""
        rows, columns = self._near
        return rows[rows < columns], columns[rows < columns]

    def looked_at(self, place: Place, values: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
        """Return every family looked at with every list of given names looked at (see `name_truths`)."""
        names = np.array(values)
        family = family_truths(self.families, place[0], self.family[names])
        given = list_truths(self.given, place, self.listed[names])
        clean, typed = (
            (one[:, :, None] * two[:, None, :]).reshape(len(values), -1)
            for one, two in ((family.clean, given.clean), (family.typed, given.typed))
        )
        return np.outer(family.prior, given.prior).ravel(), clean, typed

    def simulate(
        self, rng: np.random.Generator, parameters: Floats, labels: Codes, distorted: NDArray[np.bool_]
    ) -> Drawn:
        """Draw true names, and what records show of them."""
        rho, (edit, drop) = self.split(parameters)
        persons = [self._draw(rng) for _ in range(int(labels.max(initial=-1)) + 1)]
        said = []
        for label, is_distorted in zip(labels.tolist(), distorted.tolist(), strict=True):
            another = is_distorted and rng.random() < rho
            name = self._draw(rng) if another else persons[label]
            rate = float(EDIT_RATES[edit]) if is_distorted and not another else 0.0
            said.append(self._show(rng, name, rate, float(DROP_RATES[drop])))
        return Drawn.of_texts([name.text for name in persons], [name.text for name in said])

    def _draw(self, rng: np.random.Generator) -> Name:
        """Draw a true name."""
        number = int(rng.choice(len(self.given.number), p=self.given.number))
        return Name(self.families.truth.draw(rng, 1)[0], tuple(self.given.draw(rng) for _ in range(number)))

    def _show(self, rng: np.random.Generator, name: Name, rate: float, drop: float) -> Name:
        """Draw what a record shows of a name."""
        shown = [given for k, given in enumerate(name.given) if rng.random() >= drop * (1.0 if k else FIRST)]
        alphabets = [tables.truth.language.alphabet for tables in (self.families, self.given.tables)]
        given = [
            given[0] if rng.random() < self.given.initials else draw_typed(rng, given, rate, alphabets[1], kept=True)
            for given in shown
        ]
        return Name(draw_typed(rng, name.family, rate, alphabets[0], kept=True), tuple(given))


def compile_names(name: str, field: PersonName, column: Column, file_of: Codes) -> PersonNameChannel:
    """Read the names of a column, count their parts, and compute the tables.

    Names that are read alike get one code. Parts are counted in each file; given frequencies take the place of the
    files.
    """
    read = [parse_name(value) for value in column.values]
    given_counts = _counted(field.frequencies)
    names = sorted({*read, *given_counts})
    place = {parsed: code for code, parsed in enumerate(names)}
    codes = np.append([place[parsed] for parsed in read], MISSING)[column.codes]
    if given_counts:
        times = np.array([[given_counts.get(parsed, 0.0) for parsed in names]])
    else:
        times = count_by_file(codes, file_of, len(names))
    families = sorted({parsed.family for parsed in names})
    of_family = {one: code for code, one in enumerate(families)}
    family = np.array([of_family[parsed.family] for parsed in names])
    lists = sorted({parsed.given for parsed in names})
    of_list = {given: code for code, given in enumerate(lists)}
    listed = np.array([of_list[parsed.given] for parsed in names])
    tokens = sorted({token for given in lists for token in given}) or ["a"]
    number = {token: code for code, token in enumerate(tokens)}
    by_family = _parts_by_file(times, [[code] for code in family], len(families))
    by_token = _parts_by_file(times, [[number[token] for token in {*parsed.given}] for parsed in names], len(tokens))
    by_list = _parts_by_file(times, [[code] for code in listed], len(lists))
    truth, given_truth = (
        string_truth(parts, largest_count(by_file), None if given_counts else others_count(by_file), empty=False)
        for parts, by_file in (
            (families, by_family),
            (tokens, by_token * np.array([len(token) > 1 for token in tokens])),
        )
    )
    tables = typing_tables(given_truth, kept=True)
    starts = np.zeros(len(given_truth.language.alphabet))
    np.add.at(starts, [given_truth.language.number[token[0]] for token in tokens], largest_count(by_token))
    given = given_names(
        tables,
        [tuple(number[token] for token in given) for given in lists],
        largest_count(by_list),
        starts,
    )
    return PersonNameChannel(
        name,
        codes,
        len(names),
        field.another,
        typing_tables(truth, kept=True),
        given,
        family,
        listed,
        field.edits,
        field.drops,
    )


def _counted(frequencies: Mapping[str, float] | str) -> dict[Name, float]:
    """Return the count of each name that frequencies are given of; the rarest counts one where they are no counts."""
    counts: dict[Name, float] = {}
    if isinstance(frequencies, Mapping):
        least = min(frequencies.values())
        whole = least >= 1 and all(float(value).is_integer() for value in frequencies.values())
        for text, value in frequencies.items():
            parsed = parse_name(text)
            counts[parsed] = counts.get(parsed, 0.0) + value / (1.0 if whole else least)
    return counts


def _parts_by_file(times: Floats, parts: list[list[int]], levels: int) -> Floats:
    """Return how often each part is in each file, files × parts; `times` is how often each name is."""
    counts = np.zeros((len(times), levels))
    for code, own in enumerate(parts):
        for part in own:
            counts[:, part] += times[:, code]
    return counts
