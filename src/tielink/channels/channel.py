"""What a compiled field must tell: the sums over true values that linking needs.

A field is defined by p(v), the distribution of true values, and by what a record says when v is true,

    f(x | v) = (1 − ψ)·c_v(x) + ψ·ζ_v(x),

a clean value or a distorted one (c_v(x) = 1[x = v] in most kinds). Everything else in tielink sees a field through the
sums below. They hold no rate ψ: rates may differ by file and by record, and are put in by whoever mixes the terms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tielink.channels.near_truths import NearTruths, near_rows, worth_keeping
from tielink.data.columns import MISSING

__all__ = [
    "Also",
    "Bound",
    "Carried",
    "Channel",
    "Codes",
    "Drawn",
    "FiniteChannel",
    "Fixed",
    "Floats",
    "Terms",
    "Told",
    "Truths",
    "log_likelihood",
    "mixed",
    "mixed_group",
    "nothing_else",
    "told",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Also = Callable[[Floats], float]
"""A part of a log density, given a field's parameters."""


def nothing_else(parameters: Floats) -> float:
    """Add nothing."""
    return 0.0


class Terms(NamedTuple):
    """The four sums over true values of pairs (x, y); the order is that of the bits (x distorted, y distorted)."""

    clean: Floats
    """Σ_v p(v)·c_v(x)·c_v(y)."""
    left: Floats
    """Σ_v p(v)·ζ_v(x)·c_v(y): x is distorted."""
    right: Floats
    """Σ_v p(v)·c_v(x)·ζ_v(y): y is distorted."""
    both: Floats
    """Σ_v p(v)·ζ_v(x)·ζ_v(y)."""

    def weighted(self, left_rate: float | Floats, right_rate: float | Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the probability of the pair with each choice of what is distorted; their sum is m(x, y)."""
        return (
            (1 - left_rate) * (1 - right_rate) * self.clean,
            left_rate * (1 - right_rate) * self.left,
            (1 - left_rate) * right_rate * self.right,
            left_rate * right_rate * self.both,
        )


class Truths(NamedTuple):
    """True values to sum over for a few records: p(v), and for each record c_v(x) and ζ_v(x) in a row."""

    prior: Floats
    clean: Floats
    distorted: Floats

    def likelihood(self, rates: float | Floats) -> Floats:
        """Return f(x | v), one row a record."""
        rate = np.broadcast_to(np.asarray(rates, dtype=float), len(self.clean))[:, None]
        return np.asarray((1 - rate) * self.clean + rate * self.distorted)


class Drawn(NamedTuple):
    """Simulated values of one field."""

    truths: Codes
    """The true value of every person."""
    values: Codes
    """What every record says."""
    texts: tuple[str, ...] | None = None
    """What the codes stand for; None if they are the channel's own."""

    @classmethod
    def of_texts(cls, truths: Sequence[str], values: Sequence[str]) -> Drawn:
        """Encode drawn texts."""
        texts = sorted({*truths, *values})
        place = {text: code for code, text in enumerate(texts)}
        true, said = (np.array([place[text] for text in drawn], dtype=np.int64) for drawn in (truths, values))
        return cls(true, said, tuple(texts))


class Carried(NamedTuple):
    """Other parameters of a field, and the change of its rates that leaves about as many values different."""

    parameters: Floats
    factor: float
    """What every rate of the field is multiplied by."""
    log_volume: float
    """log of the Jacobian of the parameters; that of m rates is m·log(factor)."""


class Told(NamedTuple):
    """Record numbers of the known values of one field, by how many of them a person has."""

    one: Codes
    two: Codes
    """One row a person."""
    more: list[Codes]


def told(codes: Codes, labels: Codes) -> Told:
    """Sort the records with a known value by how many of them their person has."""
    known = np.flatnonzero(codes != MISSING)
    size = np.bincount(labels[known])[labels[known]]
    of_two = known[size == 2]
    # Of the two records of a person the earlier is written last, or the later is.
    earlier, later = np.empty((2, int(labels.max(initial=0)) + 1), dtype=np.int64)
    earlier[labels[of_two][::-1]], later[labels[of_two]] = of_two[::-1], of_two
    first = of_two[earlier[labels[of_two]] == of_two]
    rest = known[size > 2]
    rest = rest[np.argsort(labels[rest], kind="stable")]
    more = np.split(rest, np.flatnonzero(np.diff(labels[rest])) + 1) if len(rest) else []
    return Told(known[size == 1], np.column_stack([first, later[labels[first]]]), more)


def mixed(terms: tuple[Floats, Floats], rate: float | Floats) -> Floats:
    """Return m(x) = (1 − ψ)·Σ_v p(v)c_v(x) + ψ·Σ_v p(v)ζ_v(x) from those two sums."""
    return np.asarray((1 - rate) * terms[0] + rate * terms[1])


def mixed_group(terms: Floats, rates: Floats) -> Floats:
    """Return m(x₁, …, x_k) of groups from the sums of `Channel.group` and the rates of their records (groups × k)."""
    total, places = np.zeros(len(rates)), np.arange(rates.shape[1])
    for row, sums in enumerate(terms):
        total += sums * np.where((row >> places) & 1 == 1, rates, 1 - rates).prod(axis=1)
    return total


def log_likelihood(channel: Channel, parameters: Floats, rates: Floats, values: Told) -> float:
    """Return Σ over persons of log m(values), given ψ of every record."""
    codes, (left, right) = channel.codes, values.two.T
    ones = mixed(channel.single(parameters, codes[values.one]), rates[values.one])
    twos = channel.pair(parameters, codes[left], codes[right]).weighted(rates[left], rates[right])
    total = float(np.log(ones).sum() + np.log(np.sum(twos, axis=0)).sum())
    for records in values.more:
        terms = channel.group(parameters, codes[records][None])
        total += float(np.log(mixed_group(terms, rates[records][None])).sum())
    return total


@dataclass(frozen=True, eq=False)
class Channel(ABC):
    """One profile field: `codes[r]` is the value of record r, `MISSING` if it has none.

    `parameters` is everything of the field that is sampled besides its rates (the frequencies ϑ of a categorical
    field): a plain array, empty where nothing is.
    """

    name: str
    codes: Codes
    levels: int
    """The number of codes; what a code means is the channel's own affair."""

    def start(self) -> Floats:
        """Return parameters to start a chain with; by default there are none."""
        return np.empty(0)

    def draw_prior(self, rng: np.random.Generator) -> Floats:
        """Draw the parameters from their prior."""
        return np.empty(0)

    def log_prior(self, parameters: Floats) -> float:
        """Return the log prior density of the parameters."""
        return 0.0

    @abstractmethod
    def single(self, parameters: Floats, values: Codes) -> tuple[Floats, Floats]:
        """Return Σ_v p(v)·c_v(x) and Σ_v p(v)·ζ_v(x) of many values."""

    @abstractmethod
    def pair(self, parameters: Floats, left: Codes, right: Codes) -> Terms:
        """Return the four sums of many pairs of values."""

    @abstractmethod
    def truths(self, parameters: Floats, values: Codes) -> Truths:
        """Return the true values to sum over for the records of one person."""

    @abstractmethod
    def simulate(
        self, rng: np.random.Generator, parameters: Floats, labels: Codes, distorted: NDArray[np.bool_]
    ) -> Drawn:
        """Draw the true value of every person and the value of every record, given which of them are distorted."""

    def near(self) -> tuple[Codes, Codes]:
        """Return pairs x < y of different values that are nearer than others; by default there are none.

        All pairs that are not listed are far: their terms follow from those of the single values, by one rule.
        """
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)

    def group(self, parameters: Floats, values: Codes) -> Floats:
        """Return Σ_v p(v)·Π_i (c_v or ζ_v)(x_i) of groups of values (groups × k), for each choice of what is distorted.

        The result is 2^k × groups; bit i of the row number says that value i is distorted.
        """
        terms = np.empty((2 ** values.shape[1], len(values)))
        for number, group in enumerate(values):
            truths = self.truths(parameters, group)
            products = truths.prior[None]
            for clean, distorted in zip(truths.clean, truths.distorted, strict=True):
                products = np.concatenate([products * clean, products * distorted])
            terms[:, number] = products.sum(axis=1)
        return terms

    def code_probability(self) -> Floats | None:
        """Return p(v) of every code where codes are true values and p is known; by default they are not.

        A field can depend on others only through this and `near_truths`.
        """
        return None

    def near_truths(self, parameters: Floats) -> NearTruths:
        """Return the true values that each value may stand for."""
        raise NotImplementedError(f"true values of {self.name} are no codes")

    def bind(self, left: Codes, right: Codes) -> Bound:
        """Prepare these pairs of values for being asked for their terms again and again."""
        return Bound(self, left, right)

    def redraw(
        self, rng: np.random.Generator, parameters: Floats, rates: Floats, values: Told, also: Also = nothing_else
    ) -> Floats:
        """Draw parameters given who is whom and the records' rates, distortions summed out; by default, keep them.

        `also` is what else of the log density depends on them: what fields that depend on each other add.
        """
        return parameters

    def carried(self, rng: np.random.Generator, parameters: Floats) -> Carried | None:
        """Propose other parameters with which the field's rates are to change; by default, none.

        The way back must be proposed as often.
        """
        return None

    def refresh(
        self, rng: np.random.Generator, parameters: Floats, values: Told, distorted: NDArray[np.bool_]
    ) -> Floats:
        """Draw parameters given who is whom and which records are distorted; by default, keep them."""
        return parameters


