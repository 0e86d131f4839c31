"""How often values occur among persons, before anybody knows who is whom."""

from __future__ import annotations

import numpy as np

from tielink.channels.channel import Codes, Floats
from tielink.data.columns import MISSING

__all__ = ["counts_by_file"]


def counts_by_file(codes: Codes, file_of: Codes, levels: int) -> Floats:
    """Return c(v), the largest count in any one file: a value that is in each file once counts once."""
    counts = np.zeros(levels)
    for file in np.unique(file_of):
        here = codes[(file_of == file) & (codes != MISSING)]
        counts = np.maximum(counts, np.bincount(here, minlength=levels))
    return counts
