"""Every move alone, and sweeps, run on replicates drawn from the prior."""

import numpy as np
from scipy.stats import norm

from sampler.replicates import blank
from sampler.statistics import STATISTICS, replicate_z
from tielink.exact import (
    beyond,
    gibbs,
    intercept,
    merge,
    odds_ratio,
    paper,
    positions,
    scale,
    sociality,
    spread,
    swap,
    sweep,
    switch,
)
from tielink.exact.state import init_tuning

ALPHA = 1e-4
LIMIT = norm.isf(ALPHA / (2 * len(STATISTICS)))


def on_records(kernel, paired_only=False):
    """Apply a per-record kernel to random free records of both files."""

    def apply(rng, state, target, length, tuning):
        for _ in range(length):
            side = int(rng.integers(2))
            anchors = (target.anchor_a, target.anchor_b)[side]
            record = int(rng.choice(np.flatnonzero(anchors < 0)))
            if paired_only and (state.partner_a, state.partner_b)[side][record] < 0:
                continue
            kernel(rng, state, target, tuning, side, record)

    return apply


def on_all(kernel):
    def apply(rng, state, target, length, tuning):
        for _ in range(length):
            kernel(rng, state, target, tuning)

    return apply


def of_paper(kernel):
    def apply(rng, state, target, length, tuning):
        cache = paper.init_cache(state, target)
        for _ in range(length):
            kernel(rng, state, target, tuning, cache)

    return apply


def paper_label(rng, state, target, tuning, cache):
    side = int(rng.integers(2))
    anchors = (target.anchor_a, target.anchor_b)[side]
    paper.label(rng, state, target, cache, side, int(rng.choice(np.flatnonzero(anchors < 0))))


MOVES = {
    "gibbs": on_records(gibbs.restricted_gibbs),
    "merge": on_records(merge.merge_or_split),
    "switch": on_records(switch.switch, paired_only=True),
    "swap": on_all(swap.swap),
    "jump": on_all(positions.jump),
    "walk": on_all(positions.walk),
    "intercept": on_all(intercept.walk_intercepts),
    "scale": on_all(scale.scale),
    "spread": on_all(lambda rng, state, target, tuning: spread.draw_spread(rng, state, target)),
    "sweep": on_all(sweep.sweep),
    "paper label": of_paper(paper_label),
    "paper walk": of_paper(paper.walk_positions),
    "paper intercept": of_paper(paper.walk_cached_intercepts),
    "paper": of_paper(paper.paper_sweep),
}


BEYOND = {
    "correlation": on_all(odds_ratio.walk_correlation),
    "sociality": on_all(sociality.walk_sociality),
    "sociality sd": on_all(sociality.walk_sociality_sd),
    "sociality stretch": on_all(sociality.stretch_sociality),
    "sociality shift": on_all(lambda rng, state, target, tuning: sociality.shift_sociality(rng, state, target)),
    "beyond": on_all(beyond.sweep_beyond),
}
"""Moves that do nothing in the paper's model."""

ON = {"correlation_sd": 1.5, "sociality_scale": 0.7}


def run(move, replicates, length, seed=7, particles=2, candidates=2, **options):
    target, state = blank(**options)
    tuning = init_tuning(target, particles=particles, candidates=candidates)
    tuning.step_scale[0] = 0.3
    tuning.step_intercept[:] = 0.7
    tuning.step_correlation[0] = 1.0
    tuning.step_sociality_sd[:] = 0.7
    apply = (MOVES | BEYOND)[move] if isinstance(move, str) else move
    return replicate_z(lambda *a: apply(*a, tuning), target, state, replicates, length, seed)
