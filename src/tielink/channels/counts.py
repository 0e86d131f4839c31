"""How often values occur among persons, before anybody knows who is whom.

A value that is in each file once may well be one person's, so of several files the largest count counts. And what a
record says is no sign that somebody else says it too: its price comes from the other records.
"""

from __future__ import annotations

import numpy as np

from tielink.channels.channel import Codes, Floats
from tielink.data.columns import MISSING

__all__ = ["count_by_file", "discount", "largest_count", "others_count"]


def count_by_file(codes: Codes, file_of: Codes, levels: int) -> Floats:
    """Return how often each value is in each file: files × values."""
    own = [codes[(file_of == file) & (codes != MISSING)] for file in np.unique(file_of)]
    return np.array([np.bincount(here, minlength=levels) for here in own], dtype=float).reshape(len(own), levels)


def largest_count(by_file: Floats) -> Floats:
    """Return c(v), the largest count in any one file."""
    return np.asarray(by_file.max(axis=0, initial=0.0))


def others_count(by_file: Floats) -> Floats:
    """Return o(v), the largest count in any one file once a record that says v is set aside: its mean over those.

    A value in one file alone, once, is nobody else's; one that is in two files once has one other each.

    >>> others_count(np.array([[1.0, 1.0, 2.0, 2.0], [0.0, 1.0, 0.0, 1.0]])).round(2).tolist()
    [0.0, 1.0, 1.0, 1.33]
    """
    total = np.zeros(by_file.shape[1])
    for file, own in enumerate(by_file):
        elsewhere = largest_count(np.delete(by_file, file, axis=0))
        total += own * np.maximum(own - 1, elsewhere)
    return np.asarray(total / np.maximum(by_file.sum(axis=0), 1))


def discount(counts: Floats) -> float:
    """Return D = n₁/(n₁ + 2n₂), from the numbers of values counted once and twice: what a count gives to others.

    This is absolute discounting (Ney, Essen and Kneser 1994). Where nothing is counted once, or neither once nor twice,
    half a value stands in: some mass is always left for values that were not counted. Numbers that are no counts were
    scaled before, and are taken to the nearest one.
    """
    near = np.rint(counts)
    once, twice = max(float((near == 1).sum()), 0.5), float((near == 2).sum())
    return once / (once + 2 * (twice if (near == 1).any() else max(twice, 0.5)))
