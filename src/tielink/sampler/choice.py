"""Draws from unnormalised log weights."""

import math

import numpy as np

from tielink.kernels import njit


@njit
def choose(rng, log_weights):
    """An index drawn in proportion to exp(log_weights), and the log of their sum; (-1, -inf) if all are -inf."""
    top = -np.inf
    for i in range(log_weights.size):
        top = max(top, log_weights[i])
    if top == -np.inf:
        return -1, -np.inf
    total = 0.0
    for i in range(log_weights.size):
        total += math.exp(log_weights[i] - top)
    left = rng.random() * total
    chosen = -1
    for i in range(log_weights.size):
        weight = math.exp(log_weights[i] - top)
        if weight > 0.0:
            chosen = i
            left -= weight
            if left < 0.0:
                break
    return chosen, top + math.log(total)
