"""How much shared ties are believed: the power of their likelihood, learnt without knowing who is whom.

Ties around a person are not independent (triangles, groups), so the sum of their log likelihood ratios is too sure of
itself. Let g(i, j) be the tie evidence of a pair, the links of i and j taken away, and let a record i choose, as if
ties were all that is known, among the n records of another file, with weights e^{βg(i,j)}, and nobody, with weight n·w.
The power is the largest β up to 1 that passes two tests of calibration:

- Of records that are linked, no more choose a wrong partner than nobody (w = 1).
- Of all records, no more choose somebody than are linked (w the odds of not being linked).

A likelihood ratio that is right passes both on average; one that counts the same news several times fails them, for it
finds wrong partners that it is sure of. Records with several good partners count as one choice each, so a few people
who cannot be told apart do not decide. Without fields links rest on ties alone: there known matches teach the power.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tielink.kernels import njit
from tielink.sampler.data import Data
from tielink.sampler.partition import FREE, Clusters
from tielink.sampler.ties import mark_led_to, pair_gain

__all__ = ["Choice", "calibrated_power", "draw_choices", "known_choices", "taught_power"]

Floats = NDArray[np.float64]
RECORDS = 80
"""Records that are asked at a time."""
RIVALS = 300
"""Other records that each may choose; with more of them in the file, those that linked neighbours lead to and a
sample of the rest."""
POWERS = np.linspace(0.02, 1.0, 50)
USUAL, SPREAD = 0.5, 0.5
"""Where few matches are known: log β is normal around the log of this, with this standard deviation."""
SLACK = 0.002
"""How far off the tests may be, as a share of the choices: evidence near 0 passes."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Tie evidence of one record for its partner (-inf without one), and for others, each standing for so many."""

    right: float
    wrong: Floats
    weight: Floats


def draw_choices(rng: np.random.Generator, state: Clusters, data: Data) -> list[Choice]:
    """Return the choices of some records that have a network, drawn at random, with their partners in the state."""
    rules, ties = data.rules, data.ties
    tied = np.flatnonzero(ties.theta > 0)
    files = np.unique(rules.file_of[tied])
    choices = []
    for record in rng.choice(tied, min(RECORDS, len(tied)), replace=False) if len(tied) else ():
        slot = state.label[record]
        partners = state.member[slot, : state.size[slot]]
        partners = partners[(partners != record) & (ties.theta[partners] > 0)]
        others = files if rules.mode == FREE else files[files != rules.file_of[record]]
        if not len(others):
            continue
        partner = int(rng.choice(partners)) if len(partners) else -1
        file = rules.file_of[partner] if partner >= 0 else int(rng.choice(others))
        choices += _choice(rng, state, data, record, partner, file, state.member[slot, : state.size[slot]])
    return choices


def known_choices(rng: np.random.Generator, state: Clusters, data: Data, matches: NDArray[np.int64]) -> list[Choice]:
    """Return the choices of some records whose partners are known, though not to the state: pairs, one a row."""
    choices = []
    for pair in rng.permutation(matches)[:RECORDS]:
        record, partner = rng.permutation(pair)
        choices += _choice(rng, state, data, record, partner, data.rules.file_of[partner], pair)
    return choices


def _choice(
    rng: np.random.Generator, state: Clusters, data: Data, record: int, partner: int, file: int, own: NDArray[np.int64]
) -> list[Choice]:
    """Return the choice of a record among a file, if it has rivals: all but its `own`; `partner` is -1 for none."""
    rules, ties = data.rules, data.ties
    begin = int(rules.file_size[:file].sum())
    rivals = np.arange(begin, begin + rules.file_size[file])
    rivals = rivals[~np.isin(rivals, own)]
    weight = np.ones(len(rivals))
    if len(rivals) > RIVALS:
        near = np.isin(rivals, _led_to(state, data, record, file))
        some = rng.choice(np.flatnonzero(~near), min(RIVALS, int((~near).sum())), replace=False)
        rest = (~near).sum() / max(len(some), 1)
        rivals, weight = np.append(rivals[near], rivals[some]), np.append(weight[near], np.full(len(some), rest))
    if not len(rivals):
        return []
    right = -np.inf
    if partner >= 0:
        right = pair_gain(state, rules, ties, record, partner, state.label[record], state.label[partner])
    return [Choice(right, _gains(state, rules, ties, record, rivals), weight)]


