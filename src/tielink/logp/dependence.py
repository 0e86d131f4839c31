"""What fields that depend on each other add to the log probability of profiles, by its definition.

    log C(x) = log Σ_v Π_ℓ p(v_ℓ)·Π_i f_ℓ(x_iℓ | v_ℓ)·Π_edges R(v_ℓ, v_parent) − Σ_ℓ log Σ_v p(v)·Π_i f_ℓ(x_iℓ | v),

with R(u, v) = p(u, v)/p(u)p(v), see `channels.dependence`. Every true value of every field is visited, and true strings
that nobody has are one value more, seen with nothing: q(u, v) = 0.

Each record of a person has the values of another time, all of the tree's together, with probability κ; then it is as if
it were somebody else's. So a tree says of a person's records

    Σ_S κ^(k−|S|)·(1 − κ)^|S|·M(x_S)·Π_{i∉S} M(x_i),        M(x) = C(x)·Π_ℓ m_ℓ(x).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from tielink.channels.channel import Channel, Codes, Floats
from tielink.data.columns import MISSING
from tielink.logp.profiles import log_group

if TYPE_CHECKING:
    from tielink.channels.tree import FieldTree  # numba: a saved posterior opens without it

__all__ = ["joint_ratio", "log_dependence", "log_tree"]


def joint_ratio(tree: FieldTree, child: int) -> Floats:
    """Return R of all true values of a child (rows) and its parent (columns), those that nobody has last."""
    arrays, parent = tree.arrays, tree.parents[child]
    first = np.cumsum([0, *(channel.levels for channel in tree.channels)])
    mine, theirs = tree.channels[child].levels, tree.channels[parent].levels
    own = np.append(arrays.own[first[child] : first[child + 1]], 1.0)
    begin = arrays.below[child] + first[parent]
    ratio = arrays.scale[child] * own[:, None] * np.append(arrays.others[begin : begin + theirs], 1.0)
    for v in range(mine):
        entries = slice(*arrays.start[first[child] + v : first[child] + v + 2])
        ratio[v, arrays.to[entries] - first[parent]] += arrays.seen[entries]
    return np.asarray(ratio)


def _weights(channel: Channel, parameters: Floats, rates: Floats, values: Codes) -> Floats:
    """Return p(v)·Π_i f(x_i | v) of every true value, those that nobody has last."""
    prior, near = channel.code_probability(), channel.near_truths(parameters)
    assert prior is not None
    whole = np.append(prior, max(1.0 - float(prior.sum()), 0.0))
    single = channel.single(parameters, np.arange(channel.levels))[1]
    for x, rate in zip(values, rates, strict=True):
        row = slice(*near.start[x : x + 2])
        clean, distorted = np.zeros(len(whole)), np.full(len(whole), near.far[x])
        clean[near.truth[row]], distorted[near.truth[row]] = near.clean[row], near.distorted[row]
        if whole[-1] > 1e-9:
            distorted[-1] = max(float(single[x] - prior @ distorted[:-1]), 0.0) / max(1.0 - float(prior.sum()), 1e-12)
        whole = whole * ((1 - rate) * clean + rate * distorted)
    return whole


def log_dependence(tree: FieldTree, parameters: Sequence[Floats], rates: Sequence[Floats], records: Codes) -> float:
    """Return log C of the records of one person; parameters and records' rates are those of all fields."""
    weights = []
    for place, channel in zip(tree.places, tree.channels, strict=True):
        known = records[channel.codes[records] != MISSING]
        weight = _weights(channel, parameters[place], rates[place][known], channel.codes[known])
        weights.append(weight / weight.sum())
    for child, parent in enumerate(tree.parents[:-1]):
        weights[parent] = weights[parent] * (weights[child] @ joint_ratio(tree, child))
    return float(np.log(weights[-1].sum()))


def log_tree(
    tree: FieldTree, parameters: Sequence[Floats], rates: Sequence[Floats], change: float, labels: Codes
) -> float:
    """Return the log probability of all that records say in a tree's fields, given who is whom."""

    def of_one_time(records: Codes) -> float:
        total = log_dependence(tree, parameters, rates, records) if len(records) else 0.0
        for place, channel in zip(tree.places, tree.channels, strict=True):
            known = records[channel.codes[records] != MISSING]
            if len(known):
                total += log_group(channel, parameters[place], rates[place][known], channel.codes[known])
        return total

    total = 0.0
    for label in np.unique(labels):
        records = np.flatnonzero(labels == label)
        logs = []
        for choice in product((True, False), repeat=len(records)):
            inside = np.array(choice)
            chance = inside.sum() * np.log1p(-change) + (~inside).sum() * np.log(change)
            apart = sum(of_one_time(records[place : place + 1]) for place in np.flatnonzero(~inside))
            logs.append(chance + of_one_time(records[inside]) + apart)
        total += float(logsumexp(logs))
    return total
