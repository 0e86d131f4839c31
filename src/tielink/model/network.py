"""Models of ties.

`SharedTies`: whoever is tied in one file is often tied in the other. `LatentSpace`, the paper's: positions in a latent
space, near ones more likely tied,

    y_{ii'j} ~ Bernoulli(g⁻¹(β_j − ‖u_{ξ_ij} − u_{ξ_i'j}‖)),   β_j ~ N(0, ω_j²),   u_n ~ N(0, σ² I_K).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from tielink.specification import Beta, Complaint, Specification, is_number, is_whole

__all__ = ["NETWORKS", "Elicited", "InverseGamma", "LatentSpace", "SharedTies"]


@dataclass(frozen=True)
class InverseGamma(Specification):
    """An inverse-gamma prior for a variance: density ∝ x^{−(shape+1)}·exp(−scale/x)."""

    kind: ClassVar[str] = "inverse_gamma"
    positive: ClassVar[tuple[str, ...]] = ("shape", "scale")
    shape: float
    scale: float


@dataclass(frozen=True)
class Elicited(Specification):
    """The paper's prior for the variance σ² of positions, set by the number of records I and the dimension K.

    Inverse-gamma with coefficient of variation `cv` around
    E[σ²] = √I/(√I − 2) · π^{K/2}/Γ(K/2 + 1) · I^{2/K}: every node needs some room. For I ≤ 4 the first factor
    breaks down and is taken as 1.

    >>> prior = Elicited().for_size(records=100, dimension=2)
    >>> prior.shape, round(prior.scale / (prior.shape - 1), 2)
    (6.0, 392.7)
    """

    kind: ClassVar[str] = "elicited"
    cv: float = 0.5

    def complaints(self) -> Iterator[Complaint]:
        """The coefficient of variation must be positive, and not absurd."""
        if not is_number(self.cv, above=1e-3 - 1e-12) or self.cv > 1e3:
            yield "cv", "a number from 0.001 to 1000"

    def for_size(self, records: int, dimension: int) -> InverseGamma:
        """Return the prior for this many records and dimensions."""
        root = math.sqrt(records)
        crowding = root / (root - 2) if records > 4 else 1.0
        log_ball = dimension / 2 * math.log(math.pi) - math.lgamma(dimension / 2 + 1)
        mean = crowding * math.exp(log_ball + 2 / dimension * math.log(records))
        shape = 2 + 1 / self.cv**2
        return InverseGamma(shape, (shape - 1) * mean)


@dataclass(frozen=True)
class LatentSpace(Specification):
    """Latent-space model of ties (Hoff, Raftery and Handcock 2002), shared by all files of a person.

    Parameters
    ----------
    dimension
        K, the dimension of the latent space.
    link
        g: "logit" or "probit".
    intercept_sd
        ω_j, the prior standard deviation of the intercept β_j: one number, or one for each file.
    spread
        Prior of σ², the variance of positions.
    """

    kind: ClassVar[str] = "latent_space"
    parts: ClassVar[Mapping[str, tuple[type[Specification], ...]]] = {"spread": (Elicited, InverseGamma)}
    dimension: int = 2
    link: str = "logit"
    intercept_sd: float | Mapping[str, float] = 100.0
    spread: Elicited | InverseGamma = Elicited()

    def complaints(self) -> Iterator[Complaint]:
        """Check each setting on its own."""
        if not is_whole(self.dimension, least=1, most=1000):
            yield "dimension", "a whole number from 1 to 1,000"
        if self.link not in ("logit", "probit"):
            yield "link", '"logit" or "probit"'
        sds = self.intercept_sd.values() if isinstance(self.intercept_sd, Mapping) else [self.intercept_sd]
        if not all(is_number(sd, above=0) for sd in sds):
            yield "intercept_sd", "a number above 0, or one for each file"

    def spread_prior(self, records: int) -> InverseGamma:
        """Return the prior of σ² for this many records."""
        if isinstance(self.spread, InverseGamma):
            return self.spread
        return self.spread.for_size(records, self.dimension)


ANY_SHARE = Beta(1, 1)


@dataclass(frozen=True)
class SharedTies(Specification):
    """Two persons who are tied in one file are often tied in another: a sparse model of ties, linear in their number.

    Every record has a rate θ that its degree determines, and each dyad of a file is tied with probability
    1 − exp(−θ_i θ_i'). The dyads of the same two persons in two files share a Poisson count of rate
    ρ·min(θ_i, θ_j)·min(θ_i', θ_j'). A tie that both files have therefore speaks for a link, most of all where people
    have few ties; ties of people who are tied to everybody say next to nothing. Over more than two files, and with
    duplicates, the log-likelihood is the sum over all pairs of dyads of the same two persons (a composite likelihood).

    Parameters
    ----------
    power
        The power β of the tie likelihood, from 0 to 1. Ties around a person are not independent, so that the likelihood
        by itself is too sure: by default ("learn") a pilot run finds the power at which ties are as reliable as they
        claim to be.
    sharing
        ρ, the share of ties that the files have in common: a number from 0 to below 1, or its `Beta` prior.

    >>> SharedTies(power=0.4).power
    0.4
    """

    kind: ClassVar[str] = "shared_ties"
    sampled: ClassVar[Mapping[str, tuple[type[Specification], ...]]] = {"sharing": (Beta,)}
    power: float | str = "learn"
    sharing: float | Beta = ANY_SHARE

    def complaints(self) -> Iterator[Complaint]:
        """Check each setting on its own."""
        if self.power != "learn" and not (is_number(self.power, above=-1e-300) and float(self.power) <= 1):
            yield "power", '"learn" or a number from 0 to 1'


NETWORKS: tuple[type[Specification], ...] = (SharedTies, LatentSpace)
"""Every model of ties, in the order in which help texts name them."""
