"""Log probability of profiles: with true values and distortions (uncollapsed), and with both summed out.

A field is defined by the distribution p(v) of true values and by f(x | v), the probability that a record of a
person with true value v says x:

    f(x | v) = (1 − ψ)·c_v(x) + ψ·ζ_v(x),

with c_v(x) = 1[x = v] in most kinds. Summing over v gives the collapsed probability of all values of one person's
records,

    m(x₁, …, x_k) = Σ_v p(v)·Π_i f(x_i | v),

in closed form for one and two records. A missing value contributes nothing. Rates ψ may differ by record.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, logsumexp, xlog1py, xlogy

from tielink.channels.channel import Channel, Codes, FiniteChannel, Floats, mixed, told
from tielink.data.columns import MISSING
from tielink.logp.parameters import Parameters
from tielink.model.problem import Problem
from tielink.specification import Beta

__all__ = [
    "log_careless",
    "log_collapsed",
    "log_distortion",
    "log_evidence",
    "log_group",
    "log_pair",
    "log_single",
    "log_uncollapsed",
]

Rates = float | Floats


def log_group(field: Channel, parameters: Floats, rates: Rates, values: Codes) -> float:
    """Return log m(x₁, …, x_k) by its definition, summing over true values."""
    truths = field.truths(parameters, values)
    return float(logsumexp(_log(truths.prior) + _log(truths.likelihood(rates)).sum(axis=0)))


def _log(probability: Floats) -> Floats:
    """Return the logarithm, −∞ for what is impossible."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probability))


def log_single(field: Channel, parameters: Floats, rates: Rates, values: Codes) -> Floats:
    """Return log m(x) of many values."""
    return _log(mixed(field.single(parameters, values), rates))


def log_pair(
    field: Channel, parameters: Floats, rates: Rates | tuple[Rates, Rates], left: Codes, right: Codes
) -> Floats:
    """Return log m(x, y) of many pairs of values, in closed form; rates are one for all, or those of x and of y.

    m(x, y) = (1−ψ)(1−ψ')·Σ_v p(v)c_v(x)c_v(y) + … + ψψ'·Σ_v p(v)ζ_v(x)ζ_v(y), four terms.
    """
    left_rate, right_rate = rates if isinstance(rates, tuple) else (rates, rates)
    return _log(np.asarray(sum(field.pair(parameters, left, right).weighted(left_rate, right_rate))))


def log_evidence(field: Channel, parameters: Floats, rates: Rates, left: Codes, right: Codes) -> Floats:
    """Return log m(x,y) − log m(x) − log m(y): what a field says for each pair of *records* being one person.

    `left` and `right` are record numbers, `rates` one for all or one a record; a pair in which a value is missing
    gets 0.
    """
    rate = np.broadcast_to(np.asarray(rates, dtype=float), len(field.codes))
    known = (field.codes[left] != MISSING) & (field.codes[right] != MISSING)
    left, right = left[known], right[known]
    x, y = field.codes[left], field.codes[right]
    evidence = np.zeros(len(known))
    single = log_single(field, parameters, rate[left], x) + log_single(field, parameters, rate[right], y)
    evidence[known] = log_pair(field, parameters, (rate[left], rate[right]), x, y) - single
    return evidence


def log_collapsed(field: Channel, parameters: Floats, rates: Rates, labels: Codes) -> float:
    """Return Σ over persons of log m(values of the person's records); rates are one for all or one a record."""
    rate, codes = np.broadcast_to(np.asarray(rates, dtype=float), len(field.codes)), field.codes
    one, two, more = told(codes, labels)
    left, right = two.T
    total = float(log_single(field, parameters, rate[one], codes[one]).sum())
    total += float(log_pair(field, parameters, (rate[left], rate[right]), codes[left], codes[right]).sum())
    return total + sum(log_group(field, parameters, rate[records], codes[records]) for records in more)


def log_uncollapsed(problem: Problem, index: int, parameters: Parameters) -> float:
    """Return log p(values, w, π | ξ, ψ, ϑ) of field number `index`; −∞ where w = 0 but the value is not π.

    Σ_n log p(π_n) + Σ_r w_r·[log ψ + log ζ_{π}(x_r)] + (1 − w_r)·[log(1−ψ) + log 1[x_r = π]].
    """
    field = problem.fields[index]
    assert isinstance(field, FiniteChannel)
    assert parameters.true_values is not None
    assert parameters.distorted is not None
    own = parameters.of_field(index)
    rates = problem.record_rates(index, parameters.distortion, parameters.careless)
    true_values, is_distorted = parameters.true_values[:, index], parameters.distorted[:, index]
    total = float(_log(field.truth(own)[true_values]).sum())
    for record in np.flatnonzero(field.codes != MISSING):
        value, true_value = int(field.codes[record]), int(true_values[parameters.labels[record]])
        if is_distorted[record]:
            total += float(_log(rates[record] * field.distorted_to(own, value)[true_value]))
        else:
            total += float(_log(1 - rates[record])) if value == true_value else -np.inf
    return total


def log_distortion(prior: Beta, rate: float) -> float:
    """Return log Beta(ψ; a, b)."""
    return float(xlogy(prior.a - 1, rate) + xlog1py(prior.b - 1, -rate) - betaln(prior.a, prior.b))


def log_careless(careless: NDArray[np.bool_], share: float) -> float:
    """Return Σ_r log Bernoulli(careless_r; κ)."""
    count = int(careless.sum())
    return float(xlogy(count, share) + xlog1py(len(careless) - count, -share))
