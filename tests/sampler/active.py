"""Replicates of the activity prior: degrees are taken as known, so z is fixed and only alpha and the rest are drawn."""

import math

import numpy as np

from sampler.naive import beta_binomial_log_prior
from sampler.replicates import CATEGORIES, DISTORTION, blank, draw_matching, match_probabilities, simulate_rest
from tielink.exact.activity import Activity
from tielink.exact.gibbs import restricted_gibbs
from tielink.exact.merge import merge_or_split
from tielink.exact.state import init_tuning
from tielink.exact.swap import swap
from tielink.model.activity import ActivityProblem

Z_A, Z_B = np.array([0.0, 1.4, -0.3, -1.1]), np.array([0.0, -1.2, 0.4, 1.5, -0.7])
STATISTICS = ("alpha", "alpha squared", "matches", "score of the linked", "alpha times score", "log prior")


def draw(rng, own, state, target, probability):
    """alpha, then a matching: uniform ones are kept with probability proportional to their weights."""
    own.alpha[0] = rng.normal()
    alpha = own.alpha[0]
    while True:
        draw_matching(rng, state, target, probability)
        m = int(state.matched[0])
        linked = np.flatnonzero((state.partner_a >= 0) & (target.anchor_a < 0))
        score = alpha * (Z_A[linked].sum() + Z_B[state.partner_a[linked]].sum())
        most = sum(np.sort(alpha * z[1:])[::-1][:m].sum() for z in (Z_A, Z_B))
        # m has its own prior whatever alpha is, so a rejected matching is drawn again with the same m.
        given = np.zeros(probability.size)
        given[m] = 1.0
        while math.log(rng.random()) >= score - most:
            draw_matching(rng, state, target, given)
            linked = np.flatnonzero((state.partner_a >= 0) & (target.anchor_a < 0))
            score = alpha * (Z_A[linked].sum() + Z_B[state.partner_a[linked]].sum())
        return


def statistics(activity, own, state, target):
    score, alpha, m = activity.linked_score(state, target), own.alpha[0], int(state.matched[0])
    return alpha, alpha**2, m, score, alpha * score, target.log_prior[m] + alpha * score


def links(rng, state, target, tuning):
    """Every move that changes links, on a random free record."""
    side = int(rng.integers(2))
    record = int(rng.choice(np.flatnonzero((target.anchor_a, target.anchor_b)[side] < 0)))
    restricted_gibbs(rng, state, target, tuning, side, record)
    merge_or_split(rng, state, target, tuning, side, record)
    swap(rng, state, target, tuning)


def replicate_z(replicates, length, seed=5, kind=Activity, **options):
    """z of every statistic's mean change when links and alpha move in turn."""
    base = beta_binomial_log_prior(3, 4, 2.0, 1.0)
    target, state = blank(log_prior=base.copy(), **options)
    free = tuple(np.arange(size) > 0 for size in (4, 5))
    activity = kind(ActivityProblem(1.0, (Z_A, Z_B), free, 0, 0.0), base)
    own = activity.start()
    own.step[0] = 1.0
    tuning = init_tuning(target, candidates=2)
    rng = np.random.default_rng(seed)
    probability = match_probabilities(target)
    changes = np.empty((replicates, len(STATISTICS)))
    for r in range(replicates):
        draw(rng, own, state, target, probability)
        simulate_rest(rng, state, target, CATEGORIES, DISTORTION)
        profiles = target.log_bf.copy()
        target.log_prior[...] = activity.log_prior(own.alpha[0])
        activity.weigh(own, target)
        before = statistics(activity, own, state, target)
        for _ in range(length):
            links(rng, state, target, tuning)
            activity.update(rng, own, state, target)
            target.log_bf[...] = profiles
            activity.weigh(own, target)
        changes[r] = np.subtract(statistics(activity, own, state, target), before)
    return changes.mean(axis=0) / (changes.std(axis=0) / math.sqrt(replicates))
