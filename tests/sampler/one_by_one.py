"""Chains with the loop in Python, one record at a time, so that a mutant kernel compiles alone."""

import numpy as np

from sampler import harness as h
from sampler.quadrature import INTERCEPT, SPREAD
from sampler.worlds import random_state
from tielink.exact import positions
from tielink.exact.state import init_tuning

CAUGHT = 1e-6
"""A planted error must be rejected at this level."""


def python_chain(target, apply, number, *, matched=0, seed=1, particles=2, candidates=6):
    """The chain of the quadrature tests; returns the matching after each step as one integer."""
    rng = np.random.default_rng(seed)
    state = random_state(rng, target, matched)
    state.intercept[:], state.spread[0] = INTERCEPT, SPREAD
    tuning = init_tuning(target, particles=particles, candidates=candidates)
    tuning.step_correlation[0] = 2.0
    codes = np.empty(number, dtype=np.int64)
    for t in range(number):
        side, record = int(rng.integers(2)), int(rng.integers(3))
        apply(rng, state, target, tuning, side, record)
        codes[t] = h.code_of(state)
    return codes


def with_walk(kernel, paired_only=False):
    def apply(rng, state, target, tuning, side, record):
        if not paired_only or (state.partner_a, state.partner_b)[side][record] >= 0:
            kernel(rng, state, target, tuning, side, record)
        positions.walk(rng, state, target, tuning)

    return apply
