"""The values a measured field can have, as whole numbers in a row, and the slips of the hand between them.

Every kind of slip is symmetric: if x can be written for v by it, so can v for x.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["DateLattice", "Lattice", "NumberLattice", "Slips"]

Codes = NDArray[np.int64]


class Slips(NamedTuple):
    """Slips of one kind: value number `place` of those asked for may be written as code `to`."""

    place: Codes
    to: Codes


@dataclass(frozen=True)
class Lattice(ABC):
    """The whole numbers from `low` on, `size` of them; codes count from 0."""

    low: int
    size: int

    @abstractmethod
    def slips(self, codes: Codes) -> list[Slips]:
        """Return, for each kind of slip, which codes may be written for each of these."""

    @abstractmethod
    def texts(self, codes: Codes) -> list[str]:
        """Return the values as they are written."""

    def _inside(self, made: Iterable[tuple[Codes, Codes]]) -> Slips:
        """Put slips of one kind together, leaving out those that lead outside of the lattice."""
        places, numbers = zip(*made, strict=True)
        place, code = np.concatenate(places), np.concatenate(numbers) - self.low
        inside = (code >= 0) & (code < self.size)
        return Slips(place[inside], code[inside])


@dataclass(frozen=True)
class NumberLattice(Lattice):
    """Numbers low·10^exponent, (low + 1)·10^exponent, …: a slip replaces a digit or swaps two neighbouring ones."""

    exponent: int = 0

    def slips(self, codes: Codes) -> list[Slips]:
        """Return slips that replace one digit, and slips that swap two; the sign and the number of digits stay."""
        numbers = codes + self.low
        kinds = []
        for made in (_replaced, _swapped):
            parts = []
            for sign in (-1, 1):
                mine = np.flatnonzero(numbers * sign >= (sign < 0))
                changed = ((mine[place], number) for place, number in made(numbers[mine] * sign))
                parts += [
                    (place[number >= (sign < 0)], sign * number[number >= (sign < 0)]) for place, number in changed
                ]
            kinds.append(self._inside(parts))
        return kinds

    def texts(self, codes: Codes) -> list[str]:
        """Return plain decimal numbers."""
        step = Decimal(1).scaleb(self.exponent)
        return [format(Decimal(int(code) + self.low) * step, "f") for code in codes]


def _replaced(numbers: Codes, width: int = 0) -> Iterator[tuple[Codes, Codes]]:
    """Yield numbers with one digit replaced; a leading zero appears only in numbers of one digit or a fixed width."""
    places = np.arange(len(numbers))
    for power in range(width or len(str(int(numbers.max(initial=0))))):
        unit = 10**power
        digit = numbers // unit % 10
        long = (numbers >= unit) | (power == 0) | (width > 0)
        leading = (numbers < 10 * unit) & (power > 0) & (width == 0)
        for new in range(10):
            chosen = long & (digit != new) & ~(leading & (new == 0))
            yield places[chosen], numbers[chosen] + (new - digit[chosen]) * unit


def _swapped(numbers: Codes, powers: tuple[int, ...] = ()) -> Iterator[tuple[Codes, Codes]]:
    """Yield numbers with two neighbouring digits swapped, the lower one at 10^power; no leading zero appears."""
    places = np.arange(len(numbers))
    for power in powers or range(max(1, len(str(int(numbers.max(initial=0)))) - 1)):
        unit = 10**power
        lower, upper = numbers // unit % 10, numbers // (10 * unit) % 10
        leading = (numbers < 100 * unit) & (not powers)
        chosen = ((numbers >= 10 * unit) | bool(powers)) & (lower != upper) & ~(leading & (lower == 0))
        yield places[chosen], numbers[chosen] + (lower - upper)[chosen] * 9 * unit


@dataclass(frozen=True)
class DateLattice(Lattice):
    """Days, counted from 1970-01-01: a slip leads to another day that there is.

    A digit of YYYYMMDD replaced; neighbouring digits of year, month or day swapped; day and month exchanged; the year
    one too low or too high; another day, another month, another year.
    """

    def slips(self, codes: Codes) -> list[Slips]:
        """Return the slips of the seven kinds."""
        day = (codes + self.low).astype("datetime64[D]")
        year = day.astype("datetime64[Y]").astype(np.int64) + 1970
        month = day.astype("datetime64[M]").astype(np.int64) % 12 + 1
        written = (year * 100 + month) * 100 + (day - day.astype("datetime64[M]")).astype(np.int64) + 1
        return [
            self._inside(_days(made))
            for made in (
                _replaced(written, 8),
                _swapped(written, (0, 2, 4, 5, 6)),
                _turned(written),
                _shifted(written),
                _other(written, 1, range(1, 32)),
                _other(written, 100, range(1, 13)),
                _other(written, 10_000, self._years),
            )
        ]

    @property
    def _years(self) -> range:
        """The years that the lattice spans."""
        ends = np.array([self.low, self.low + self.size - 1]).astype("datetime64[D]").astype("datetime64[Y]")
        first, last = (ends.astype(np.int64) + 1970).tolist()
        return range(first, last + 1)

    def texts(self, codes: Codes) -> list[str]:
        """Return ISO dates."""
        return [str(day) for day in (np.asarray(codes) + self.low).astype("datetime64[D]")]


def _turned(written: Codes) -> Iterator[tuple[Codes, Codes]]:
    """Yield YYYYMMDD as YYYYDDMM where the two differ."""
    month, day = written // 100 % 100, written % 100
    chosen = np.flatnonzero(month != day)
    yield chosen, (written // 10_000 * 10_000 + day * 100 + month)[chosen]


def _other(written: Codes, unit: int, values: range) -> Iterator[tuple[Codes, Codes]]:
    """Yield YYYYMMDD with the day (unit 1), month (100) or year (10,000) replaced by every other value."""
    part = written // unit % (10_000 if unit == 10_000 else 100)
    for value in values:
        chosen = np.flatnonzero(part != value)
        yield chosen, (written + (value - part) * unit)[chosen]


def _shifted(written: Codes) -> Iterator[tuple[Codes, Codes]]:
    """Yield the same day of the year before and of the year after."""
    for years in (-1, 1):
        yield np.arange(len(written)), written + years * 10_000


def _days(made: Iterator[tuple[Codes, Codes]]) -> Iterator[tuple[Codes, Codes]]:
    """Turn YYYYMMDD into days since 1970-01-01, leaving out days that there are not."""
    for place, written in made:
        year, month, day = written // 10_000, written // 100 % 100, written % 100
        months = (year - 1970) * 12 + month - 1
        first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        length = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) - first
        real = (month >= 1) & (month <= 12) & (day >= 1) & (day <= length)
        yield place[real], (first + day - 1)[real]
