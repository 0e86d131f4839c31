"""Shared ties as kernels see them: what a change of links gains from ties that two records of a person share.

Every dyad of file f has a rate lambda = theta_i theta_i', and a tie with probability 1 - exp(-lambda). The dyads of two
persons p and q that were observed several times, in different files or by duplicates within one, go together: two of
them, (i, i') and (j, j') with i, j in p and i', j' in q, share a Poisson count of rate

    kappa = rho min(theta_i, theta_j) min(theta_i', theta_j').

Their log likelihood ratio against independence is, with o = 1/(e^lambda - 1) and K = e^kappa - 1,

    kappa if neither is tied,  log(1 - o K) if one is,  log(1 + o o' K) if both are.

The log-likelihood is the sum over all such pairs of dyads, times the power: for two files and no duplicates the
likelihood itself, beyond that a composite (pairwise) likelihood. Only ties are visited; all else is linear in kappa and
kept in sums.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tielink.kernels import entry_of, njit
from tielink.sampler.partition import FREE

TINY, HUGE = 1e-100, 1e100
"""Products of factors are kept within these; their logs are taken when they leave."""


class Ties(NamedTuple):
    """
    Ties of all files, and the state of their model; without shared ties all arrays but `sums` are empty or zero.

    Attributes
    ----------
    begin, neighbour : (I + 1,) and (2 E,) int64
        The records that each record is tied to, increasing.
    odds : (2 E,) float64
        o of each of these ties.
    theta : (I,) float64
        0 in a file without a network.
    rho, power : (1,) float64
    sums : (J, J) float64
        S: for files f < g the sum over persons of min(theta_i, theta_j) over i in f and j in g; on the diagonal the sum
        over ordered pairs (i, j) of f, i = j among them.
    mark : (I + 1, 2) int64
        Scratch: `mark[i + 1, 0] == mark[0, 0]` for the neighbours i of the record last marked, whose number is
        `mark[0, 1] - 1`, and `mark[i + 1, 1]` says where they stand among its neighbours.
    """

    begin: NDArray[np.int64]
    neighbour: NDArray[np.int64]
    odds: NDArray[np.float64]
    theta: NDArray[np.float64]
    rho: NDArray[np.float64]
    power: NDArray[np.float64]
    sums: NDArray[np.float64]
    mark: NDArray[np.int64]


@njit(forceinline=True)
def excess(kappa):
    """K = e^kappa - 1, finite for people tied to everybody, too, whose odds o are 0."""
    return math.expm1(min(kappa, 700.0))


@njit(forceinline=True)
def _mark_neighbours(ties, record):
    """Write where the neighbours of a record stand among them, unless they are those last marked."""
    if ties.mark[0, 1] == record + 1:
        return
    ties.mark[0, 0] += 1
    ties.mark[0, 1] = record + 1
    for t in range(ties.begin[record], ties.begin[record + 1]):
        ties.mark[ties.neighbour[t] + 1, 0] = ties.mark[0, 0]
        ties.mark[ties.neighbour[t] + 1, 1] = t


@njit(forceinline=True)
def _of_cluster(state, rules, ties, slot, f, g):
    """The part of a cluster in S[f, g]."""
    total = 0.0
    for s in range(state.size[slot]):
        i = state.member[slot, s]
        if rules.file_of[i] == f:
            for t in range(state.size[slot]):
                j = state.member[slot, t]
                if rules.file_of[j] == g:
                    total += min(ties.theta[i], ties.theta[j])
    return total


@njit
def sum_up(state, rules, ties):
    """Write S of all clusters afresh."""
    ties.sums[:] = 0.0
    if ties.power[0] == 0.0:
        return
    for slot in range(state.size.size):
        add_cluster(state, rules, ties, slot, 1.0)


@njit(forceinline=True)
def add_cluster(state, rules, ties, slot, sign):
    """Add a cluster to S, or with sign -1 take it off."""
    if ties.power[0] == 0.0:
        return
    for s in range(state.size[slot]):
        i = state.member[slot, s]
        for t in range(state.size[slot]):
            j = state.member[slot, t]
            f, g = rules.file_of[i], rules.file_of[j]
            if f < g or (f == g and rules.mode == FREE):
                ties.sums[f, g] += sign * min(ties.theta[i], ties.theta[j])


@njit(forceinline=True)
def pair_gain(state, rules, ties, a, b, own, other):
    """The sum over all persons but two of the gains of dyads with a and with b, were they one person."""
    f, g = rules.file_of[a], rules.file_of[b]
    near = min(ties.theta[a], ties.theta[b])
    if near == 0.0:
        return 0.0
    low, high = min(f, g), max(f, g)
    rest = ties.sums[low, high] - _of_cluster(state, rules, ties, own, low, high)
    if own != other:
        rest -= _of_cluster(state, rules, ties, other, low, high)
    scale = ties.rho[0] * near
    total, product = scale * rest, 1.0
    for t in range(ties.begin[a], ties.begin[a + 1]):
        i = ties.neighbour[t]
        slot = state.label[i]
        if (f != g and state.size[slot] == 1) or slot in (own, other):
            continue
        for m in range(state.size[slot]):
            j = state.member[slot, m]
            if rules.file_of[j] == g:
                kappa = scale * min(ties.theta[i], ties.theta[j])
                total -= kappa
                product *= max(1.0 - ties.odds[t] * excess(kappa), TINY)
        if product < TINY:
            total, product = total + math.log(product), 1.0
    _mark_neighbours(ties, a)
    for t in range(ties.begin[b], ties.begin[b + 1]):
        j = ties.neighbour[t]
        slot = state.label[j]
        if (f != g and state.size[slot] == 1) or slot in (own, other):
            continue
        for m in range(state.size[slot]):
            i = state.member[slot, m]
            if rules.file_of[i] == f:
                kappa = scale * min(ties.theta[i], ties.theta[j])
                common = excess(kappa)
                if ties.mark[i + 1, 0] == ties.mark[0, 0]:  # shared; above it passed for one that is not
                    odds = ties.odds[ties.mark[i + 1, 1]]
                    product *= (1.0 + odds * ties.odds[t] * common) / max(1.0 - odds * common, TINY)
                else:
                    total -= kappa
                    product *= max(1.0 - ties.odds[t] * common, TINY)
        if not TINY < product < HUGE:
            total, product = total + math.log(product), 1.0
    return total + math.log(product)


@njit
def dyads_gain(ties, a, i, b, j):
    """The log likelihood ratio of two dyads (a, i) and (b, j) of the same two persons."""
    kappa = ties.rho[0] * min(ties.theta[a], ties.theta[b]) * min(ties.theta[i], ties.theta[j])
    first, second = entry_of(ties.begin, ties.neighbour, a, i), entry_of(ties.begin, ties.neighbour, b, j)
    if first < 0 and second < 0:
        return kappa
    one, two = ties.odds[first] if first >= 0 else -1.0, ties.odds[second] if second >= 0 else -1.0
    # One of the two is tied: -o K; both: o o' K.
    return math.log(max(1.0 + one * two * excess(kappa), TINY))


@njit
def _between(state, rules, ties, own, other):
    """The gains of the dyads between two clusters, which are none once these are one person."""
    total = 0.0
    for s in range(state.size[own]):
        for t in range(state.size[other]):
            a, i = state.member[own, s], state.member[other, t]
            if rules.file_of[a] != rules.file_of[i]:
                continue
            for u in range(s, state.size[own]):
                for v in range(state.size[other]):
                    b, j = state.member[own, u], state.member[other, v]
                    if rules.file_of[b] == rules.file_of[j] and (u > s or v > t):
                        total += dyads_gain(ties, a, i, b, j)
    return total


@njit(forceinline=True)
def tie_gain(state, rules, ties, own, other):
    """What the clusters in two slots gain from ties when they become one person; to be asked for before they do."""
    if ties.power[0] == 0.0:
        return 0.0
    total = 0.0
    for s in range(state.size[own]):
        for t in range(state.size[other]):
            total += pair_gain(state, rules, ties, state.member[own, s], state.member[other, t], own, other)
    if rules.mode == FREE and state.size[own] + state.size[other] > 2:
        total -= _between(state, rules, ties, own, other)
    return ties.power[0] * total


@njit
def mark_led_to(state, ties, record, led, mark):
    """Write `mark` for all records tied to somebody linked to a neighbour: with no other can a record share a tie."""
    for t in range(ties.begin[record], ties.begin[record + 1]):
        slot = state.label[ties.neighbour[t]]
        for m in range(state.size[slot]):
            j = state.member[slot, m]
            for u in range(ties.begin[j], ties.begin[j + 1]):
                led[ties.neighbour[u]] = mark


@njit
def log_shared(state, rules, ties):
    """The sum of all log likelihood ratios, power left out; S must be up to date."""
    total = 0.0
    for slot in range(state.size.size):
        for s in range(state.size[slot]):
            for t in range(s + 1, state.size[slot]):
                a, b = state.member[slot, s], state.member[slot, t]
                # Two persons see each other's pairs of dyads twice, unless one of them has a single record there.
                total += 0.5 * pair_gain(state, rules, ties, a, b, slot, slot)
                if rules.file_of[a] == rules.file_of[b]:
                    single = 0.0  # the dyads of both with the same record
                    for i in range(ties.theta.size):
                        if rules.file_of[i] == rules.file_of[a] and state.label[i] != slot:
                            single += dyads_gain(ties, a, i, b, i)
                    total += 0.5 * single
    return total


def make_ties(begin: NDArray[np.int64], neighbour: NDArray[np.int64], theta: NDArray[np.float64], files: int) -> Ties:
    """Return ties with no power yet."""
    rate = theta[np.repeat(np.arange(len(theta)), np.diff(begin))] * theta[neighbour]
    odds, mark = np.exp(-rate) / -np.expm1(-rate), np.zeros((len(theta) + 1, 2), dtype=np.int64)
    return Ties(begin, neighbour, odds, theta, np.zeros(1), np.zeros(1), np.zeros((files, files)), mark)


def no_ties(records: int, files: int) -> Ties:
    """Return ties that say nothing."""
    return make_ties(np.zeros(records + 1, dtype=np.int64), np.empty(0, dtype=np.int64), np.zeros(records), files)