@dataclass(frozen=True, eq=False)
class Bound:
    """Pairs of values whose terms are asked for again and again, at changing parameters."""

    channel: Channel
    left: Codes
    right: Codes

    def terms(self, parameters: Floats) -> Terms:
        """Return the four sums at these parameters."""
        return self.channel.pair(parameters, self.left, self.right)


@dataclass(frozen=True, eq=False)
class Fixed(Bound):
    """Pairs whose terms depend on no parameter."""

    fixed: Terms

    def terms(self, parameters: Floats) -> Terms:
        """Return what was looked up."""
        return self.fixed


@dataclass(frozen=True, eq=False)
class FiniteChannel(Channel):
    """A channel whose true values are its codes, and whose clean values are the true ones: c_v(x) = 1[x = v]."""

    @abstractmethod
    def truth(self, parameters: Floats) -> Floats:
        """Return p(v) of every value v."""

    @abstractmethod
    def distorted_to(self, parameters: Floats, value: int) -> Floats:
        """Return ζ_v(x) of one value x for every true value v."""

    @abstractmethod
    def distorted_from(self, parameters: Floats, truth: int) -> Floats:
        """Return ζ_v(x) of one true value v for every value x."""

    def truths(self, parameters: Floats, values: Codes) -> Truths:
        """Return all of them: the definition."""
        clean = np.zeros((len(values), self.levels))
        clean[np.arange(len(values)), values] = 1.0
        distorted = np.array([self.distorted_to(parameters, int(value)) for value in values])
        return Truths(self.truth(parameters), clean, distorted.reshape(clean.shape))

    def code_probability(self) -> Floats | None:
        """Return p(v) as a chain starts with it; a field that depends on others keeps it."""
        return self.truth(self.start())

    def near_truths(self, parameters: Floats) -> NearTruths:
        """Lay out x itself and whatever else it may well be a distortion of."""
        prior, codes = self.truth(parameters), np.arange(self.levels)
        whole = np.stack(self.single(parameters, codes))
        entries: list[tuple[Codes, Codes, Floats]] = []
        far = np.zeros(self.levels)
        for x in codes:
            zeta = self.distorted_to(parameters, int(x))
            kept = worth_keeping(np.zeros(1), zeta, prior, whole[:, x].sum(), codes == x)
            others = np.delete(np.arange(self.levels), kept)
            far[x] = np.average(zeta[others], weights=prior[others]) if prior[others].sum() > 0 else 0.0
            entries.append((np.full(len(kept), x), kept, zeta[kept]))
        value, truth, distorted = (np.concatenate(parts) for parts in zip(*entries, strict=True))
        return near_rows(value, truth, (value == truth).astype(float), distorted, prior, whole[1], far)

    def simulate(
        self, rng: np.random.Generator, parameters: Floats, labels: Codes, distorted: NDArray[np.bool_]
    ) -> Drawn:
        """Draw true values from p, and each distorted value from ζ_v."""
        truths = rng.choice(self.levels, size=int(labels.max(initial=-1)) + 1, p=self.truth(parameters))
        values = truths[labels]
        for record in np.flatnonzero(distorted):
            values[record] = rng.choice(self.levels, p=self.distorted_from(parameters, int(values[record])))
        return Drawn(truths, values)
