"""Numbers and dates in cells: what they mean, in one form of writing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import NamedTuple

__all__ = ["Dates", "date_order", "read_dates", "read_numbers"]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?")
ISO = re.compile(r"(\d{4})([-/.]?)(\d{2})\2(\d{2})([T ].*)?")
SINGLE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
PARTS = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")


COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")


def read_numbers(texts: Sequence[str | None]) -> list[str | None]:
    """Return the numbers of one file in their plainest form, None where a text is none.

    A comma is a decimal comma or parts thousands, as all texts allow; where both could be (1,234), texts are none.

    >>> read_numbers(["007.50", "1e3", "1,234", "ten"])
    ['7.5', '1000', None, None]
    >>> read_numbers(["1,75", "1,804", "1.001,5"]), read_numbers(["1,234", "1,234.50"])
    (['1.75', '1.804', '1001.5'], ['1234', '1234.5'])
    """
    commas = [text.strip() for text in texts if text is not None and "," in text]
    forms = {(bool(COMMA.fullmatch(text)), bool(THOUSANDS.fullmatch(text))) for text in commas}
    decimal, thousands = (True, False) in forms, (False, True) in forms
    plain: Callable[[str], str] = str
    if decimal and not thousands:
        plain = _with_point
    elif thousands and not decimal:
        plain = partial(re.sub, ",", "")
    return [None if text is None else _number(plain(text)) for text in texts]


def _with_point(text: str) -> str:
    return text.replace(".", "").replace(",", ".") if "," in text else text


def _number(text: str) -> str | None:
    stripped = text.strip()
    if len(stripped) > 300:
        return None  # Python itself gives up on numbers of thousands of digits
    if stripped.isdecimal() and stripped.isascii() and stripped[0] != "0":
        return stripped  # as most are
    if not NUMBER.fullmatch(stripped):
        return None
    plain = format(Decimal(stripped), "f")
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if plain in ("-0", "") else plain


class Dates(NamedTuple):
    """Dates in ISO form, None where a text is no date, and what is to be said of how they were read."""

    values: list[str | None]
    order: str
    """"day first", "month first", "either" where the two cannot be told apart, "both" where texts contradict; or ""."""


def read_dates(texts: Sequence[str | None], form: str = "auto") -> Dates:
    """Read the dates of one file; numbers such as 03/04/1990 are read in the order that all of them allow.

    >>> read_dates(["1990-05-17", "19900517", "17.5.1990", "05/17/1990", "soon"]).values
    ['1990-05-17', '1990-05-17', '1990-05-17', '1990-05-17', None]
    """
    if form != "auto":
        return Dates([None if text is None else _by_form(text, form) for text in texts], "")
    order = date_order(text for text in texts if text is not None)
    return Dates([None if text is None else _guessed(text.strip(), order == "month first") for text in texts], order)


def date_order(texts: Iterable[str]) -> str:
    """Say in which order days and months stand in texts such as 17/05/1990 (see `Dates`)."""
    found = [match for match in (PARTS.fullmatch(text.strip()) for text in texts) if match and match[2] != "."]
    day_first = any(int(match[1]) > 12 for match in found)
    month_first = any(int(match[3]) > 12 for match in found)
    if not found:
        return ""
    return {(1, 1): "both", (1, 0): "day first", (0, 1): "month first", (0, 0): "either"}[day_first, month_first]


def _by_form(text: str, form: str) -> str | None:
    try:
        return datetime.strptime(text.strip(), form).date().isoformat()
    except ValueError:
        return None


def _guessed(text: str, month_first: bool) -> str | None:
    """Read one date; days come first in 17.05.1990 whatever the others say."""
    if match := ISO.fullmatch(text):
        parts = match[1], match[3], match[4]
    elif match := SINGLE.fullmatch(text):
        parts = match[1], match[2], match[3]
    elif match := PARTS.fullmatch(text):
        first, second = (match[1], match[3]) if month_first and match[2] != "." else (match[3], match[1])
        parts = match[4], first, second
    else:
        return None
    try:
        return date(*map(int, parts)).isoformat()
    except ValueError:
        return None
