"""Priors of the linkage ξ, the partition of records into persons.

A prior here knows the class of partitions it allows and, for partitions into singletons and pairs, the
probability of any one of them that has m matches. What that means for the number of persons N is computed
for the user's own file sizes and printed with every run.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, logsumexp

from tielink.faults import Fault, InputError
from tielink.specification import Complaint, Specification, is_number

if TYPE_CHECKING:
    from tielink.data.linkage import LinkageClass

__all__ = ["LINKAGE_PRIORS", "LinkagePrior", "MatchRate", "Uniform", "log_matchings", "pairing_tables"]

Log = NDArray[np.float64]


@dataclass(frozen=True)
class LinkagePrior(Specification):
    """Base of the priors on partitions into singletons and pairs of records of different files."""

    allowed: ClassVar[LinkageClass] = "pairs"

    @abstractmethod
    def log_by_matches(self, free: tuple[int, ...], anchors: int = 0) -> Log:
        """Return log p(ξ) of *one* linkage with m matches, for m = 0, 1, ….

        Parameters
        ----------
        free
            The number of records of each file that are not anchored.
        anchors
            The number of anchored pairs. They are part of every linkage; m counts the other matches.
        """

    def log_matches(self, free: tuple[int, ...], anchors: int = 0) -> Log:
        """Return the log prior probability of *having* m matches besides the anchors."""
        log = self.log_by_matches(free, anchors) + log_matchings(free)
        return np.asarray(log - logsumexp(log))


def pairing_tables(sizes: tuple[int, ...]) -> list[dict[int, float]]:
    """Count partial pairings of records of different files, file by file.

    Entry j maps the number of records of files 0 … j still alone to the log number of ways to pair the others.
    Joining file j with n records to r that are alone, k pairs can be made in C(n,k)·C(r,k)·k! ways.
    """
    tables = [{sizes[0]: 0.0}]
    for size in sizes[1:]:
        ways: dict[int, list[float]] = {}
        for alone, log_count in tables[-1].items():
            for pairs in range(min(size, alone) + 1):
                ways.setdefault(alone + size - 2 * pairs, []).append(log_count + log_pairings(size, alone, pairs))
        tables.append({alone: float(logsumexp(logs)) for alone, logs in ways.items()})
    return tables


def log_pairings(left: int, right: int, pairs: int) -> float:
    """Return the log of C(left, pairs)·C(right, pairs)·pairs!."""

    def log_choose(n: int) -> float:
        return float(gammaln(n + 1) - gammaln(pairs + 1) - gammaln(n - pairs + 1))

    return log_choose(left) + log_choose(right) + float(gammaln(pairs + 1))


def log_matchings(sizes: tuple[int, ...]) -> Log:
    """Return the log number of partitions into singletons and m pairs across files, for m = 0, 1, ….

    >>> np.exp(log_matchings((2, 3))).round()
    array([1., 6., 6.])
    """
    last = pairing_tables(sizes)[-1]
    most = (sum(sizes) - min(last)) // 2
    return np.array([last.get(sum(sizes) - 2 * pairs, -np.inf) for pairs in range(most + 1)])


@dataclass(frozen=True)
class Uniform(LinkagePrior):
    """Every partition into singletons and pairs is equally likely: p(ξ) ∝ 1 (the paper).

    There are far more ways to match many records than few, so this prior is sure that almost everybody who can
    be matched is: for files of 184 and 420 records it expects 183.2 pairs.
    """

    kind: ClassVar[str] = "uniform"

    def log_by_matches(self, free: tuple[int, ...], anchors: int = 0) -> Log:
        """Return log p(ξ) = −log(number of linkages) for each m; see the base class."""
        counts = log_matchings(free)
        return np.full(len(counts), -logsumexp(counts))


@dataclass(frozen=True)
class MatchRate(LinkagePrior):
    """The number of matches is beta-binomial; given that number, every linkage is equally likely. Two files.

    m ~ BetaBinomial(min(n₁, n₂), a, b), so with n the smaller and n' the larger file

        p(ξ) = B(m + a, n − m + b)/B(a, b) · (n' − m)!/n'!.

    With a = b = 1 every number of matches is equally likely.

    Parameters
    ----------
    a, b
        Parameters of the beta distribution of the match rate.
    anchors_inform
        Anchors are usually known *because* they match, and then say nothing about the rate: m, n₁ and n₂ count
        only records that are not anchored. Set this if anchors come from checking a random sample.
    """

    kind: ClassVar[str] = "match_rate"
    a: float = 1.0
    b: float = 1.0
    anchors_inform: bool = False

    def complaints(self) -> Iterator[Complaint]:
        """Both parameters must be positive."""
        for name in ("a", "b"):
            if not is_number(getattr(self, name), above=0):
                yield name, "a number above 0"
        if not isinstance(self.anchors_inform, bool):
            yield "anchors_inform", "true or false"

    def log_by_matches(self, free: tuple[int, ...], anchors: int = 0) -> Log:
        """Return log p(ξ) by the formula above; see the base class."""
        if len(free) != 2:
            raise InputError(
                [Fault("linkage", f"MatchRate is defined for two files, not {len(free)}.", "Use Uniform().")]
            )
        counted = anchors if self.anchors_inform else 0
        smaller, larger = (size + counted for size in sorted(free))
        matches = np.arange(min(free) + 1) + counted
        rate = betaln(matches + self.a, smaller - matches + self.b) - betaln(self.a, self.b)
        return np.asarray(rate + gammaln(larger - matches + 1) - gammaln(larger + 1))


LINKAGE_PRIORS: tuple[type[LinkagePrior], ...] = (MatchRate, Uniform)
"""Every linkage prior, in the order in which help texts name them."""
