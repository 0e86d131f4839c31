"""Small random targets and states for the tests."""

import numpy as np

from tielink.exact.state import State, blank_ties
from tielink.exact.target import make_target


def random_ties(rng, n, density):
    upper = np.triu(rng.random((n, n)) < density, 1)
    return (upper | upper.T).astype(np.uint8)


def random_target(rng, n1, n2, dimension, **extra):
    arguments = {
        "adjacency_a": random_ties(rng, n1, 0.4),
        "adjacency_b": random_ties(rng, n2, 0.4),
        "log_bf": rng.normal(size=(n1, n2)),
        "log_prior": rng.normal(size=min(n1, n2) + 1),
        "dimension": dimension,
        "intercept_sd": (1.5, 2.0),
        "spread_shape": 6.0,
        "spread_scale": 10.0,
    }
    arguments.update(extra)
    return make_target(**arguments)


def random_state(rng, target, matched):
    """A state with anchors and `matched` more pairs at random; log phi and s, where there are any, at random too."""
    n1, n2 = target.log_bf.shape
    partner_a, partner_b = target.anchor_a.copy(), target.anchor_b.copy()
    free_a = rng.permutation(np.flatnonzero(partner_a < 0))[:matched]
    free_b = rng.permutation(np.flatnonzero(partner_b < 0))[:matched]
    partner_a[free_a], partner_b[free_b] = free_b, free_a
    position_a = rng.normal(size=(target.dimension, n1)) * 1.5
    position_b = rng.normal(size=(target.dimension, n2)) * 1.5
    paired = np.flatnonzero(partner_a >= 0)
    position_b[:, partner_a[paired]] = position_a[:, paired]
    beyond = blank_ties(target)
    for array in beyond[:3]:
        if array is not None:
            array[:] = rng.normal(size=array.size)
    return State(
        position_a,
        position_b,
        partner_a,
        partner_b,
        rng.normal(size=2),
        np.array([1.0 + rng.random()]),
        np.array([matched]),
        *beyond,
    )
