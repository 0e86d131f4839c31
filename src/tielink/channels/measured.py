"""The channel of numbers and dates: honest values lie near the true one, distorted ones are slips or anything.

True values v and what is written, x, are points of one lattice. With q(x) = Σ_v p(v)·c_v(x), what anybody honest says,

    c_v(x) ∝ exp(−(x − v)²/2τ²) for |x − v| ≤ 4τ (x = v for τ = 0),
    ζ_v(x) = (1 − ρ)·s(x | v) + ρ·q(x),

where s chooses one of the kinds of slips that v can suffer, then one slip of that kind, all equally likely; a v that
can suffer none stays as it is. Each of c, s is a sparse matrix over (what is written, what is true), so that all sums
over v are sparse products plus terms of rank one, exactly. The one parameter is ρ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tielink.channels.channel import Codes, Drawn, Floats
from tielink.channels.distorted_mixture import REMEMBERED, MixtureChannel, Place
from tielink.channels.lattice import Lattice
from tielink.channels.near_truths import NearTruths, near_rows, worth_keeping
from tielink.data.columns import MISSING

__all__ = ["MeasuredChannel"]

REACH = 4
"""Honest values lie within this many standard deviations of the true one."""
AT_ONCE = 50_000


@dataclass(frozen=True, eq=False)
class MeasuredChannel(MixtureChannel):
    """Numbers or dates; codes are points of the lattice."""

    lattice: Lattice
    truth: Floats
    """p(v) of every point."""
    spread: float
    """τ, in steps of the lattice."""
    _groups: dict[tuple[int, ...], tuple[Floats, Floats, Floats]] = field(default_factory=dict)

    @property
    def grids(self) -> tuple[tuple[Floats, Floats], ...]:
        """No rate lives on a grid."""
        return ()

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
        """s(x | v), seen values × points; a slip leads from v to x as it leads from x to v."""
        kinds = (self._slip_counts > 0).sum(axis=0)
        firm = np.flatnonzero(kinds[self.seen] == 0)
        total = sparse.csr_array((np.ones(len(firm)), (firm, self.seen[firm])), (len(self.seen), self.levels))
        for kind, slips in enumerate(self.lattice.slips(self.seen)):
            weight = 1.0 / (kinds[slips.to] * self._slip_counts[kind][slips.to])
            total = total + sparse.csr_array((weight, (slips.place, slips.to)), total.shape)
        return total.tocsr()

    @cached_property
    def _singles(self) -> tuple[Floats, Floats]:
        """q(x) and Σ_v p(v)·s(x | v) of every seen value."""
        return self.clean @ self.truth, self.slipped @ self.truth

    @cached_property
    def _pairs(self) -> tuple[Any, Any, Any]:
        """Σ p·c(x)c(y), Σ p·s(x)c(y) and Σ p·s(x)s(y) of all pairs of seen values."""
        clean, slipped = (part.multiply(self.truth).tocsr().T for part in (self.clean, self.slipped))
        return (self.clean @ clean).tocsr(), (self.slipped @ clean).tocsr(), (self.slipped @ slipped).tocsr()

    @cached_property
    def _row_of(self) -> Codes:
        """The row of every code; one that no record has (it stands in for a missing value) gets any."""
        return np.minimum(np.searchsorted(self.seen, np.arange(self.levels)), len(self.seen) - 1)

    def _rows(self, values: Codes) -> Codes:
        return np.asarray(self._row_of[values])

    def plain(self, place: Place, values: Codes) -> Floats:
        """Return q(x)."""
        return np.asarray(self._singles[0][self._rows(values)])

    def mistyped(self, place: Place, values: Codes) -> Floats:
        """Return Σ_v p(v)·s(x | v)."""
        return np.asarray(self._singles[1][self._rows(values)])

    def find(self, left: Codes, right: Codes) -> Codes:
        """Return the place of each pair in a table of all."""
        return self._rows(left) * len(self.seen) + self._rows(right)

    def near_terms(self, place: Place, found: Codes) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the four sums: all of them are sparse products."""
        (x, y), (clean, crossed, slipped) = np.divmod(found, len(self.seen)), self._pairs
        return _at(clean, x, y), _at(crossed, x, y), _at(crossed, y, x), _at(slipped, x, y)

    def looked_at(self, place: Place, values: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
        """Return the points that any of the values may stand for: nothing is neglected."""
        if values not in self._groups:
            rows = self._rows(np.array(values))
            clean, slipped = self.clean[rows], self.slipped[rows]
            points = np.union1d(clean.indices, slipped.indices)
            if len(self._groups) > REMEMBERED:
                self._groups.clear()
            self._groups[values] = self.truth[points], clean[:, points].toarray(), slipped[:, points].toarray()
        return self._groups[values]

    def code_probability(self) -> Floats | None:
        """Return p(v) of every point."""
        return self.truth

    def near_truths(self, parameters: Floats) -> NearTruths:
        """Lay out points within the tolerance and those a likely slip away."""
        rho, _ = self.split(parameters)
        near = ((self.clean > 0) + (self.slipped > 0)).tocoo()
        rows, truth = near.row.astype(np.int64), near.col.astype(np.int64)
        order = np.lexsort((truth, rows))
        rows, truth = rows[order], truth[order]
        values, singles, other = self.seen[rows], np.zeros((2, self.levels)), np.zeros(self.levels)
        singles[:, self.seen] = self.single(parameters, self.seen)
        other[self.seen] = rho * self._singles[0]
        clean, distorted = _at(self.clean, rows, truth), (1 - rho) * _at(self.slipped, rows, truth) + other[values]
        kept = worth_keeping(clean, distorted, self.truth[truth], singles.sum(axis=0)[values], values == truth)
        return near_rows(values[kept], truth[kept], clean[kept], distorted[kept], self.truth, singles[1], other)

    def near(self) -> tuple[Codes, Codes]:
        """Return pairs of values within the tolerance of each other or a slip apart."""
        clean, crossed, _ = self._pairs
        found = (clean + crossed + crossed.T).tocoo()
        later = found.row < found.col
        return self.seen[found.row[later]], self.seen[found.col[later]]

    def simulate(
        self, rng: np.random.Generator, parameters: Floats, labels: Codes, distorted: NDArray[np.bool_]
    ) -> Drawn:
        """Draw true values, honest deviations from them, and slips."""
        truths, values = self.draw(rng, self.split(parameters)[0], labels, distorted)
        return Drawn.of_texts(self.lattice.texts(truths), self.lattice.texts(values))

    def draw(
        self, rng: np.random.Generator, rho: float, labels: Codes, distorted: NDArray[np.bool_]
    ) -> tuple[Codes, Codes]:
        """Draw the code of every person's true value and of every record's value."""
        truths = rng.choice(self.levels, size=int(labels.max(initial=-1)) + 1, p=self.truth)
        values = truths[labels]
        other = distorted & (rng.random(len(labels)) < rho)
        slipped = distorted & ~other
        values[slipped] = _slip(rng, self.lattice, values[slipped])
        values[other] = rng.choice(self.levels, size=int(other.sum()), p=self.truth)
        values[~slipped] = self._honest(rng, values[~slipped])
        return truths, values

    def _honest(self, rng: np.random.Generator, true: Codes) -> Codes:
        """Draw values near the true ones, inside the lattice."""
        near = true[:, None] + np.arange(len(self.kernel)) - len(self.kernel) // 2
        bounds = np.where((near >= 0) & (near < self.levels), self.kernel, 0.0).cumsum(axis=1)
        chosen = (rng.random(len(true))[:, None] * bounds[:, -1:] >= bounds[:, :-1]).sum(axis=1)
        return np.asarray(near[np.arange(len(true)), chosen])


def _slip(rng: np.random.Generator, lattice: Lattice, true: Codes) -> Codes:
    """Choose a kind of slip that is possible, if any is, then one of that kind, for every true value."""
    kinds, written = lattice.slips(true), true.copy()
    counts = np.array([np.bincount(slips.place, minlength=len(true)) for slips in kinds])
    nth = (rng.random(len(true)) * (counts > 0).sum(axis=0)).astype(np.int64)
    chosen = np.where(counts.any(axis=0), np.argmax((counts > 0).cumsum(axis=0) > nth, axis=0), -1)
    for kind, slips in enumerate(kinds):
        mine = np.flatnonzero(chosen == kind)
        first = np.cumsum(counts[kind]) - counts[kind]
        ordered = slips.to[np.argsort(slips.place, kind="stable")]
        written[mine] = ordered[first[mine] + rng.integers(counts[kind][mine])]
    return written


def _at(matrix: Any, rows: Codes, columns: Codes) -> Floats:
    """Read entries of a sparse matrix."""
    found = matrix[rows, columns]
    return np.asarray(found.toarray() if sparse.issparse(found) else found).ravel()
