"""Moves of pairs that are no candidates, so that the sampler is exact for the whole model.

Call a record *loose* if nobody is known to be the same person and it is alone, or with one other such record that is
no candidate of it. Linking and parting loose records that are no candidates of each other leaves the same records
loose. A few of them are given new partners among themselves by Gibbs draws. Which ones is a matter of chance:

- Blindly: without looking at how they are linked, so there is no acceptance ratio.
- Gathered: pairs that are linked off the list, each with probability κ, filled up to m records with single ones at
  random. All other such pairs stand aside. With h pairs taken the choice has a probability in proportion to
  κ^h / C(M − 2h, m − 2h) for M loose records that do not stand aside, so linking a pair more gains
  κ·(M − 2h)·(M − 2h − 1) / [(m − 2h)·(m − 2h − 1)]. Without it, a pair that was linked for no reason would stay for as
  long as it takes to draw both its records. Should the pairs taken fill more than half of the places, nothing is done;
  κ is drawn anew each time, so that there is room for a thousand such pairs.

Hardly any pair off the list shares a tie. For those that cannot, a bound stands in for what ties say; only if such a
pair is chosen is its evidence summed up, and the choice rejected and made again as often as the bound was too high.

Records are drawn in an order that their set alone decides. Were those linked first in turn, the way back would have
another order, and the posterior would not be kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Codes
from tielink.kernels import entry_of, njit
from tielink.sampler.choice import choose
from tielink.sampler.data import Data
from tielink.sampler.moves.labels import put_in, take_out
from tielink.sampler.partition import FREE, Clusters, join_gain, join_gains, permitted
from tielink.sampler.ties import mark_led_to, most_without_shared, tie_gain

__all__ = ["move_off_list"]
AT_A_TIME = 128
"""Loose records that are drawn at a time."""
ROUNDS = 2
BLIND = 0.25
"""The share of blind choices."""
SHARES = (1.0, 1 / 4, 1 / 16, 1 / 64)
"""κ to draw from."""


def move_off_list(
    rng: np.random.Generator,
    state: Clusters,
    data: Data,
    evidence: Callable[[Codes], NDArray[np.float64]],
    most: int = AT_A_TIME,
) -> tuple[int, int]:
    """Redraw who is whom among a few loose records that are no candidates; `evidence` tells E of pairs, one a row.

    Returns how often a record was drawn, and how often its partner changed.
    """
    loose = np.flatnonzero(_loose(state, data))
    if rng.random() < BLIND:
        few, bonus = draw_some(rng, loose, most), np.zeros(most // 2 + 1)
        linked = len(few) - len(np.unique(state.label[few]))
    else:
        share, cap = rng.choice(SHARES), most // 4
        slots = np.unique(state.label[loose[state.size[state.label[loose]] == 2]])
        taken = slots[rng.random(len(slots)) < share]
        linked = len(taken)
        if linked > cap:
            return 0, 0
        own, single = state.member[taken, :2].ravel(), loose[state.size[state.label[loose]] == 1]
        few = np.sort(np.append(own, draw_some(rng, single, most - len(own))))
        bonus = _bonus(len(own) + len(single), len(few), share, cap)
    i, j = np.triu_indices(len(few), 1)
    if data.rules.mode != FREE:
        across = data.rules.file_of[few[i]] != data.rules.file_of[few[j]]
        i, j = i[across], j[across]
    weight = np.full((len(few), len(few)), -np.inf)
    weight[i, j] = weight[j, i] = evidence(np.column_stack([few[i], few[j]]))
    return ROUNDS * len(few), _redraw(rng, state, data, few, weight, bonus, linked)


def draw_some(rng: np.random.Generator, records: Codes, most: int) -> Codes:
    """Return so many of these records at most, drawn at random, in order."""
    return records if len(records) <= most else np.sort(rng.choice(records, most, replace=False))


def _bonus(loose: int, drawn: int, share: float, cap: int) -> NDArray[np.float64]:
    """Return what linking one pair more gains because the choice of records depends on h, for h = 0, 1, …."""
    h = np.arange(cap + 1)
    gain = np.full(cap + 1, np.log(share))
    for one in (2 * h, 2 * h + 1):
        gain += np.log(np.maximum(loose - one, 1) / np.maximum(drawn - one, 1))
    return np.where(h < cap, gain, -np.inf)


@njit
def _loose(state, data):
    """Which records are loose."""
    rules = data.rules
    found = np.zeros(state.label.size, dtype=np.bool_)
    for record in range(found.size):
        slot = state.label[record]
        free = True
        for t in range(state.size[slot]):
            unit = rules.unit_of[state.member[slot, t]]
            free = free and rules.unit_begin[unit + 1] - rules.unit_begin[unit] == 1
        if free and state.size[slot] == 2:
            free = entry_of(data.lists.begin, data.lists.record, state.member[slot, 0], state.member[slot, 1]) < 0
        found[record] = free and state.size[slot] <= 2
    return found


@njit
def _redraw(rng, state, data, few, evidence, bonus, linked):
    """Gibbs draws of each record's partner among those of `few` that are alone and no candidates of it.

    `linked` is h, the number of pairs linked among them, and `bonus` what a link gains by it.
    """
    rules, lists = data.rules, data.lists
    here = np.full(state.label.size, -1, dtype=np.int64)
    for i in range(few.size):
        here[few[i]] = i
    for i in range(few.size):
        for c in range(lists.begin[few[i]], lists.begin[few[i] + 1]):
            if here[lists.record[c]] >= 0:
                evidence[i, here[lists.record[c]]] = -np.inf
    gains, log_weights = np.empty(rules.file_size.size), np.empty(few.size + 1)
    key = np.empty(rules.largest, dtype=np.int64)
    bounds = np.empty(few.size)
    led, marks = np.zeros(state.label.size, dtype=np.int64), 0
    lazy = data.ties.power[0] > 0.0 and rules.mode != FREE
    changed = 0
    for _ in range(ROUNDS):
        for i in range(few.size):
            own, partner = state.label[few[i]], np.int64(-1)
            if state.size[own] == 2:
                partner = state.member[own, 0] + state.member[own, 1] - few[i]
                if here[partner] < 0:
                    continue
                own, _, _ = take_out(state, data, rules.unit_of[few[i]], key)
                linked -= 1
            join_gains(state, rules, gains)
            if lazy:
                marks += 1
                mark_led_to(state, data.ties, few[i], led, marks)
            for j in range(few.size):
                slot, bounds[j] = state.label[few[j]], np.nan
                log_weights[j] = -np.inf
                if i != j and evidence[i, j] > -np.inf and state.size[slot] == 1 and permitted(state, rules, own, slot):
                    log_weights[j] = evidence[i, j] + join_gain(state, rules, gains, own, slot) + bonus[linked]
                    if lazy and led[few[j]] != marks:
                        bounds[j] = most_without_shared(rules, data.ties, few[i], few[j])
                        log_weights[j] += bounds[j]
                    else:
                        log_weights[j] += tie_gain(state, rules, data.ties, own, slot)
            log_weights[few.size] = 0.0
            chosen, _ = choose(rng, log_weights)
            while chosen < few.size and not math.isnan(bounds[chosen]):  # the weight is a bound: accept, or draw again
                short = tie_gain(state, rules, data.ties, own, state.label[few[chosen]]) - bounds[chosen]
                log_weights[chosen] += short
                bounds[chosen] = np.nan
                if math.log(rng.random()) < short:
                    break
                chosen, _ = choose(rng, log_weights)
            new = np.int64(-1)
            if chosen < few.size:
                new = few[chosen]
                put_in(state, data, own, state.label[new], evidence[i, chosen])
                linked += 1
            changed += new != partner
    return changed
