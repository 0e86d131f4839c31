"""From a column of numbers or dates to its channel: the lattice they live on, and how frequent they are."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np

from tielink.channels.channel import Channel, Codes
from tielink.channels.counts import count_by_file, largest_count, others_count
from tielink.channels.lattice import DateLattice, Lattice, NumberLattice
from tielink.channels.measured import REACH, MeasuredChannel
from tielink.channels.measured_truth import smooth_truth
from tielink.data.columns import MISSING, Column
from tielink.data.measures import read_dates, read_numbers
from tielink.faults import Faults, listed
from tielink.fields import Date, Measured

__all__ = ["compile_measured"]

MOST_POINTS = 1_000_000
"""Points of the longest lattice."""


def compile_measured(name: str, field: Measured, column: Column, file_of: Codes, faults: Faults) -> Channel | None:
    """Compile numbers or dates; values that are none of these go on the list of faults."""
    read = _days if isinstance(field, Date) else _numbers
    found = read(name, field, column, faults)
    if found is None:
        return None
    lattice, points, spread = found
    codes = np.append(points, MISSING)[column.codes]
    by_file = count_by_file(codes, file_of, lattice.size)
    if not by_file.any():  # nobody says anything yet: each value that could be said counts once
        np.add.at(by_file[0], points, 1)
    truth = smooth_truth(largest_count(by_file), others_count(by_file), spread)
    return MeasuredChannel(name, codes, lattice.size, field.another, lattice, truth, spread)


def _numbers(name: str, field: Measured, column: Column, faults: Faults) -> tuple[Lattice, Codes, float] | None:
    texts = read_numbers(column.values)
    if _refused(name, "number", "Write numbers as 1234.5.", column, texts, faults):
        return None
    values = [Decimal(text) for text in texts if text is not None]
    exponent = min((-len(str(value).partition(".")[2]) for value in values), default=0)
    if field.tolerance > 0:
        # Steps of a power of ten between τ/20 and τ/2: finer ones would only cost memory.
        exponent = max(exponent, math.floor(math.log10(field.tolerance / 2)))
    step = Decimal(1).scaleb(exponent)
    points = [int((value / step).to_integral_value(ROUND_HALF_EVEN)) for value in values]
    spread = field.tolerance / float(step)
    margin = math.ceil(REACH * spread)
    low, high = min(points) - margin, max(points) + margin
    if min(points) >= 0:
        low = max(low, 0)
    if high - low >= MOST_POINTS:
        faults.error(
            f"field {name!r}",
            f"its numbers span {high - low:,} steps of {step}; {MOST_POINTS:,} are the most.",
            "Give a tolerance (numbers are then read to coarser steps), or declare String() or Categorical().",
        )
        return None
    return NumberLattice(low, high - low + 1, exponent), np.array(points, dtype=np.int64) - low, spread


def _days(name: str, field: Measured, column: Column, faults: Faults) -> tuple[Lattice, Codes, float] | None:
    assert isinstance(field, Date)
    texts = read_dates(column.values).values
    if field.format != "auto" and None in texts:
        texts = read_dates(column.values, field.format).values
    if _refused(name, "date", "Write dates as 1990-05-17, or say their format.", column, texts, faults):
        return None
    days = np.array(texts, dtype="datetime64[D]")
    first, last = days.min().astype("datetime64[Y]"), days.max().astype("datetime64[Y]") + 1
    low = int(first.astype("datetime64[D]").astype(np.int64))
    size = int(last.astype("datetime64[D]").astype(np.int64)) - low
    if size > MOST_POINTS:
        faults.error(f"field {name!r}", f"its dates span {size // 365:,} years.", "Mend or leave out dates so far off.")
        return None
    return DateLattice(low, size), days.astype(np.int64) - low, float(field.tolerance)


def _refused(name: str, what: str, do: str, column: Column, texts: list[str | None], faults: Faults) -> bool:
    """Report the values that could not be read; whether there are any, or none at all."""
    bad = [repr(value) for value, text in zip(column.values, texts, strict=True) if text is None]
    if bad:
        faults.error(f"field {name!r}", f"{len(bad):,} of its values are no {what}: {listed(bad)}.", do)
    return bool(bad) or not texts
