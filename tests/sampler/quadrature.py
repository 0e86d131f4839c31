"""Chains over the 34 matchings of 3 + 3 records, and their exact probabilities (K = 1, intercepts and spread fixed)."""

import numpy as np

from sampler import harness as h
from sampler.naive import beta_binomial_log_prior, exact_matching_probabilities
from sampler.worlds import random_state, random_target
from tielink.exact.state import init_tuning

ALPHA = 1e-4
INTERCEPT, SPREAD = np.array([0.8, 0.3]), 2.0


def world(prior="uniform", link=0, seed=3, scale=0.7, **extra):
    rng = np.random.default_rng(seed)
    log_prior = np.zeros(4) if prior == "uniform" else beta_binomial_log_prior(3, 3, 1.0, 2.0)
    ties_a = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    ties_b = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    return random_target(
        rng,
        3,
        3,
        1,
        adjacency_a=ties_a,
        adjacency_b=ties_b,
        log_bf=scale * rng.normal(size=(3, 3)) - 0.5,
        log_prior=log_prior,
        link=link,
        **extra,
    )


def correlated_world(prior="uniform", **extra):
    """The same with phi free, and the ties to the second power, so that phi shows in six dyads."""
    return world(prior, correlation_sd=2.0, temperature=2.0, **extra)


def chain(target, moves, number, *, matched=0, seed=1, particles=2, candidates=6, runner=None):
    rng = np.random.default_rng(seed)
    state = random_state(rng, target, matched)
    state.intercept[:], state.spread[0] = INTERCEPT, SPREAD
    tuning = init_tuning(target, particles=particles, candidates=candidates)
    tuning.step_correlation[0] = 2.0
    codes = np.empty(number, dtype=np.int64)
    h.record_codes(rng, state, target, tuning, moves, codes[: number // 20])
    h.record_codes(rng, state, target, tuning, moves, codes)
    return codes


_KNOWN = {}


def exact(target):
    """The exact probabilities, worked out once for each target."""
    key = b"".join(np.asarray(part).tobytes() for part in target)
    if key not in _KNOWN:
        _KNOWN[key] = exact_matching_probabilities(target, INTERCEPT, SPREAD)
    return _KNOWN[key]


def compare(target, codes, matched=None):
    matchings, probability = exact(target)
    if matched is not None:
        keep = np.array([sum(q >= 0 for q in p) == matched for p in matchings])
        probability = np.where(keep, probability, 0.0) / probability[keep].sum()
    return h.batch_test(codes, h.codes_of(matchings, 3), probability)


CASES = {
    "gibbs": (h.GIBBS | h.WALK, {}),
    "gibbs, two candidates": (h.GIBBS | h.JUMP, {"candidates": 2}),
    "merge": (h.MERGE | h.WALK, {}),
    "merge, one particle": (h.MERGE | h.JUMP, {"particles": 1}),
    "switch, one pair": (h.SWITCH | h.WALK, {"matched": 1}),
    "switch, two pairs": (h.SWITCH | h.JUMP, {"matched": 2}),
    "swap": (h.SWAP | h.JUMP, {"matched": 3}),
    "all": (h.GIBBS | h.MERGE | h.SWITCH | h.SWAP | h.JUMP | h.WALK, {"particles": 3}),
}
