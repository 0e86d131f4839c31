"""What one field says for groups of records being one person."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tielink.channels.channel import Channel, Codes, Floats, mixed, mixed_group
from tielink.data.columns import MISSING

__all__ = ["group_evidence"]

Sums = Callable[[Codes], Floats]


def group_evidence(
    field: Channel, parameters: Floats, rates: Floats, records: Codes, sums: Sums | None = None
) -> Floats:
    """Return log m(values) − Σ log m(x_i) of groups of the same size, one a row; missing values say nothing.

    `rates` holds ψ of every record, `sums` what `Channel.group` gives, where it is kept.
    """
    total, codes, psi = np.zeros(len(records)), field.codes[records], rates[records]
    pattern = (codes != MISSING) @ (1 << np.arange(records.shape[1]))
    for bits in np.unique(pattern):
        rows, columns = np.flatnonzero(pattern == bits), np.flatnonzero((bits >> np.arange(codes.shape[1])) & 1)
        if len(columns) > 1:
            at = np.ix_(rows, columns)
            total[rows] += _of_values(field, parameters, codes[at], psi[at], sums)
    return total


def _of_values(field: Channel, parameters: Floats, values: Codes, rates: Floats, sums: Sums | None) -> Floats:
    """Return the same where all values are known."""
    size = values.shape[1]
    if size == 2:
        joint = np.asarray(sum(field.pair(parameters, *values.T).weighted(*rates.T)))
    else:
        # Evidence does not depend on the order of records; in one order, fewer groups of values differ.
        order = np.argsort(values, axis=1, kind="stable")
        values, rates = np.take_along_axis(values, order, axis=1), np.take_along_axis(rates, order, axis=1)
        joint = mixed_group(field.group(parameters, values) if sums is None else sums(values), rates)
    single = sum(np.log(mixed(field.single(parameters, values[:, i]), rates[:, i])) for i in range(size))
    return np.asarray(np.log(joint) - single)
