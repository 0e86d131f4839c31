"""Reading a person's name: who is the family, which are the given names.

What is dropped here tells nothing: case, accents, dots, commas, spacing, titles, and the order that a comma or initials
give away. "Lenzmann, B.", "B. Lenzmann" and "LENZMANN B" are one name to everything behind this file.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

__all__ = ["MOST_GIVEN", "Name", "parse_name"]

MOST_GIVEN = 4
"""Given names that are read; further ones are left out."""

IDLE = frozenset("and et al jr sr ii iii iv dr prof mr mrs ms phd md".split())
"""Words that are no part of a name."""
PARTICLES = frozenset("van von der den de del della di da dos du la le el al bin ten ter st san mac mc o y".split())
"""Words that belong to the family name behind them."""


class Name(NamedTuple):
    """A name as it is compared; a given name of one letter is an initial."""

    family: str
    given: tuple[str, ...]

    @property
    def text(self) -> str:
        """The name written out, family first."""
        return ", ".join([self.family, " ".join(self.given)]) if self.given else self.family


def parse_name(text: str) -> Name:
    """Read a name.

    >>> parse_name("Lenzmann, B.") == parse_name("B. LENZMANN") == parse_name("Lenzmann B")
    True
    >>> parse_name("J.-P. van der Berg")
    Name(family='vanderberg', given=('j', 'p'))
    """
    before, comma, after = text.partition(",")
    mixed = any(letter.islower() for letter in text)
    first, rest = _words(before, mixed), _words(after, mixed)
    if comma and rest and any(len(_plain(word)) > 1 for word in first):
        return _name(first, rest)
    words = first + rest
    if not words:
        plain = _plain(text)
        return Name(plain or text.strip() or text, ())
    long = [len(_plain(word)) > 1 for word in words]
    if len(words) > 1 and long[0] and not any(long[1:]):
        return _name(words[:1], words[1:])
    begin = len(words) - 1
    while begin > 0 and _plain(words[begin - 1]) in PARTICLES and long[begin - 1]:
        begin -= 1
    return _name(words[begin:], words[:begin])


def _name(family: list[str], given: list[str]) -> Name:
    parts = [_plain(part) for word in given for part in word.split("-")]
    return Name("".join(_plain(word) for word in family), tuple(part for part in parts if part)[:MOST_GIVEN])


def _words(text: str, mixed: bool) -> list[str]:
    """Split at spaces and dots; two or three capitals in mixed case are initials."""
    words = [word for word in re.split(r"[\s.,;]+", text) if _plain(word) and _plain(word) not in IDLE]
    split: list[str] = []
    for word in words:
        initials = mixed and word.isupper() and word.isalpha() and 2 <= len(word) <= 3 and len(words) > 1
        split += list(word) if initials else [word]
    return split


def _plain(word: str) -> str:
    """Return letters and digits alone, without case and accents."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in decomposed if letter.isalnum())
