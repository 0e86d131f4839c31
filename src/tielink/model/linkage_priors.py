"""Priors of the linkage ξ, the partition of records into persons.

A prior here knows the class of partitions it allows and, for partitions into singletons and pairs, the
probability of any one of them that has m matches. What that means for the number of persons N is computed
for the user's own file sizes and printed with every run.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, logsumexp

from tielink.specification import Specification

if TYPE_CHECKING:
    from tielink.data.linkage import LinkageClass

__all__ = ["LINKAGE_PRIORS", "LinkagePrior", "MatchRate", "Uniform", "log_matchings", "pairing_tables"]

Log = NDArray[np.float64]


@dataclass(frozen=True)
class LinkagePrior(Specification):
    """Base of the priors on partitions into singletons and pairs of records of different files."""

    allowed: ClassVar[LinkageClass] = "pairs"

    @abstractmethod
    def log_by_matches(self, free: tuple[int, ...], sizes: tuple[int, ...]) -> Log:
        """Return log p(ξ) of *one* linkage with m matches besides the anchors, for m = 0, 1, ….

        Parameters
        ----------
        free
            The number of records of each file that are not anchored.
        sizes
            The number of all records of each file. Anchored pairs are part of every linkage.
        """

    def log_matches(self, free: tuple[int, ...], sizes: tuple[int, ...]) -> Log:
        """Return the log prior probability of *having* m matches besides the anchors."""
        log = self.log_by_matches(free, sizes) + log_matchings(free)
        return np.asarray(log - logsumexp(log))


@lru_cache(maxsize=32)
def pairing_tables(sizes: tuple[int, ...]) -> tuple[Log, ...]:
    """Count partial pairings of records of different files, file by file.

    Entry [j][r] is the log number of ways to pair records of files 0 … j so that r of them are alone (−∞ for none).
    Joining file j with n records to r that are alone, k pairs can be made in C(n,k)·C(r,k)·k! ways.
    """
    tables = [np.full(sizes[0] + 1, -np.inf)]
    tables[0][-1] = 0.0
    for size in sizes[1:]:
        before = tables[-1]
        after = np.full(len(before) + size, -np.inf)
        for alone in np.flatnonzero(before > -np.inf):
            pairs = np.arange(min(size, int(alone)) + 1)
            left = alone + size - 2 * pairs
            after[left] = np.logaddexp(after[left], before[alone] + log_pairings(size, int(alone), pairs))
        tables.append(after)
    return tuple(tables)


def log_pairings(left: int, right: int | NDArray[np.int64], pairs: NDArray[np.int64]) -> Log:
    """Return the log of C(left, pairs)·C(right, pairs)·pairs!."""
    log = gammaln(left + 1) - gammaln(left - pairs + 1) + gammaln(right + 1) - gammaln(right - pairs + 1)
    return np.asarray(log - gammaln(pairs + 1))


def log_matchings(sizes: tuple[int, ...]) -> Log:
    """Return the log number of partitions into singletons and m pairs across files, for m = 0, 1, ….

    >>> np.exp(log_matchings((2, 3))).round()
    array([1., 6., 6.])
    """
    last = pairing_tables(sizes)[-1]
    fewest_alone = int(np.flatnonzero(last > -np.inf)[0])
    return np.asarray(last[sum(sizes) : fewest_alone - 1 if fewest_alone else None : -2])


@dataclass(frozen=True)
class Uniform(LinkagePrior):
    """Every partition into singletons and pairs is equally likely: p(ξ) ∝ 1 (the paper).

    There are far more ways to match many records than few, so this prior is sure that almost everybody who can
    be matched is: for files of 184 and 420 records it expects 183.2 pairs.
    """

    kind: ClassVar[str] = "uniform"

    def log_by_matches(self, free: tuple[int, ...], sizes: tuple[int, ...]) -> Log:
        """Return log p(ξ) = −log(number of linkages) for each m; see the base class."""
        counts = log_matchings(free)
        return np.full(len(counts), -logsumexp(counts))


@dataclass(frozen=True)
class MatchRate(LinkagePrior):
    """The number of matches is beta-binomial; given that number, every linkage is equally likely.

    m ~ BetaBinomial(M, a, b) with M the most matches that the files allow. For two files, n the smaller and n' the
    larger size, M = n and

        p(ξ) = B(m + a, n − m + b)/B(a, b) · (n' − m)!/n'!.

    With a = b = 1 every number of matches is equally likely.

    Parameters
    ----------
    a, b
        Parameters of the beta distribution of the match rate.
    anchors_inform
        Anchors are usually known *because* they match, and then say nothing about the rate: m and M count
        only records that are not anchored. Set this if anchors come from checking a random sample.
    """

    kind: ClassVar[str] = "match_rate"
    positive: ClassVar[tuple[str, ...]] = ("a", "b")
    a: float = 1.0
    b: float = 1.0
    anchors_inform: bool = False

    def log_by_matches(self, free: tuple[int, ...], sizes: tuple[int, ...]) -> Log:
        """Return log p(m) − log(number of linkages with m matches); see the base class."""
        counted = sizes if self.anchors_inform else free
        anchors = (sum(counted) - sum(free)) // 2
        ways = log_matchings(counted)
        most, matches = len(ways) - 1, np.arange(len(ways))
        choose = gammaln(most + 1) - gammaln(matches + 1) - gammaln(most - matches + 1)
        rate = choose + betaln(matches + self.a, most - matches + self.b) - betaln(self.a, self.b)
        return np.asarray((rate - ways)[anchors : anchors + len(log_matchings(free))])


LINKAGE_PRIORS: tuple[type[LinkagePrior], ...] = (MatchRate, Uniform)
"""Every linkage prior, in the order in which help texts name them."""
