"""Time and memory of `tielink link --engine exact` on large files: two chains of 100 sweeps of warm-up and 100 draws.

The data are those of the table of growth: made people with name, place and year of birth, ten ties each, half of them
shared, two thirds in both files, a tenth of the matches known. Peak memory is that of the largest process; each chain
has one.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.large_growth import COLUMNS, growth, run

__all__ = ["COLUMNS", "TITLE", "measure"]

TITLE = "Large files: growth of the exact sampler"
SIZES = (10_000, 100_000)
EXACT = ("--engine", "exact", "--chains", "2", "--warmup", "100", "--draws", "100")


def measure() -> Iterator[tuple[str, ...]]:
    """Yield two rows for each size."""
    run(1_000, EXACT)  # compiles
    yield from growth(SIZES, "exact", EXACT)
