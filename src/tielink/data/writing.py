"""One way of writing for all files: "ANNA" here and "Anna" there, or "310/246-1501" and "310-246-1501"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

__all__ = ["in_one_writing", "plainly"]

Cells = list[str | None]
TIMES, LEAST, SHARE = 3, 2, 0.1
"""A simpler writing is used if files then share so many times as many values, so many at least, and at least this share
of the values of the file that has fewest."""


def plainly(text: str) -> str:
    """Return the small letters and digits of a text, if it has any.

    >>> plainly("310/246-1501"), plainly("Anna Lee"), plainly("?")
    ('3102461501', 'annalee', '?')
    """
    return "".join(letter for letter in text.casefold() if letter.isalnum()) or text


def _whole(text: str) -> str:
    """Write 1999.0, as tools write columns of whole numbers with gaps, as 1999."""
    return re.sub(r"(?<=\d)\.0+$", "", text)


WRITINGS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("the ending .0 of whole numbers", _whole),
    ("the case of letters", str.casefold),
    ("the case of letters, punctuation and spaces", plainly),
)


def in_one_writing(files: list[Cells]) -> tuple[list[Cells], str]:
    """Return the cells of every file in one writing, and what is not told apart any more: nothing, mostly.

    >>> in_one_writing([["ANNA LEE", "TOM"], ["Tom", "Anna Lee", None]])
    ([['anna lee', 'tom'], ['tom', 'anna lee', None]], 'the case of letters')
    >>> in_one_writing([["ann", "tom"], ["tom", "Ann", "zoe"]])[1]
    ''
    """
    values = [{cell for cell in cells if cell is not None} for cells in files]
    smallest = min((len(file) for file in values if file), default=0)
    shared = _shared(values)
    if TIMES * shared > sum(map(len, values)) / 2:  # no writing could make files share so many times as many
        return files, ""
    for what, write in WRITINGS:
        simpler = _shared([{write(value) for value in file} for file in values])
        if simpler >= max(TIMES * shared, LEAST, SHARE * smallest):
            return [[None if cell is None else write(cell) for cell in cells] for cells in files], what
    return files, ""


def _shared(files: Sequence[set[str]]) -> int:
    """Return the number of values that two files and more have."""
    return sum(count > 1 for count in Counter(value for file in files for value in file).values())
