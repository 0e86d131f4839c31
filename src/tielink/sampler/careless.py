"""Which records are careless, given who is whom: distortions and true values summed out, so that classes mix well."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from tielink.channels.channel import Channel, Codes, Floats, told
from tielink.data.columns import MISSING
from tielink.logp.profiles import log_group, log_pair, log_single
from tielink.model.problem import Problem

__all__ = ["draw_careless"]

Flags = NDArray[np.bool_]


def draw_careless(
    rng: np.random.Generator,
    problem: Problem,
    rates: Floats,
    fields: list[Floats],
    share: float,
    careless: Flags,
    labels: Codes,
) -> Flags:
    """Draw the class of every record given rates, parameters, the share κ and who is whom.

    A person's classes have probability ∝ Π_r κ^{c_r}(1−κ)^{1−c_r} · Π_ℓ m_ℓ(values; ψ by class): drawn together for
    persons of one and two records, one record after the other for larger ones.
    """
    prior = np.array([math.log1p(-share), math.log(share)])
    by_class = [
        [problem.record_rates(place, rates, np.full(problem.records, sort)) for sort in (False, True)]
        for place in range(len(problem.fields))
    ]
    alone = np.repeat(prior[:, None], problem.records, axis=1)
    for place, field in enumerate(problem.fields):
        known = np.flatnonzero(field.codes != MISSING)
        for sort in (0, 1):
            rate = by_class[place][sort][known]
            alone[sort, known] += log_single(field, fields[place], rate, field.codes[known])
    one, two, more = told(np.zeros(problem.records, dtype=np.int64), labels)
    drawn = careless.copy()
    drawn[one] = rng.random(len(one)) < expit(alone[1, one] - alone[0, one])
    left, right = two.T
    together = alone[:, None, left] + alone[None, :, right]
    for place, field in enumerate(problem.fields):
        _put_pairs_together(field, fields[place], by_class[place], left, right, together)
    weights = np.exp(together - together.max(axis=(0, 1))).reshape(4, -1).cumsum(axis=0)
    chosen = (rng.random(len(left)) * weights[-1] >= weights[:-1]).sum(axis=0)
    drawn[left], drawn[right] = chosen >= 2, chosen % 2 == 1
    for records in more:
        for record in records:
            drawn[record] = rng.random() < _careless_in_group(problem, fields, by_class, prior, drawn, record, records)
    return drawn


def _put_pairs_together(
    field: Channel, parameters: Floats, by_class: list[Floats], left: Codes, right: Codes, together: Floats
) -> None:
    """Replace log m(x) + log m(y) by log m(x, y) in the log weights of pairs (class × class × pairs)."""
    both = np.flatnonzero((field.codes[left] != MISSING) & (field.codes[right] != MISSING))
    a, b = left[both], right[both]
    x, y = field.codes[a], field.codes[b]
    for first in (0, 1):
        for second in (0, 1):
            rates = by_class[first][a], by_class[second][b]
            single = log_single(field, parameters, rates[0], x) + log_single(field, parameters, rates[1], y)
            together[first, second, both] += log_pair(field, parameters, rates, x, y) - single


def _careless_in_group(
    problem: Problem,
    fields: list[Floats],
    by_class: list[list[Floats]],
    prior: Floats,
    careless: Flags,
    record: int,
    records: Codes,
) -> float:
    """Return the probability that one record of a larger person is careless, given the classes of the others."""
    logs = prior.copy()
    for place, field in enumerate(problem.fields):
        if field.codes[record] == MISSING:
            continue
        known = records[field.codes[records] != MISSING]
        rates = np.where(careless[known], by_class[place][1][known], by_class[place][0][known])
        for sort in (0, 1):
            rates[known == record] = by_class[place][sort][record]
            logs[sort] += log_group(field, fields[place], rates, field.codes[known])
    return float(expit(logs[1] - logs[0]))
