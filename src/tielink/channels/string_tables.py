"""Tables of the closed string field: which string is distorted into which.

With V strings of frequency γ, similarity s(v, x) = exp(−λ·min(d(x, v), d_max)) and
h(v) = 1/Σ_t γ(t)·s(v, t), a distorted value has probability ζ_v(x) = γ(x)·h(v)·s(v, x).
A cap d_max makes s a constant c = exp(−λ·d_max) plus a sparse part S, so that every sum over v below is a rank-two
term plus a sparse one, *exactly*, and a field of 20,000 strings needs only its near pairs in memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA, DamerauLevenshtein, Indel, JaroWinkler, Levenshtein
from scipy import sparse

from tielink.faults import Fault, InputError
from tielink.fields import String
from tielink.specification import is_number

__all__ = ["StringTables", "string_tables"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

SCORERS: dict[str, Any] = {
    "levenshtein": Levenshtein.distance,
    "osa": OSA.distance,
    "damerau_levenshtein": DamerauLevenshtein.distance,
    "indel": Indel.distance,
    "jaro_winkler": JaroWinkler.distance,
}


@dataclass(frozen=True, eq=False)
class StringTables:
    """Frequencies and similarities of a vocabulary, and the sums over true values that evidence needs."""

    frequencies: Floats
    """γ, summing to one."""
    floor: float
    """c: the similarity of strings at or beyond the distance cap; 0 without a cap."""
    similarity: Any
    """S[v, x] = exp(−λ·d) − c for near strings: a dense array without a cap, else a sparse one."""

    @cached_property
    def normaliser(self) -> Floats:
        """h(v) = 1/Σ_t γ(t)·s(v, t)."""
        return np.asarray(1.0 / (self.floor + self.similarity @ self.frequencies))

    @cached_property
    def mixed(self) -> Floats:
        """Σ_v γ(v)·ζ_v(x) / γ(x): how much likelier distortion makes x than its frequency says."""
        weight = self.frequencies * self.normaliser
        return np.asarray(self.floor * weight.sum() + self.similarity.T @ weight)

    @cached_property
    def _twice(self) -> tuple[float, Floats, Any]:
        """Σ_v γ(v)·h(v)²·s(v,x)·s(v,y) = c²·W + c·(w(x) + w(y)) + (SᵀWS)[x,y], as (W, w, SᵀWS)."""
        weight = self.frequencies * self.normaliser**2
        if sparse.issparse(self.similarity):
            overlap: Any = (self.similarity.T @ self.similarity.multiply(weight[:, None]).tocsr()).tocsr()
        else:
            overlap = self.similarity.T @ (weight[:, None] * self.similarity)
        return float(weight.sum()), np.asarray(self.similarity.T @ weight), overlap

    def near(self) -> tuple[Codes, Codes]:
        """Return pairs x < y whose sums differ from those of strings beyond the cap."""
        if not sparse.issparse(self.similarity):
            rows, columns = np.triu_indices(len(self.frequencies), 1)
            return rows.astype(np.int64), columns.astype(np.int64)
        found = sparse.triu(self.similarity + self.similarity.T + self._twice[2], 1).tocoo()
        return found.row.astype(np.int64), found.col.astype(np.int64)

    def distorted_to(self, value: int) -> Floats:
        """Return ζ_v(x) of one value x for every true value v."""
        near = _dense(self.similarity[:, [value]])
        return np.asarray(self.frequencies[value] * self.normaliser * (self.floor + near))

    def distorted_from(self, truth: int) -> Floats:
        """Return ζ_v(x) of one true value v for every value x."""
        near = _dense(self.similarity[[truth], :])
        return np.asarray(self.frequencies * self.normaliser[truth] * (self.floor + near))

    def one_distorted(self, truth: Codes, value: Codes) -> Floats:
        """Return γ(v)·ζ_v(x): the pair is true value and distorted copy."""
        product = self.frequencies[truth] * self.frequencies[value] * self.normaliser[truth]
        return np.asarray(product * (self.floor + _at(self.similarity, truth, value)))

    def both_distorted(self, left: Codes, right: Codes) -> Floats:
        """Return Σ_v γ(v)·ζ_v(x)·ζ_v(y): both values are distorted copies of one truth."""
        total, single, overlap = self._twice
        shared = self.floor**2 * total + self.floor * (single[left] + single[right]) + _at(overlap, left, right)
        return np.asarray(self.frequencies[left] * self.frequencies[right] * shared)


def _at(matrix: Any, rows: Codes, columns: Codes) -> Floats:
    """Read entries of a dense or sparse matrix."""
    return _dense(matrix[rows, columns])


def _dense(entries: Any) -> Floats:
    """Return the entries of a part of a dense or sparse matrix as one plain row."""
    return np.asarray(entries.toarray() if sparse.issparse(entries) else entries).ravel()


def string_tables(field: String, strings: Sequence[str], frequencies: Floats) -> StringTables:
    """Compute the tables of a vocabulary."""
    cap = field.cap(len(strings))
    floor = math.exp(-field.sharpness * cap)
    blocks = []
    step = max(1, 4_000_000 // max(1, len(strings)))
    for start in range(0, len(strings), step):
        distances = _distances(field.distance, strings[start : start + step], strings, cap)
        near = np.where(distances < cap, np.exp(-field.sharpness * distances) - floor, 0.0)
        blocks.append(near if math.isinf(cap) else sparse.csr_array(near))
    similarity = np.vstack(blocks) if math.isinf(cap) else sparse.vstack(blocks, format="csr")
    return StringTables(frequencies, floor, similarity)


def _distances(
    distance: str | Callable[[str, str], float], rows: Sequence[str], columns: Sequence[str], cap: float
) -> Floats:
    """Return d(rows, columns), with anything beyond the cap at least the cap."""
    if callable(distance):
        given = [[distance(column, row) for column in columns] for row in rows]
        if not all(is_number(value, above=-1e-9) for line in given for value in line):
            raise InputError([Fault("distance", "is not always a number of at least 0.", "Mend the given function.")])
        return np.array(given, dtype=float)
    whole = distance != "jaro_winkler"
    beyond = None if math.isinf(cap) else math.ceil(cap) if whole else min(cap, 1.0)
    found = process.cdist(
        list(rows),
        list(columns),
        scorer=SCORERS[distance],
        score_cutoff=beyond,
        dtype=np.int32 if whole else np.float64,
        workers=-1,
    )
    return found.astype(np.float64)
