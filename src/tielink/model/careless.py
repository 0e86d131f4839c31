"""Records of two sorts: careful ones, and careless ones whose fields all go wrong more often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tielink.specification import Beta, Specification

__all__ = ["Careless"]

FEW = Beta(1.0, 9.0)
"""One record in ten is expected to be careless."""

OFTEN = Beta(2.0, 6.0)
"""A quarter of a careless record's values are expected to be distorted."""


@dataclass(frozen=True)
class Careless(Specification):
    """Some records are careless: each of their fields has a distortion rate of its own, usually a higher one.

    Record r is careless with probability κ, independently of all others; then ψ_{ℓ,careless} takes the place of ψ_ℓ
    in *every* field ℓ (and of ψ_ℓj where rates differ by file). So a record that is wrong in one field is more likely
    to be wrong in the next one, which fields with rates of their own cannot say.

    The two sorts are told apart by their priors alone: keep the mean of `distortion` well above that of the fields'
    own prior, or "careless" means nothing in particular.

    Parameters
    ----------
    share
        Prior of κ, the share of careless records.
    distortion
        Prior of every distortion rate of careless records.
    """

    kind: ClassVar[str] = "careless"
    parts: ClassVar[Mapping[str, tuple[type[Specification], ...]]] = {"share": (Beta,), "distortion": (Beta,)}
    share: Beta = FEW
    distortion: Beta = OFTEN
