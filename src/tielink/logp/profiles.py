"""Log probability of profiles: with true values and distortions (uncollapsed), and with both summed out.

A field is defined by the distribution p(v) of true values and by f(x | v), the probability that a record of a
person with true value v says x:

    f(x | v) = (1 − ψ)·1[x = v] + ψ·ζ_v(x).

Summing over v gives the collapsed probability of all values of one person's records,

    m(x₁, …, x_k) = Σ_v p(v)·Π_i f(x_i | v),

in closed form for one and two records. A missing value contributes nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, logsumexp, xlog1py, xlogy

from tielink.data.columns import MISSING
from tielink.logp.parameters import Parameters
from tielink.model.problem import CategoricalProblem, FieldProblem, StringProblem

__all__ = [
    "distorted",
    "log_collapsed",
    "log_distortion",
    "log_evidence",
    "log_frequencies",
    "log_group",
    "log_pair",
    "log_single",
    "log_uncollapsed",
    "truth",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Frequencies = Floats | None


def truth(field: FieldProblem, frequencies: Frequencies) -> Floats:
    """Return p(v) for every value v: ϑ for a categorical field, γ for strings."""
    if isinstance(field, StringProblem):
        return field.tables.frequencies
    assert frequencies is not None
    return frequencies


def distorted(field: FieldProblem, frequencies: Frequencies, value: int) -> Floats:
    """Return ζ_v(x) of one value x for every true value v: ϑ_x whatever v, or near strings more."""
    if isinstance(field, StringProblem):
        return field.tables.distorted_to(value)
    return np.full(field.levels, truth(field, frequencies)[value])


def log_group(field: FieldProblem, frequencies: Frequencies, rate: float, values: Codes) -> float:
    """Return log m(x₁, …, x_k) by its definition, summing over all true values."""
    log = _log(truth(field, frequencies))
    for value in values:
        likelihood = rate * distorted(field, frequencies, int(value))
        likelihood[value] += 1 - rate
        log = log + _log(likelihood)
    return float(logsumexp(log))


def _log(probability: Floats) -> Floats:
    """Return the logarithm, −∞ for what is impossible."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probability))


def log_single(field: FieldProblem, frequencies: Frequencies, rate: float, values: Codes) -> Floats:
    """Return log m(x) of many values: log ϑ_x, or log γ(x)·[(1−ψ) + ψ·Σ_v γ(v)ζ_v(x)/γ(x)] for strings."""
    log = _log(truth(field, frequencies)[values])
    if isinstance(field, StringProblem):
        log += np.log1p(rate * (field.tables.mixed[values] - 1))
    return np.asarray(log)


def log_pair(field: FieldProblem, frequencies: Frequencies, rate: float, left: Codes, right: Codes) -> Floats:
    """Return log m(x, y) of many pairs of values, in closed form.

    Strings:      (1−ψ)²·γ(x)1[x=y] + ψ(1−ψ)·[γ(x)ζ_x(y) + γ(y)ζ_y(x)] + ψ²·Σ_v γ(v)ζ_v(x)ζ_v(y).
    Categorical:  the same with ζ = ϑ, so (1−ψ)²·ϑ_x·1[x=y] + (2ψ(1−ψ) + ψ²)·ϑ_xϑ_y.
    """
    prior = truth(field, frequencies)
    clean = (1 - rate) ** 2 * prior[left] * (left == right)
    if isinstance(field, StringProblem):
        tables = field.tables
        once = tables.one_distorted(left, right) + tables.one_distorted(right, left)
        twice = tables.both_distorted(left, right)
    else:
        twice = prior[left] * prior[right]
        once = 2 * twice
    return _log(clean + rate * (1 - rate) * once + rate**2 * twice)


def log_evidence(field: FieldProblem, frequencies: Frequencies, rate: float, left: Codes, right: Codes) -> Floats:
    """Return log m(x,y) − log m(x) − log m(y): what a field says for each pair of *records* being one person.

    `left` and `right` are record numbers; a pair in which a value is missing gets 0.
    """
    x, y = field.codes[left], field.codes[right]
    known = (x != MISSING) & (y != MISSING)
    evidence = np.zeros(len(x))
    x, y = x[known], y[known]
    single = log_single(field, frequencies, rate, x) + log_single(field, frequencies, rate, y)
    evidence[known] = log_pair(field, frequencies, rate, x, y) - single
    return evidence


def log_collapsed(field: FieldProblem, frequencies: Frequencies, rate: float, labels: Codes) -> float:
    """Return Σ over persons of log m(values of the person's records)."""
    known = np.flatnonzero(field.codes != MISSING)
    order = known[np.argsort(labels[known], kind="stable")]
    _, starts, sizes = np.unique(labels[order], return_index=True, return_counts=True)
    values = field.codes[order]
    one, two = starts[sizes == 1], starts[sizes == 2]
    total = float(log_single(field, frequencies, rate, values[one]).sum())
    total += float(log_pair(field, frequencies, rate, values[two], values[two + 1]).sum())
    for person in np.flatnonzero(sizes > 2):
        group = values[starts[person] : starts[person] + sizes[person]]
        total += log_group(field, frequencies, rate, group)
    return total


def log_uncollapsed(field: FieldProblem, index: int, parameters: Parameters) -> float:
    """Return log p(values, w, π | ξ, ψ, ϑ) of field number `index`; −∞ where w = 0 but the value is not π.

    Σ_n log p(π_n) + Σ_r w_r·[log ψ + log ζ_{π}(x_r)] + (1 − w_r)·[log(1−ψ) + log 1[x_r = π]].
    """
    assert parameters.true_values is not None
    assert parameters.distorted is not None
    frequencies, rate = parameters.frequencies_of(index), float(parameters.distortion[index])
    true_values, is_distorted = parameters.true_values[:, index], parameters.distorted[:, index]
    total = float(_log(truth(field, frequencies)[true_values]).sum())
    for record in np.flatnonzero(field.codes != MISSING):
        value, true_value = int(field.codes[record]), int(true_values[parameters.labels[record]])
        if is_distorted[record]:
            total += float(_log(rate * distorted(field, frequencies, value)[true_value]))
        else:
            total += float(_log(np.asarray(1 - rate))) if value == true_value else -np.inf
    return total


def log_distortion(field: FieldProblem, rate: float) -> float:
    """Return log Beta(ψ; a, b)."""
    a, b = field.distortion.a, field.distortion.b
    return float(xlogy(a - 1, rate) + xlog1py(b - 1, -rate) - betaln(a, b))


def log_frequencies(field: FieldProblem, frequencies: Frequencies) -> float:
    """Return log Dirichlet(ϑ; α, …, α); 0 for strings, whose frequencies are fixed."""
    if not isinstance(field, CategoricalProblem):
        return 0.0
    alpha, levels = field.concentration, field.levels
    normaliser = gammaln(levels * alpha) - levels * gammaln(alpha)
    return float(normaliser + xlogy(alpha - 1, truth(field, frequencies)).sum())