@njit
def _gains(state, rules, ties, record, others):
    gains = np.empty(others.size)
    for i in range(others.size):
        gains[i] = pair_gain(state, rules, ties, record, others[i], state.label[record], state.label[others[i]])
    return gains


def _led_to(state: Clusters, data: Data, record: int, file: int) -> NDArray[np.int64]:
    """Return the records of a file that are tied to somebody linked to a neighbour."""
    led = np.zeros(len(data.rules.file_of), dtype=np.int64)
    mark_led_to(state, data.ties, record, led, 1)
    return np.flatnonzero((led == 1) & (data.rules.file_of == file))


def calibrated_power(choices: list[Choice]) -> float:
    """Return the largest power that passes both tests; 0 if nobody is linked.

    Where ties say nothing all evidence is near 0, whatever the power, and 1 does no harm.
    """
    right = np.array([choice.right for choice in choices])
    linked = right > -np.inf
    if not linked.any():
        return 0.0
    begins, wrong, log_weight, nobody = _stacked(choices)
    odds = np.log((~linked).sum()) - np.log(linked.sum()) if not linked.all() else -np.inf
    best = 0.0
    for power in POWERS:
        others, own = _log_sums(power * wrong + log_weight, begins), power * right
        total = np.logaddexp(np.logaddexp(others, nobody), own)
        false = (np.exp(others - total) - np.exp(nobody - total))[linked].sum()
        somebody = np.logaddexp(others, own)
        surplus = (1 / (1 + np.exp(np.clip(nobody + odds - somebody, -700, 700)))).sum() - linked.sum()
        if max(false, surplus if odds > -np.inf else -1.0) > SLACK * len(choices):
            break
        best = float(power)
    return best


def taught_power(choices: list[Choice], matches: int) -> float:
    """Return the power at which records choose their known partners with the highest probability.

    Choices of the same matches at many moments count as one choice of each of them. A normal prior of log β holds
    where few matches are known.
    """
    log_prior = -0.5 * (np.log(POWERS / USUAL) / SPREAD) ** 2
    if not choices:
        return float(POWERS[np.argmax(log_prior)])
    begins, wrong, log_weight, nobody = _stacked(choices)
    right = np.array([one.right for one in choices])
    scores = []
    for power in POWERS:
        others = np.logaddexp(_log_sums(power * wrong + log_weight, begins), nobody)
        scores.append(float((power * right - np.logaddexp(others, power * right)).mean()))
    return float(POWERS[np.argmax(matches * np.array(scores) + log_prior)])


def _stacked(choices: list[Choice]) -> tuple[NDArray[np.int64], Floats, Floats, Floats]:
    """Return the rivals of all choices in one array: where each begins, evidence, log weights; the weight of nobody."""
    begins = np.concatenate([[0], np.cumsum([len(choice.wrong) for choice in choices])[:-1]])
    wrong = np.concatenate([choice.wrong for choice in choices])
    log_weight = np.log(np.concatenate([choice.weight for choice in choices]))
    return begins, wrong, log_weight, _log_sums(log_weight, begins)


def _log_sums(logs: Floats, begins: NDArray[np.int64]) -> Floats:
    """Return log Σ e^x of each part of an array."""
    largest = np.maximum.reduceat(logs, begins)
    shifted = logs - np.repeat(largest, np.diff(begins, append=len(logs)))
    return np.asarray(largest + np.log(np.add.reduceat(np.exp(shifted), begins)))
