"""The model of ties: positions in a latent space, near ones more likely tied.

y_{ii'j} ~ Bernoulli(g⁻¹(β_j − ‖u_{ξ_ij} − u_{ξ_i'j}‖)),   β_j ~ N(0, ω_j²),   u_n ~ N(0, σ² I_K).

Two additions are off unless asked for: `Sociality` lets records differ in how many ties they have at the same place,
and `TieCorrelation` lets a tie in one file speak about the tie of the same two persons in the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from tielink.specification import Complaint, Specification, is_number, is_whole

__all__ = ["Elicited", "InverseGamma", "LatentSpace", "Sociality", "TieCorrelation"]


@dataclass(frozen=True)
class InverseGamma(Specification):
    """An inverse-gamma prior for a variance: density ∝ x^{−(shape+1)}·exp(−scale/x)."""

    kind: ClassVar[str] = "inverse_gamma"
    shape: float
    scale: float

    def complaints(self) -> Iterator[Complaint]:
        """Both parameters must be positive."""
        for name in ("shape", "scale"):
            if not is_number(getattr(self, name), above=0):
                yield name, "a number above 0"


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
class TieCorrelation(Specification):
    """Ties of the same two persons in different files go together, beyond what their positions say.

    The two dyads are a bivariate Bernoulli with unchanged margins and odds ratio φ (Plackett 1965):
    φ = p₁₁p₀₀/(p₁₀p₀₁), log φ ~ N(0, sd²). φ = 1 is independence, the paper's model. The dyads of two persons who share
    three or more files are a chain in the order of the files, in which neighbours are such pairs.

    Parameters
    ----------
    sd
        Prior standard deviation of log φ.
    egos
        Records that take no part, by file: `{"facebook": ["12"]}`. An ego whose network the file is, tied to everybody
        in it, says nothing about ties of others and would drive φ up all by itself. By default ("detect") every
        record that is tied to everybody in its file is taken for one, and `Model.describe` says which.
    """

    kind: ClassVar[str] = "tie_correlation"
    sd: float = 2.0
    egos: str | Mapping[str, tuple[object, ...]] = "detect"

    def __post_init__(self) -> None:
        """Keep ids as tuples, so that what is written to a file and read back is equal."""
        if isinstance(self.egos, Mapping):
            lists = {name: tuple(ids) if isinstance(ids, list) else ids for name, ids in self.egos.items()}
            object.__setattr__(self, "egos", lists)
        super().__post_init__()

    def complaints(self) -> Iterator[Complaint]:
        """Check each setting on its own."""
        if not is_number(self.sd, above=0):
            yield "sd", "a number above 0"
        if isinstance(self.egos, Mapping):
            if not all(isinstance(ids, tuple) for ids in self.egos.values()):
                yield "egos", 'a list of ids for each file that has egos, {"facebook": ["12"]}'
        elif self.egos != "detect":
            yield "egos", '"detect" or a mapping from files to ids'


@dataclass(frozen=True)
class Sociality(Specification):
    """Records differ in how many ties they have: g(θ) = β_j + s_i + s_i' − distance, s ~ N(0, τ²).

    One s for each *record*: the same person may be busy in one file and silent in another. τ is half-normal:
    its density is highest at 0, where the model is the paper's, so records differ only as far as the ties ask for
    it. (An inverse-gamma prior of τ² would give conjugate draws, and rule out the paper's model.)

    Parameters
    ----------
    scale
        Scale of τ: P(τ < scale) = 0.68. One unit of s multiplies the odds of every tie of a record by e.
    """

    kind: ClassVar[str] = "sociality"
    scale: float = 1.0

    def complaints(self) -> Iterator[Complaint]:
        """The scale must be positive."""
        if not is_number(self.scale, above=0):
            yield "scale", "a number above 0"


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
    tie_correlation
        Whether ties of the same persons in different files may go together beyond their positions: true, false or
        `TieCorrelation(...)`.
    sociality
        Whether records differ in how many ties they have at the same place: true, false or `Sociality(...)`.
    """

    kind: ClassVar[str] = "latent_space"
    switches: ClassVar[Mapping[str, type[Specification]]] = {
        "tie_correlation": TieCorrelation,
        "sociality": Sociality,
    }
    parts: ClassVar[Mapping[str, tuple[type[Specification], ...]]] = {"spread": (Elicited, InverseGamma)}
    dimension: int = 2
    link: str = "logit"
    intercept_sd: float | Mapping[str, float] = 100.0
    spread: Elicited | InverseGamma = Elicited()
    tie_correlation: TieCorrelation | bool = False
    sociality: Sociality | bool = False

    def complaints(self) -> Iterator[Complaint]:
        """Check each setting on its own."""
        if not is_whole(self.dimension, least=1):
            yield "dimension", "a whole number of at least 1"
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
