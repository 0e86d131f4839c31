"""Channels whose distorted values are either mistyped or another value altogether: open strings, names, numbers, dates.

    ζ_v(x) = (1 − ρ)·t_v(x) + ρ·q(x),        q(x) = Σ_v p(v)·c_v(x),

t_v(x) being the probability of mistyping v as x and q that of a clean value of anybody. Sums over v of products of c
and t are tables at each point of a grid of rates; with them every term is a polynomial in ρ.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

from tielink.channels.channel import (
    Also,
    Bound,
    Carried,
    Channel,
    Codes,
    Floats,
    Terms,
    Told,
    Truths,
    mixed,
    mixed_group,
    nothing_else,
)
from tielink.channels.group_kernels import sum_group
from tielink.channels.slice_sampling import slice_draw
from tielink.data.columns import MISSING
from tielink.specification import Beta

__all__ = ["REMEMBERED", "MixtureChannel", "Place"]

Place = tuple[int, ...]
"""The place of every rate in its grid."""
REMEMBERED = 20_000
"""Persons with three or more records whose tables a channel keeps."""


@dataclass(frozen=True, eq=False)
class MixtureChannel(Channel):
    """The parameters are ρ ~ `another`, then the rates of `grids`, each one of a few values."""

    another: Beta

    @property
    @abstractmethod
    def grids(self) -> tuple[tuple[Floats, Floats], ...]:
        """Values and prior masses of every rate that lives on a grid."""

    @abstractmethod
    def plain(self, place: Place, values: Codes) -> Floats:
        """Return q(x) = Σ_v p(v)·c_v(x)."""

    @abstractmethod
    def mistyped(self, place: Place, values: Codes) -> Floats:
        """Return Σ_v p(v)·t_v(x)."""

    @abstractmethod
    def find(self, left: Codes, right: Codes) -> Codes:
        """Return where the sums of each pair are kept; −1 for pairs that are not near."""

    @abstractmethod
    def near_terms(self, place: Place, found: Codes) -> tuple[Floats, Floats, Floats, Floats]:
        """Return Σ p·c(x)c(y), Σ p·t(x)c(y), Σ p·c(x)t(y) and Σ p·t(x)t(y) of near pairs."""

    @abstractmethod
    def looked_at(self, place: Place, values: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
        """Return p(v), c_v(x) and t_v(x) of the true values looked at for the records of one person."""

    def truths(self, parameters: Floats, values: Codes) -> Truths:
        """Return the true values looked at, and all others as one column.

        That has the probability that is left, and mistypes each value as often as makes m(x) of one record exact;
        within it the records are independent.
        """
        rho, place = self.split(parameters)
        prior, clean, changed = self.looked_at(place, tuple(values.tolist()))
        plain = self.plain(place, values)
        rest = max(1.0 - float(prior.sum()), 1e-12)
        left = np.maximum(self.mistyped(place, values) - changed @ prior, 0.0) / rest
        return Truths(
            np.append(prior, rest),
            np.column_stack([clean, np.zeros(len(values))]),
            np.column_stack([(1 - rho) * changed + rho * plain[:, None], (1 - rho) * left + rho * plain]),
        )

    def group(self, parameters: Floats, values: Codes) -> Floats:
        """Return what the default makes of `truths`, without laying them out."""
        rho, place = self.split(parameters)
        plain, mistyped = self.plain(place, values), self.mistyped(place, values)
        terms = np.empty((len(values), 2 ** values.shape[1]))
        for number, group in enumerate(values.tolist()):
            sum_group(*self.looked_at(place, tuple(group)), plain[number], mistyped[number], rho, terms[number])
        return terms.T

    def split(self, parameters: Floats) -> tuple[float, Place]:
        """Return ρ and the places of the rates in their grids."""
        places = [
            int(np.abs(np.log(values / rate)).argmin())
            for (values, _), rate in zip(self.grids, parameters[1:], strict=True)
        ]
        return float(parameters[0]), tuple(places)

    def start(self) -> Floats:
        """Return ρ at its prior mean and the rate next to the prior mean of each grid."""
        rates = [values[np.abs(values - values @ masses / masses.sum()).argmin()] for values, masses in self.grids]
        return np.array([self.another.mean, *rates])

    def draw_prior(self, rng: np.random.Generator) -> Floats:
        """Draw ρ and the rates."""
        rates = [rng.choice(values, p=masses / masses.sum()) for values, masses in self.grids]
        return np.array([rng.beta(self.another.a, self.another.b), *rates])

    def log_prior(self, parameters: Floats) -> float:
        """Return log Beta(ρ; a, b) plus the log masses of the rates."""
        rho, place = self.split(parameters)
        masses = sum(float(np.log(m[at] / m.sum())) for (_, m), at in zip(self.grids, place, strict=True))
        return self._log_rho(rho) + masses

    def _log_rho(self, rho: float) -> float:
        a, b = self.another.a, self.another.b
        return float(xlogy(a - 1, rho) + xlog1py(b - 1, -rho) - betaln(a, b))

    def single(self, parameters: Floats, values: Codes) -> tuple[Floats, Floats]:
        """Return q(x) and (1 − ρ)·Σ_v p(v)t_v(x) + ρ·q(x)."""
        return self.single_at(*self.split(parameters), values)

    def single_at(self, rho: float, place: Place, values: Codes) -> tuple[Floats, Floats]:
        """Return the same, given ρ and the places of the rates."""
        plain = self.plain(place, values)
        return plain, (1 - rho) * self.mistyped(place, values) + rho * plain

    def pair(self, parameters: Floats, left: Codes, right: Codes) -> Terms:
        """Return the four sums; without those of mistyping if the pair is not near."""
        return self.bind(left, right).terms(parameters)

    def bind(self, left: Codes, right: Codes) -> _NearBound:
        """Find the near pairs once."""
        found = self.find(left.ravel(), right.ravel())
        near = np.flatnonzero(found >= 0)
        return _NearBound(self, left, right, near, found[near])

    def redraw(
        self, rng: np.random.Generator, parameters: Floats, rates: Floats, values: Told, also: Also = nothing_else
    ) -> Floats:
        """Draw ρ by slice sampling, then each rate from its conditional over the grid; distortions are summed out.

        `also` decides by Metropolis and Hastings whether each draw is taken: every one alone is reversible.
        """
        given = _Given(self, rates, values)
        rho, place = self.split(parameters)
        rho = slice_draw(rng, rho, lambda r: given.log_likelihood(r, place) + self._log_rho(r))
        taken, value = _taken(rng, parameters, self._parameters(rho, place), also, None)
        rho = float(taken[0])
        for axis, (grid, masses) in enumerate(self.grids):
            options = [(*place[:axis], at, *place[axis + 1 :]) for at in range(len(grid))]
            logs = np.array([given.log_likelihood(rho, option) for option in options]) + np.log(masses)
            weights = np.exp(logs - logs.max())
            place = options[int(rng.choice(len(grid), p=weights / weights.sum()))]
            taken, value = _taken(rng, taken, self._parameters(rho, place), also, value)
            place = self.split(taken)[1]
        return taken

    def carried(self, rng: np.random.Generator, parameters: Floats) -> Carried | None:
        """Propose the next higher or lower rate of a grid.

        With s the share of mistyped values that differ from what was meant, rates ψ and ρ change so that ψ·ρ and
        ψ·(1 − ρ)·s stay: ψ is multiplied by c = ρ + (1 − ρ)·s/s' and ρ divided by it, which has the Jacobian
        c^m·s/(s'·c²) where there are m rates.
        """
        rho, place = self.split(parameters)
        if not place:
            return None
        axis = int(rng.integers(len(place)))
        at = place[axis] + int(rng.choice((-1, 1)))
        if not 0 <= at < len(self.grids[axis][0]):
            return None
        moved = (*place[:axis], at, *place[axis + 1 :])
        ratio = self._share_changed(place) / self._share_changed(moved)
        factor = rho + (1 - rho) * ratio
        return Carried(self._parameters(rho / factor, moved), factor, float(np.log(ratio) - 2 * np.log(factor)))

    def _share_changed(self, place: Place) -> float:
        """Return the share of mistyped values that differ from what was meant, at least one in a hundred."""
        if place not in self._shares_changed:
            codes = np.unique(self.codes[self.codes != MISSING])
            found = self.find(codes, codes)
            same, kept, _, _ = self.near_terms(place, found[found >= 0])
            self._shares_changed[place] = float(max(1.0 - kept.sum() / max(same.sum(), 1e-300), 0.01))
        return self._shares_changed[place]

    @cached_property
    def _shares_changed(self) -> dict[Place, float]:
        """What is known of the shares."""
        return {}

    def _parameters(self, rho: float, place: Place) -> Floats:
        return np.array([rho, *(grid[at] for (grid, _), at in zip(self.grids, place, strict=True))])


def _taken(
    rng: np.random.Generator, now: Floats, proposed: Floats, also: Also, value: float | None
) -> tuple[Floats, float | None]:
    """Take what was proposed, or keep what is, by what `also` says of both; `value` is what it said of `now`."""
    if also is nothing_else or np.array_equal(now, proposed):
        return proposed, value
    before, after = also(now) if value is None else value, also(proposed)
    return (proposed, after) if np.log(rng.random()) < after - before else (now, before)


@dataclass(frozen=True, eq=False)
class _NearBound(Bound):
    """Pairs of which the near ones, at flat places `near`, have sums of their own."""

    near: Codes
    found: Codes
    _kept: dict[Place, tuple[Floats, Floats, Floats, Floats]] = field(default_factory=dict)
    """The sums of near pairs where the rates stand now: ρ moves alone more often than with them."""

    def terms(self, parameters: Floats) -> Terms:
        assert isinstance(self.channel, MixtureChannel)
        return self.terms_at(*self.channel.split(parameters))

    def terms_at(self, rho: float, place: Place) -> Terms:
        """Return the terms, given ρ and the places of the rates."""
        channel = self.channel
        assert isinstance(channel, MixtureChannel)
        # Of a grid of pairs only the margins are looked up.
        left = self.left[:, :1] if self.left.ndim == 2 and self.left.strides[1] == 0 else self.left
        right = self.right[:1] if self.right.ndim == 2 and self.right.strides[0] == 0 else self.right
        q_left, q_right = channel.plain(place, left), channel.plain(place, right)
        other = rho * q_left * q_right
        typed_left, typed_right = channel.mistyped(place, left), channel.mistyped(place, right)
        both = rho * (1 - rho) * (typed_left * q_right + q_left * typed_right) + rho * other
        terms = [np.zeros(self.left.shape), other.copy(), other, both]
        weights = (1.0, 1 - rho, 1 - rho, (1 - rho) ** 2)
        if place not in self._kept:
            self._kept.clear()
            self._kept[place] = channel.near_terms(place, self.found)
        for term, own, weight in zip(terms, self._kept[place], weights, strict=True):
            term.reshape(-1)[self.near] += weight * own
        return Terms(*terms)


class _Given:
    """The likelihood of ρ and the rates, given who is whom."""

    def __init__(self, channel: MixtureChannel, rates: Floats, values: Told) -> None:
        self.channel, self.rates = channel, rates
        left, right = channel.codes[values.two].T
        self.ones, self.pairs = channel.codes[values.one], channel.bind(left, right)
        self.rates_one, self.rates_two = rates[values.one], tuple(rates[side] for side in values.two.T)
        self.grids = [grid for grid, _ in channel.grids]
        sizes = {len(records) for records in values.more}
        # In the order of their values, so that groups of the same ones are the same.
        ordered = [records[np.argsort(channel.codes[records], kind="stable")] for records in values.more]
        self.groups = [np.array([records for records in ordered if len(records) == size]) for size in sorted(sizes)]

    def log_likelihood(self, rho: float, place: Place) -> float:
        channel, rates = self.channel, self.rates
        ones = mixed(channel.single_at(rho, place, self.ones), self.rates_one)
        twos = np.asarray(sum(self.pairs.terms_at(rho, place).weighted(*self.rates_two)))
        total = float(np.log(ones).sum() + np.log(twos).sum())
        parameters = np.array([rho, *(grid[at] for grid, at in zip(self.grids, place, strict=True))])
        for records in self.groups:
            terms = channel.group(parameters, channel.codes[records])
            total += float(np.log(mixed_group(terms, rates[records])).sum())
        return total
