"""Time and memory of compiling one open string field of two files, all strings different; made usernames."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator

import numpy as np

from tielink.channels.affix_tables import affix_tables
from tielink.channels.near_strings import sharing_pairs
from tielink.channels.string_truth import string_truth
from tielink.channels.typing_tables import typing_tables
from tielink.simulate.vocabulary import usernames

TITLE = "Many strings"
COLUMNS = ("distinct strings", "near pairs", "seconds", "peak memory of the process so far, GB")


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each size."""
    for count in (2_000, 10_000, 40_000):
        strings = sorted(usernames(np.random.default_rng(1), count, variants=1))[:count]
        begin = time.perf_counter()
        tables = typing_tables(string_truth(strings, np.ones(count)), besides=sharing_pairs(strings))
        affix_tables(tables)
        seconds = time.perf_counter() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        yield f"{count:,}", f"{(len(tables.rows) - count) // 2:,}", f"{seconds:.0f}", f"{peak:.1f}"
