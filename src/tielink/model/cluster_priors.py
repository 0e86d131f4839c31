"""Priors of linkages in which a person may have more than two records.

`OnePerFile` is for files without duplicates: at most one record of each file. `EwensPitman` and `NegativeBinomial` let
any records be one person, up to a largest number of them, in one file or several; they know cluster sizes only.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, expit, gammaln

from tielink.specification import Beta, Complaint, Specification, is_whole

if TYPE_CHECKING:
    from tielink.data.linkage import LinkageClass

__all__ = ["CLUSTER_PRIORS", "ClusterPrior", "EwensPitman", "Gamma", "LogNormal", "NegativeBinomial", "OnePerFile"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LogNormal(Specification):
    """A prior of a positive number: its logarithm is normal around log(median)."""

    kind: ClassVar[str] = "log_normal"
    positive: ClassVar[tuple[str, ...]] = ("median", "sd")
    median: float = 1.0
    sd: float = 2.0


@dataclass(frozen=True)
class Gamma(Specification):
    """A Gamma(shape, rate) prior of a positive number."""

    kind: ClassVar[str] = "gamma"
    positive: ClassVar[tuple[str, ...]] = ("shape", "rate")
    shape: float = 1.0
    rate: float = 1.0


Distribution = LogNormal | Gamma | Beta

WIDE, UNIT, ANY, MIDDLING = LogNormal(1.0, 2.0), Gamma(1.0, 1.0), Beta(1.0, 1.0), Beta(2.0, 2.0)
"""Default priors of hyperparameters."""


def draw_from(rng: np.random.Generator, prior: Distribution) -> float:
    """Draw a number from its prior."""
    if isinstance(prior, LogNormal):
        return float(prior.median * math.exp(prior.sd * rng.standard_normal()))
    if isinstance(prior, Gamma):
        return float(rng.gamma(prior.shape) / prior.rate)
    return float(rng.beta(prior.a, prior.b))


def from_line(prior: Distribution, z: float) -> float:
    """Return the number that stands at z on the whole line: e^z for positive ones, 1/(1 + e^{−z}) for shares."""
    return float(expit(z)) if isinstance(prior, Beta) else math.exp(z)


def to_line(prior: Distribution, value: float) -> float:
    """Undo `from_line`."""
    return math.log(value) - (math.log1p(-value) if isinstance(prior, Beta) else 0.0)


def log_density_on_line(prior: Distribution, z: float) -> float:
    """Return the log density of z, the Jacobian of `from_line` included."""
    if isinstance(prior, LogNormal):
        scaled = (z - math.log(prior.median)) / prior.sd
        return -0.5 * scaled * scaled - math.log(prior.sd) - 0.5 * math.log(2 * math.pi)
    if isinstance(prior, Gamma):
        return float(
            prior.shape * (z + math.log(prior.rate)) - gammaln(prior.shape) - prior.rate * math.exp(min(z, 700.0))
        )
    return float(-prior.a * np.logaddexp(0.0, -z) - prior.b * np.logaddexp(0.0, z) - betaln(prior.a, prior.b))


@dataclass(frozen=True)
class ClusterPrior(Specification):
    """Base of the priors on partitions whose clusters may hold more than two records."""

    allowed: ClassVar[LinkageClass]

    @abstractmethod
    def largest(self, files: int) -> int:
        """Return the most records a person can have."""

    @property
    def hyperparameters(self) -> dict[str, Distribution]:
        """What is sampled of the prior itself, by name."""
        return {}


@dataclass(frozen=True)
class OnePerFile(ClusterPrior):
    """Persons have at most one record in each file; any number of files.

    Files are read in their order. Of file j's n records, m are persons seen in the files before it (n' of them), with

        m ~ BetaBinomial(min(n, n'), a, b),

    and every choice of those records and persons is equally likely. So, with n ≤ n' or the two exchanged,

        p(ξ) = Π_{j≥2} B(m_j + a, n − m_j + b)/B(a, b) · (n' − m_j)!/n'!,

    a function of the overlap table alone. For two files it is `MatchRate(a, b)`; for more, it depends on the order
    of the files, little unless their sizes differ much.

    Parameters
    ----------
    a, b
        Parameters of the beta distribution of each file's match rate.
    anchors_inform
        As in `MatchRate`: by default a record that is anchored to an earlier file says nothing about the rate.
    """

    kind: ClassVar[str] = "one_per_file"
    allowed: ClassVar[LinkageClass] = "one_per_file"
    positive: ClassVar[tuple[str, ...]] = ("a", "b")
    a: float = 1.0
    b: float = 1.0
    anchors_inform: bool = False

    def largest(self, files: int) -> int:
        """Return the number of files."""
        return files

    def log_file(self, matches: ArrayLike, here: int, before: int) -> Floats:
        """Return log p of one way in which a file of `here` records has m matches among `before` persons."""
        least, most = min(here, before), max(here, before)
        m = np.asarray(matches, dtype=float)
        rate = betaln(m + self.a, least - m + self.b) - betaln(self.a, self.b)
        return np.asarray(rate + gammaln(most - m + 1) - gammaln(most + 1))

    def log_probability(self, first: NDArray[np.int64], sizes: tuple[int, ...], settled: NDArray[np.int64]) -> float:
        """Return log p(ξ).

        Parameters
        ----------
        first
            For each file the number of persons whose first record is there.
        sizes
            The number of records of each file.
        settled
            For each file the number of its records that are anchored to an earlier file.
        """
        total, before = 0.0, int(first[0])
        for file in range(1, len(sizes)):
            here, known = sizes[file] - int(settled[file]), before - int(settled[file])
            total += float(self.log_file(here - int(first[file]), here, known))
            before += int(first[file])
        return total

    def persons_probability(self, sizes: tuple[int, ...], settled: NDArray[np.int64]) -> Floats:
        """Return the prior probability of N = 0, 1, …, I persons."""
        probability = np.zeros(sum(sizes) + 1)
        probability[sizes[0]] = 1.0
        # log Γ(m + a)/m! and log Γ(k + b)/k!: the beta-binomial is their product, m + k the most matches there can be.
        whole = np.arange(max(sizes) + 1)
        of_a, of_b = (gammaln(whole + shape) - gammaln(whole + 1) for shape in (self.a, self.b))
        for file in range(1, len(sizes)):
            after = np.zeros_like(probability)
            here = sizes[file] - int(settled[file])
            for before in np.flatnonzero(probability):
                most = min(here, int(before) - int(settled[file]))
                log = of_a[: most + 1] + of_b[most::-1]
                log += gammaln(most + 1) - gammaln(most + self.a + self.b) - betaln(self.a, self.b)
                end = int(before) + here
                after[end - most : end + 1] += probability[before] * np.exp(log)[::-1]
            probability = after
        return np.asarray(probability)


@dataclass(frozen=True)
class SizePrior(ClusterPrior):
    """Base of the priors that know cluster sizes only, up to the largest; see `cluster_sizes` for their form."""

    allowed: ClassVar[LinkageClass] = "free"
    max_size: int = 4

    def complaints(self) -> Iterator[Complaint]:
        """Check the largest size."""
        if not is_whole(self.max_size, least=1):
            yield "max_size", "a whole number of at least 1"

    def largest(self, files: int) -> int:
        """Return the largest size."""
        return self.max_size

    @property
    def hyperparameters(self) -> dict[str, Distribution]:
        """The hyperparameters that have a prior."""
        return {name: getattr(self, name) for name in self.sampled if isinstance(getattr(self, name), Specification)}

    def values(self, drawn: Floats) -> dict[str, float]:
        """Return every hyperparameter, sampled ones from `drawn` (in the order of `hyperparameters`)."""
        sampled = dict(zip(self.hyperparameters, drawn, strict=True))
        return {name: float(sampled.get(name, getattr(self, name))) for name in self.sampled}

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw the hyperparameters from their priors."""
        return np.array([draw_from(rng, prior) for prior in self.hyperparameters.values()])

    def start(self) -> Floats:
        """Return hyperparameters to start a chain with: the middle of their priors on the whole line."""
        return np.array([_middle(prior) for prior in self.hyperparameters.values()])

    @abstractmethod
    def family(self, drawn: Floats, records: int) -> tuple[float, float, Floats]:
        """Return θ, d and log c_s, s = 1 … S, of `cluster_sizes`."""

    def log_probability(self, drawn: Floats, sizes: NDArray[np.int64]) -> float:
        """Return log p(ξ | hyperparameters) of a partition into clusters of these sizes."""
        from tielink.model.cluster_sizes import log_weight

        return log_weight(*self.family(drawn, int(sizes.sum())), sizes)


def _middle(prior: Distribution) -> float:
    if isinstance(prior, LogNormal):
        return prior.median
    return prior.shape / prior.rate if isinstance(prior, Gamma) else prior.mean


@dataclass(frozen=True)
class EwensPitman(SizePrior):
    """Exchangeable clusters (Pitman 1995; Ewens 1972 for discount 0), at most `max_size` records each.

        p(ξ) ∝ Π_{k=0}^{N−1} (θ + d·k) · Π_c (1−d)(2−d)…(n_c−1−d),        θ = concentration · I,

    over partitions whose clusters have at most `max_size` records, exactly normalised.

    Parameters
    ----------
    max_size
        The most records a person can have.
    concentration
        θ for each record: a number above 0, or its prior. The larger, the more persons.
    discount
        d: a number from 0 to below 1, or a `Beta` prior.
    """

    kind: ClassVar[str] = "ewens_pitman"
    sampled: ClassVar[Mapping[str, tuple[type[Specification], ...]]] = {
        "concentration": (LogNormal, Gamma),
        "discount": (Beta,),
    }
    concentration: float | LogNormal | Gamma = WIDE
    discount: float | Beta = ANY

    def family(self, drawn: Floats, records: int) -> tuple[float, float, Floats]:
        """Return θ, d and log c_s = log (1−d)_{s−1}/s!."""
        values = self.values(drawn)
        discount = values["discount"]
        sizes = np.arange(1, self.max_size + 1)
        rising = gammaln(sizes - discount) - gammaln(1 - discount)
        return values["concentration"] * records, discount, rising - gammaln(sizes + 1)


@dataclass(frozen=True)
class NegativeBinomial(SizePrior):
    """Clusters that stay small as files grow: a microclustering prior (Miller et al. 2015, Betancourt et al. 2016).

    The number of persons is negative binomial, their numbers of records are independent draws from a negative binomial
    cut to 1 … max_size, and the records add up to I:

        p(ξ) = N!·P(N)·Π_c [n_c!·μ(n_c)] / (I!·P(total = I)),        μ(s) ∝ Γ(s + shape)/s!·probability^s.

    Parameters
    ----------
    max_size
        The most records a person can have.
    persons_mean, persons_sd
        Mean and standard deviation of N before the total is known, as shares of I.
    shape
        A number above 0, or its `Gamma` prior.
    probability
        A number from 0 to below 1, or its `Beta` prior.
    """

    kind: ClassVar[str] = "negative_binomial"
    positive: ClassVar[tuple[str, ...]] = ("persons_mean", "persons_sd")
    sampled: ClassVar[Mapping[str, tuple[type[Specification], ...]]] = {
        "shape": (LogNormal, Gamma),
        "probability": (Beta,),
    }
    persons_mean: float = 0.5
    persons_sd: float = 0.5
    shape: float | LogNormal | Gamma = UNIT
    probability: float | Beta = MIDDLING

    def family(self, drawn: Floats, records: int) -> tuple[float, float, Floats]:
        """Return θ = a, d = 1 and log c_s = log q·μ(s), where N ~ NegativeBinomial(a, q)."""
        values = self.values(drawn)
        sizes = np.arange(1, self.max_size + 1)
        log = (
            gammaln(sizes + values["shape"]) - gammaln(sizes + 1) + sizes * math.log(max(values["probability"], 1e-300))
        )
        log -= np.logaddexp.reduce(log)
        mean = self.persons_mean * records
        # A negative binomial's variance exceeds its mean.
        variance = max((self.persons_sd * records) ** 2, 1.2 * mean)
        q = 1 - mean / variance
        return mean * (1 - q) / q, 1.0, math.log(q) + log


CLUSTER_PRIORS: tuple[type[ClusterPrior], ...] = (OnePerFile, EwensPitman, NegativeBinomial)
"""Every such prior, in the order in which help texts name them."""
