"""The channel of numbers and dates: honest values lie near the true one, distorted ones are slips or anything.

True values v and what is written, x, are points of one lattice. With ε = `unrelated`,

    c_v(x) ∝ exp(−(x − v)²/2τ²) for |x − v| ≤ 4τ (x = v for τ = 0),
    ζ_v(x) = (1 − ε)·s(x | v) + ε·p(x),

where s chooses one of the kinds of slips that v can suffer, then one slip of that kind, all equally likely; a v that
can suffer none has ε = 1. Each of c, s is a sparse matrix over (what is written, what is true), so that all sums over
v are sparse products plus terms of rank one, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tielink.channels.channel import Bound, Channel, Codes, Drawn, Fixed, Floats, Terms, Truths
from tielink.channels.lattice import Lattice
from tielink.channels.near_truths import NearTruths, near_rows, worth_keeping
from tielink.data.columns import MISSING

__all__ = ["MeasuredChannel"]

REACH = 4
"""Honest values lie within this many standard deviations of the true one."""
AT_ONCE = 50_000


@dataclass(frozen=True, eq=False)
class MeasuredChannel(Channel):
    """Numbers or dates; codes are points of the lattice. Nothing is sampled but the rates."""

    lattice: Lattice
    truth: Floats
    """p(v) of every point."""
    spread: float
    """τ, in steps of the lattice."""
    unrelated: float
    """ε: the share of distorted values that have nothing to do with the true one."""

    @cached_property
    def seen(self) -> Codes:
        """The codes that records have, increasing: the rows of all matrices below."""
        codes = np.unique(self.codes[self.codes != MISSING])
        return codes if len(codes) else np.zeros(1, dtype=np.int64)

    @cached_property
    def kernel(self) -> Floats:
        """The weight of an honest deviation −reach, …, reach."""
        reach = int(REACH * self.spread)
        away = np.arange(-reach, reach + 1)
        return np.exp(-0.5 * (away / self.spread) ** 2) if reach else np.ones(1)

    @cached_property
    def _slip_counts(self) -> NDArray[np.int64]:
        """How many slips of each kind a true value can suffer: kinds × points."""
        parts = []
        for begin in range(0, self.levels, AT_ONCE):
            codes = np.arange(begin, min(begin + AT_ONCE, self.levels))
            parts.append([np.bincount(slips.place, minlength=len(codes)) for slips in self.lattice.slips(codes)])
        return np.concatenate(parts, axis=1)

    @cached_property
    def _elsewhere(self) -> Floats:
        """ε of every true value: 1 where no slip is possible."""
        return np.where((self._slip_counts > 0).any(axis=0), self.unrelated, 1.0)

    @cached_property
    def clean(self) -> Any:
        """c_v(x), seen values × points."""
        reach = len(self.kernel) // 2
        inside = np.convolve(np.ones(self.levels), self.kernel)[reach : reach + self.levels]
        rows, away = np.indices((len(self.seen), len(self.kernel)))
        true = self.seen[:, None] + away - reach
        there = (true >= 0) & (true < self.levels)
        weight = self.kernel[away[there]] / inside[true[there]]
        return sparse.csr_array((weight, (rows[there], true[there])), (len(self.seen), self.levels))

    @cached_property
    def slipped(self) -> Any:
        """(1 − ε)·s(x | v), seen values × points; a slip leads from v to x as it leads from x to v."""
        kinds = (self._slip_counts > 0).sum(axis=0)
        total = sparse.csr_array((len(self.seen), self.levels))
        for kind, slips in enumerate(self.lattice.slips(self.seen)):
            true = slips.to
            weight = (1 - self._elsewhere[true]) / (kinds[true] * self._slip_counts[kind][true])
            total = total + sparse.csr_array((weight, (slips.place, true)), total.shape)
        return total.tocsr()

    @cached_property
    def _sums(self) -> dict[str, Any]:
        """Every sum over true values that the terms are made of."""
        p, other = self.truth, self.truth * self._elsewhere
        clean, slipped = self.clean, self.slipped
        weighted_clean, weighted_slipped = clean.multiply(p).tocsr(), slipped.multiply(p).tocsr()
        crossed = (slipped @ weighted_clean.T).tocsr()
        return {
            "clean": clean @ p,
            "slipped": slipped @ p,
            "clean, other": clean @ other,
            "slipped, other": slipped @ other,
            "other": float(other.sum()),
            "other twice": float((other * self._elsewhere).sum()),
            "clean × clean": (clean @ weighted_clean.T).tocsr(),
            "slipped × clean": crossed,
            "clean × slipped": crossed.T.tocsr(),
            "slipped × slipped": (slipped @ weighted_slipped.T).tocsr(),
        }

    def _rows(self, values: Codes) -> Codes:
        """Return the rows of codes; one that no record has (it stands in for a missing value) gets any."""
        return np.minimum(np.searchsorted(self.seen, values), len(self.seen) - 1)

    def single(self, parameters: Floats, values: Codes) -> tuple[Floats, Floats]:
        """Return Σ_v p(v)c_v(x) and Σ_v p(v)ζ_v(x)."""
        rows, sums = self._rows(values), self._sums
        return sums["clean"][rows], sums["slipped"][rows] + self.truth[values] * sums["other"]

    def pair(self, parameters: Floats, left: Codes, right: Codes) -> Terms:
        """Return the four sums: sparse products, and terms of rank one for values that are unrelated to the truth."""
        x, y, sums = self._rows(left), self._rows(right), self._sums
        anywhere_x, anywhere_y = self.truth[left], self.truth[right]
        both = anywhere_x * anywhere_y * sums["other twice"]
        both = both + anywhere_y * sums["slipped, other"][x] + anywhere_x * sums["slipped, other"][y]
        return Terms(
            _at(sums["clean × clean"], x, y),
            _at(sums["slipped × clean"], x, y) + anywhere_x * sums["clean, other"][y],
            _at(sums["clean × slipped"], x, y) + anywhere_y * sums["clean, other"][x],
            _at(sums["slipped × slipped"], x, y) + both,
        )

    def truths(self, parameters: Floats, values: Codes) -> Truths:
        """Return all points of the lattice."""
        rows = self._rows(values)
        anywhere = self.truth[values][:, None] * self._elsewhere
        return Truths(self.truth, self.clean[rows].toarray(), self.slipped[rows].toarray() + anywhere)

    def code_probability(self) -> Floats | None:
        """Return p(v) of every point."""
        return self.truth

    def near_truths(self, parameters: Floats) -> NearTruths:
        """Lay out points within the tolerance and those a likely slip away."""
        near = ((self.clean > 0) + (self.slipped > 0)).tocoo()
        rows, truth = near.row.astype(np.int64), near.col.astype(np.int64)
        order = np.lexsort((truth, rows))
        rows, truth = rows[order], truth[order]
        values, p = self.seen[rows], self.truth
        clean, slipped = _at(self.clean, rows, truth), _at(self.slipped, rows, truth)
        distorted = slipped + p[values] * self._elsewhere[truth]
        singles = np.zeros((2, self.levels))
        singles[:, self.seen] = self.single(parameters, self.seen)
        kept = worth_keeping(clean, distorted, p[truth], singles.sum(axis=0)[values], values == truth)
        far = p * self._sums["other"]
        return near_rows(values[kept], truth[kept], clean[kept], distorted[kept], p, singles[1], far)

    def bind(self, left: Codes, right: Codes) -> Bound:
        """Look the pairs up once: their terms never change."""
        return Fixed(self, left, right, self.pair(self.start(), left, right))

    def near(self) -> tuple[Codes, Codes]:
        """Return pairs of values within the tolerance of each other or a slip apart."""
        sums = self._sums
        found = (sums["clean × clean"] + sums["slipped × clean"] + sums["clean × slipped"]).tocoo()
        later = found.row < found.col
        return self.seen[found.row[later]], self.seen[found.col[later]]

    def simulate(
        self, rng: np.random.Generator, parameters: Floats, labels: Codes, distorted: NDArray[np.bool_]
    ) -> Drawn:
        """Draw true values, honest deviations from them, and slips."""
        truths, values = self.draw(rng, labels, distorted)
        return Drawn.of_texts(self.lattice.texts(truths), self.lattice.texts(values))

    def draw(self, rng: np.random.Generator, labels: Codes, distorted: NDArray[np.bool_]) -> tuple[Codes, Codes]:
        """Draw the code of every person's true value and of every record's value."""
        truths = rng.choice(self.levels, size=int(labels.max(initial=-1)) + 1, p=self.truth)
        values = truths[labels]
        anywhere = distorted & (rng.random(len(labels)) < self._elsewhere[values])
        slipped = distorted & ~anywhere
        values[slipped] = _slip(rng, self.lattice, values[slipped])
        values[anywhere] = rng.choice(self.levels, size=int(anywhere.sum()), p=self.truth)
        values[~distorted] = self._honest(rng, values[~distorted])
        return truths, values

    def _honest(self, rng: np.random.Generator, true: Codes) -> Codes:
        """Draw values near the true ones, inside the lattice."""
        near = true[:, None] + np.arange(len(self.kernel)) - len(self.kernel) // 2
        bounds = np.where((near >= 0) & (near < self.levels), self.kernel, 0.0).cumsum(axis=1)
        chosen = (rng.random(len(true))[:, None] * bounds[:, -1:] >= bounds[:, :-1]).sum(axis=1)
        return np.asarray(near[np.arange(len(true)), chosen])


def _slip(rng: np.random.Generator, lattice: Lattice, true: Codes) -> Codes:
    """Choose a kind of slip that is possible, then one of that kind, for every true value (each has some)."""
    kinds, written = lattice.slips(true), true.copy()
    counts = np.array([np.bincount(slips.place, minlength=len(true)) for slips in kinds])
    nth = rng.integers((counts > 0).sum(axis=0))
    chosen = np.argmax((counts > 0).cumsum(axis=0) > nth, axis=0)
    for kind, slips in enumerate(kinds):
        mine = np.flatnonzero(chosen == kind)
        first = np.cumsum(counts[kind]) - counts[kind]
        ordered = slips.to[np.argsort(slips.place, kind="stable")]
        written[mine] = ordered[first[mine] + rng.integers(counts[kind][mine])]
    return written


def _at(matrix: Any, rows: Codes, columns: Codes) -> Floats:
    """Read entries of a sparse matrix; a grid of all pairs of some rows and columns is cut out whole."""
    if rows.ndim == 2 and rows.strides[1] == 0 and columns.strides[0] == 0:
        return np.asarray(matrix[rows[:, 0]][:, columns[0]].toarray())
    flat = matrix[rows.ravel(), columns.ravel()]
    return np.asarray(flat.toarray() if sparse.issparse(flat) else flat).reshape(rows.shape)
