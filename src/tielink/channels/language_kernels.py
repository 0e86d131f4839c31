"""From counts of which character follows which to a language model's transitions: of all strings, or all but one."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tielink.kernels import njit


class Model(NamedTuple):
    """The tables of a `language.Language`, for kernels."""

    state: NDArray[np.int64]
    share: NDArray[np.float64]
    moves: NDArray[np.float64]
    end: NDArray[np.float64]


@njit(nogil=True)
def transitions(follows, strength, empty):
    """Return T, the end as its last column; `follows` has a row for the start and a column for the end, both last.

    T(s, c) = [max(n(s, c) − d, 0) + (θ + d·r(s))·T₁(c)] / (n(s) + θ), with strength θ, r(s) the number of different
    characters that follow s, d = (n₁ + ½)/(n₁ + 2n₂ + 1) from the numbers of n(s, c) that are 1 and 2, and T₁(c) in
    proportion to ½ more than the number of different characters that c follows. The end counts as a character.
    """
    size = follows.shape[0]
    once, twice = (follows == 1.0).sum(), (follows == 2.0).sum()
    off = (once + 0.5) / (once + 2.0 * twice + 1.0)
    after = (follows > 0.0).sum(axis=0) + 0.5
    after /= after.sum()
    moves = np.empty_like(follows)
    for s in range(size):
        left = strength + off * (follows[s] > 0.0).sum()
        moves[s] = (np.maximum(follows[s] - off, 0.0) + left * after) / (follows[s].sum() + strength)
    if not empty:
        moves[-1, -1] = 0.0
        moves[-1] /= moves[-1].sum()
    return moves


@njit(nogil=True)
def log_left_out(text, which, state, share, follows, strength, empty):
    """Return Σ log LM₋(x) over some strings x, each under the model fitted without it."""
    total, start = 0.0, follows.shape[0] - 1
    for i in which:
        x = text.characters[text.begins[i] : text.begins[i + 1]]
        left, before = follows.copy(), start
        for c in x:
            left[before, state[c]] -= 1.0
            before = state[c]
        left[before, -1] -= 1.0
        moves = transitions(left, strength, empty)
        log, before = 0.0, start
        for c in x:
            log += np.log(moves[before, state[c]] * share[c])
            before = state[c]
        total += log + np.log(moves[before, -1])
    return total
