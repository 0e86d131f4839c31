"""Kernels over many strings or pairs of them, shared out among threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tielink.channels.language import Codes, Floats

__all__ = ["spread"]


def spread(
    kernel: Callable[..., None], before: tuple[Any, ...], pairs: tuple[Codes, ...], after: tuple[Any, ...], out: Floats
) -> None:
    """Run a kernel over parts of its pairs in threads; kernels do not hold the interpreter."""
    workers = os.cpu_count() or 1
    bounds = np.linspace(0, len(out), 8 * workers + 1).astype(np.int64)
    if len(out) < 1_000:
        kernel(*before, *pairs, *after, out)
        return

    def part(begin: int, end: int) -> None:
        kernel(*before, *(codes[begin:end] for codes in pairs), *after, out[begin:end])

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(part, bounds[:-1].tolist(), bounds[1:].tolist()))
