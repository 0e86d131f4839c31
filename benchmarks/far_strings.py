"""What is lost by dropping the terms of change of strings that are not near: 1,000 random pairs, summed in full.

The error is that of the log Bayes factor of a pair, at ψ = .1, ρ = .2 and α = .2. Made usernames stand in where
`TIELINK_DATA` is not set.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tielink as tl
from benchmarks.pinned import youtube_twitter
from tielink.channels.affix_kernels import common_core_sum_many, typed_core_sum_many
from tielink.channels.affix_tables import AFFIX_SHARES, add_affixes
from tielink.channels.channel import Terms, mixed
from tielink.channels.open_string import OpenStringChannel
from tielink.channels.typing_kernels import Typing, shared_sum_many
from tielink.channels.typing_tables import EDIT_RATES, split_rate

TITLE = "Far strings: the error of their log Bayes factors"
COLUMNS = ("data", "edit rate", "pairs", "mean log Bayes factor", "mean error", "99 % of errors below", "largest error")
PAIRS, RATE, ANOTHER, ADDED = 1_000, 0.1, 0.2, AFFIX_SHARES[2]


def in_full(field: OpenStringChannel, place: int, left: np.ndarray, right: np.ndarray) -> Terms:
    """Return the four sums of pairs with nothing left out."""
    truth, tables = field.truth, field.tables
    model, text, p = truth.language, truth.text, truth.probability
    typing = Typing(model.letters, *split_rate(float(EDIT_RATES[place])), False)
    typed, affixed, one, two = np.empty((4, len(left)))
    closure = model.closure((1 - typing.insert) ** 2 * typing.drop**2)
    shared_sum_many(text, left, right, model.compiled, closure, typing, typed)
    common_core_sum_many(text, left, right, model.compiled, affixed)
    typed_core_sum_many(text, left, right, model.compiled, typing, one)
    typed_core_sum_many(text, right, left, model.compiled, typing, two)
    sums = (1 - ADDED) ** 2 * typed + ADDED * (1 - ADDED) * (one + two) + ADDED**2 * affixed
    values, where = np.unique(np.concatenate([left, right]), return_inverse=True)
    changed = (1 - ADDED) * tables.type(text, np.arange(field.levels), values, place)  # of every seen v into x
    changed += ADDED * add_affixes(model, text, np.arange(field.levels), values)
    x, y = changed[where[: len(left)]], changed[where[len(left) :]]
    shared = truth.back_off * sums + (x * y) @ truth.counted
    of_left, of_right = x[np.arange(len(left)), right], y[np.arange(len(left)), left]
    far = field.pair(np.array([ANOTHER, EDIT_RATES[place], ADDED]), left, right)
    keep = 1 - ANOTHER
    return Terms(
        far.clean,
        far.left + keep * p[right] * of_left,
        far.right + keep * p[left] * of_right,
        far.both + keep**2 * shared,
    )


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each of three edit rates."""
    name, data = youtube_twitter()
    field = tl.Problem.compile(tl.Model(network=None, fields={"username": tl.String()}), data).fields[0]
    assert isinstance(field, OpenStringChannel)
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, field.levels, (2, 2 * PAIRS))
    far = (field.find(*drawn) < 0) & (drawn[0] != drawn[1])
    left, right = drawn[:, far][:, :PAIRS]
    for place in (2, 4, 6):
        parameters = np.array([ANOTHER, EDIT_RATES[place], ADDED])
        single = sum(np.log(mixed(field.single(parameters, codes), RATE)) for codes in (left, right))
        short, full = (
            np.log(sum(terms.weighted(RATE, RATE))) - single
            for terms in (field.pair(parameters, left, right), in_full(field, place, left, right))
        )
        error = np.abs(full - short)
        yield (
            name, f"{EDIT_RATES[place]:g}", len(left), f"{full.mean():.3f}", f"{error.mean():.1e}",
            f"{np.quantile(error, 0.99):.1e}", f"{error.max():.1e}",
        )  # fmt: skip
