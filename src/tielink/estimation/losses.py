"""What a wrong link costs: the losses whose posterior expectation an estimate minimises.

Write x = 1 if an estimate links a pair, and p for the posterior probability that the pair is one person.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import ClassVar

from tielink.specification import Complaint, Specification, is_number

__all__ = ["LOSSES", "MPMMS", "Binder", "Loss", "Sadinle", "SharedMPMMS"]


@dataclass(frozen=True)
class Loss(Specification):
    """Base of the losses."""

    def complaints(self) -> Iterator[Complaint]:
        """Every cost must be positive."""
        for field in fields(self):
            if not is_number(getattr(self, field.name), above=0):
                yield field.name, "a number above 0"


@dataclass(frozen=True)
class Binder(Loss):
    """Binder's loss with the costs of Lau and Green (2007): each wrong pair costs, by the kind of mistake.

    With a for a missed and b for a false link, the expected loss Σ a·p(1 − x) + b·(1 − p)x is least where
    Σ x·(p − k) is largest, k = b/(a + b), over valid linkages.

    >>> Binder(false_link=3, missed_link=1).threshold
    0.75
    """

    kind: ClassVar[str] = "binder"
    false_link: float = 1.0
    missed_link: float = 1.0

    @property
    def threshold(self) -> float:
        """k = b/(a + b): what a pair's probability must exceed for the link to be worth its risk, were it alone."""
        return self.false_link / (self.false_link + self.missed_link)


@dataclass(frozen=True)
class MPMMS(Loss):
    """Most probable maximal matching sets (Steorts, Hall and Fienberg 2016).

    Every record names the cluster it was in most often. Where these sets overlap, those of higher probability go first,
    and a set is taken if all its records are still free; records left over stay alone.
    """

    kind: ClassVar[str] = "mpmms"


@dataclass(frozen=True)
class SharedMPMMS(Loss):
    """Shared most probable maximal matching sets: those that *all* their members name; other records stay alone."""

    kind: ClassVar[str] = "shared_mpmms"


@dataclass(frozen=True)
class Sadinle(Loss):
    """Sadinle's loss (2017) for two files, with a price for leaving a record of the second file undecided.

    Each record of the second file costs `false_nonmatch` if it is left alone but has a match, `false_match` if it is
    linked but has none, `wrong_match` if it is linked to another than its match, `undecided` if a person shall look.
    """

    kind: ClassVar[str] = "sadinle"
    false_nonmatch: float = 1.0
    false_match: float = 1.0
    wrong_match: float = 2.0
    undecided: float = 0.5


LOSSES: tuple[type[Loss], ...] = (Binder, MPMMS, SharedMPMMS, Sadinle)
"""Every loss, in the order in which help texts name them."""
