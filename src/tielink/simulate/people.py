"""Two made files of people with names, addresses and birthdays, and the slips that clerks make when they copy them.

Nothing here is drawn from a model of tielink's: words are put together from syllables, frequencies are skewed as those
of real names and places are, and a copy has typing errors, misread letters, swapped names, gaps, and now and then
another address altogether.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["FIELDS", "People", "mistyped", "people", "skewed_places", "words"]

FIELDS = ("given_name", "surname", "street", "suburb", "postcode", "state", "date_of_birth")
STATES = ("aa", "bo", "ca", "du", "el", "fo", "gi", "ha")
ONSETS = "b br c ch d dr f g gr h j k kl l m n p ph r s sh st t th tr v w z".split()
NUCLEI = "a e i o u ai ea ee ie oo ou".split()
CODAS = ["", "", "", "n", "l", "r", "s", "m", "t", "ck", "nd", "rt", "ll"]
MISREAD = (("m", "rn"), ("cl", "d"), ("ph", "f"), ("i", "l"), ("ck", "k"), ("ee", "ea"), ("0", "o"), ("1", "l"))
SLIPS = np.cumsum((0.2, 0.2, 0.2, 0.15, 0.1, 0.03, 0.12))
"""Which fields errors are in: cumulative shares, in the order of `FIELDS`."""
KEYS = "abcdefghijklmnopqrstuvwxyz"
Row = dict[str, str | None]


class People(NamedTuple):
    """Frames by file with `id` and the seven fields, and the true matches as pairs of ids."""

    frames: dict[str, pl.DataFrame]
    matches: list[tuple[str, str]]


def people(
    rng: np.random.Generator,
    sizes: tuple[int, int] = (5000, 5000),
    overlap: int = 5000,
    missing: float = 0.04,
    *,
    nested: bool = False,
) -> People:
    """Make two files that share `overlap` persons; the second holds copies with errors.

    Parameters
    ----------
    rng
        Source of randomness.
    sizes
        Records of the two files.
    overlap
        Persons with a record in both.
    missing
        Share of values that are missing in either file, besides those that an error takes away.
    nested
        Whether a suburb has one postcode, and a postcode lies in one state. Such fields say the same thing three times,
        which a model of independent fields takes for three pieces of evidence.
    """
    persons = sizes[0] + sizes[1] - overlap
    world = _World(rng, persons, nested)
    rows = [world.person() for _ in range(persons)]
    first = [dict(row) for row in rows[: sizes[0]]]
    second = [world.copied(row) for row in rows[sizes[0] - overlap :]]
    files = {}
    for name, records in (("original", first), ("copy", second)):
        order = rng.permutation(len(records))
        ids = np.empty(len(records), dtype=np.int64)
        ids[order] = np.arange(len(records))
        files[name] = ([_with_gaps(rng, records[place], missing) for place in order], ids)
    frames = {
        name: pl.DataFrame(
            {"id": [f"{name}-{number}" for number in range(len(records))]}
            | {field: [record[field] for record in records] for field in FIELDS},
            schema=dict.fromkeys(("id", *FIELDS), pl.String),
        )
        for name, (records, _) in files.items()
    }
    left, right = files["original"][1][sizes[0] - overlap :], files["copy"][1][:overlap]
    return People(frames, [(f"original-{a}", f"copy-{b}") for a, b in zip(left, right, strict=True)])


def _one(rng: np.random.Generator, words: Sequence[str]) -> str:
    """Draw one; `rng.choice` does the same, many times slower."""
    return words[int(rng.integers(len(words)))]


def words(rng: np.random.Generator, count: int, syllables: tuple[int, int]) -> list[str]:
    """Make different words of so many syllables."""
    found: dict[str, None] = {}
    while len(found) < count:
        parts = [
            _one(rng, ONSETS) + _one(rng, NUCLEI) + (_one(rng, CODAS) if rng.random() < 0.5 else "")
            for _ in range(rng.integers(syllables[0], syllables[1] + 1))
        ]
        found["".join(parts)] = None
    return list(found)


def _bounds(count: int) -> NDArray[np.float64]:
    """Return cumulative frequencies ∝ 1/(rank + 5)."""
    weight = 1 / (np.arange(count) + 5.0)
    return np.asarray(np.cumsum(weight / weight.sum()))


def skewed_places(rng: np.random.Generator, count: int, size: int) -> NDArray[np.int64]:
    """Draw so many places of words that are as skewed in frequency as names and places roughly are."""
    return np.minimum(np.searchsorted(_bounds(count), rng.random(size)), count - 1)


class _Skewed:
    """Words with frequencies ∝ 1/(rank + 5), as those of names and places roughly are."""

    def __init__(self, rng: np.random.Generator, words: list[str]) -> None:
        self.rng, self.words = rng, words
        self.bounds = _bounds(len(words))

    def draw(self) -> int:
        """Draw the place of a word."""
        return min(int(np.searchsorted(self.bounds, self.rng.random())), len(self.words) - 1)

    def word(self) -> str:
        """Draw a word."""
        return self.words[self.draw()]


class _World:
    """Names and places, persons made of them, and copies of persons."""

    def __init__(self, rng: np.random.Generator, persons: int, nested: bool) -> None:
        self.rng, self.nested = rng, nested
        self.given = _Skewed(rng, words(rng, 500, (1, 3)))
        self.surnames = _Skewed(rng, words(rng, max(500, persons // 2), (2, 3)))
        self.streets = _Skewed(rng, words(rng, max(300, persons // 4), (2, 3)))
        self.suburbs = _Skewed(rng, words(rng, max(100, persons // 8), (2, 4)))
        codes = rng.integers(100, 900, size=len(self.suburbs.words))
        self.states = [STATES[int(code) % len(STATES)] for code in codes]
        self.postcodes = [f"{STATES.index(state) + 1}{code}" for state, code in zip(self.states, codes, strict=True)]

    def person(self) -> Row:
        """Draw a person."""
        year, day = 1920 + int(85 * self.rng.beta(2, 1.6)), int(self.rng.integers(365))
        date = np.datetime64(f"{year}-01-01") + day
        return {
            "given_name": self.given.word(),
            "surname": self.surnames.word(),
            "date_of_birth": str(date),
            **self.home(),
        }

    def home(self) -> Row:
        """Draw an address."""
        place = self.suburbs.draw()
        code, state = (place, place) if self.nested else (self.suburbs.draw(), self.suburbs.draw())
        return {
            "street": self.streets.word(),
            "suburb": self.suburbs.words[place],
            "postcode": self.postcodes[code],
            "state": self.states[state],
        }

    def copied(self, original: Row) -> Row:
        """Copy a person, with a handful of errors at most."""
        rng, copy = self.rng, dict(original)
        if rng.random() < 0.03:
            copy |= self.home()
        if rng.random() < 0.02:
            copy["given_name"], copy["surname"] = copy["surname"], copy["given_name"]
        for _ in range(min(int(rng.geometric(0.45)) - 1, 5)):
            field = FIELDS[min(int(np.searchsorted(SLIPS, rng.random(), side="right")), len(FIELDS) - 1)]
            value = copy[field]
            if value is None:
                continue
            if field == "state":
                copy[field] = _one(rng, STATES)
            elif rng.random() < 0.12:
                copy[field] = None
            elif field == "date_of_birth":
                copy[field] = _misdated(rng, value)
            else:
                slips: tuple[Callable[[np.random.Generator, str], str], ...] = (mistyped, mistyped, _misread)
                copy[field] = slips[rng.integers(3)](rng, value)
        return copy


def mistyped(rng: np.random.Generator, value: str) -> str:
    """Insert, drop, replace or transpose characters."""
    place = int(rng.integers(len(value)))
    key = str(rng.integers(10)) if value[place].isdigit() else KEYS[rng.integers(len(KEYS))]
    head, tail = value[:place], value[place + 1 :]
    slips = (head + key + value[place:], head + tail, head + key + tail, head + tail[:1] + value[place] + tail[1:])
    return slips[rng.integers(4)] or value


def _misread(rng: np.random.Generator, value: str) -> str:
    """Take one letter for another that looks or sounds like it."""
    pairs = [pair for pair in (*MISREAD, *((b, a) for a, b in MISREAD)) if pair[0] in value]
    if not pairs:
        return mistyped(rng, value)
    seen, read = pairs[rng.integers(len(pairs))]
    return value.replace(seen, read, 1)


def _misdated(rng: np.random.Generator, value: str) -> str:
    """Swap day and month where that is a date, or get one of the two numbers or the year wrong."""
    year, month, day = value.split("-")
    kind = rng.integers(4)
    if kind == 0 and int(day) <= 12:
        return f"{year}-{day}-{month}"
    if kind == 1:
        return f"{int(year) + int(rng.choice([-10, -1, 1, 10]))}-{month}-{min(int(day), 28):02d}"
    if kind == 2:
        return f"{year}-{1 + int(rng.integers(12)):02d}-{min(int(day), 28):02d}"
    return f"{year}-{month}-{1 + int(rng.integers(28)):02d}"


def _with_gaps(rng: np.random.Generator, row: Row, missing: float) -> Row:
    """Take values away at random."""
    return {field: None if rng.random() < missing else value for field, value in row.items()}
