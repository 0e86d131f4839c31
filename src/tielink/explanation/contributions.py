"""What speaks for and against a pair, draw by draw.

Take records a and b out of a draw and ask: one person, or two? Given all else, the log-odds are a sum,

    log p(ξ with a–b)/p(ξ without)  +  Σ_ℓ log m(x_a, x_b)/(m(x_a)·m(x_b))  +  log Z_ab/(Z_a·Z_b),

prior, fields and ties, where Z_A integrates the likelihood of A's rows of ties over one common position,
Z_A = ∫ exp(Σ_{i∈A} ℓ_i(u))·N(u; 0, σ²I) du, estimated by importance sampling.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tielink.exact.compile import compile_target
from tielink.exact.evidence import evidence
from tielink.exact.fit import fit
from tielink.exact.state import NOBODY, State
from tielink.exact.target import Target
from tielink.logp.profiles import log_evidence
from tielink.model.problem import Problem
from tielink.posterior.posterior import Posterior

__all__ = ["MOST_DRAWS", "explained_draws", "field_weights", "prior_weight", "tie_weights"]

Floats = NDArray[np.float64]

PARTICLES = 32
MOST_DRAWS = 200
"""Draws that an explanation looks at, over all chains."""


def explained_draws(posterior: Posterior, most: int = MOST_DRAWS) -> list[tuple[int, int]]:
    """Return (chain, draw) of the draws to look at: those with positions, or else evenly spaced ones."""
    network = posterior.network
    draws = np.arange(posterior.draws_per_chain) if network is None else network.draws
    step = max(1, len(draws) * posterior.chains // most)
    return [(chain, int(draw)) for chain in range(posterior.chains) for draw in draws[::step]]


def prior_weight(problem: Problem, person: NDArray[np.integer], pair: tuple[int, int]) -> float:
    """Return the log prior odds of linking the pair, given the links of all other records."""
    others = np.ones(len(person), dtype=bool)
    others[list(pair)] = False
    labels = person[others]
    matches = len(labels) - len(np.unique(labels)) - problem.linkage.anchored_pairs
    log = problem.linkage.log_by_matches
    return float(log[matches + 1] - log[matches])


def field_weights(
    problem: Problem, posterior: Posterior, chain: int, draw: int, pair: tuple[int, int]
) -> Iterator[tuple[str, float]]:
    """Yield each field's log Bayes factor at one draw's rates and parameters."""
    a, b = (np.array([record]) for record in pair)
    for place, field in enumerate(problem.fields):
        parameters = posterior.fields[field.name][chain, draw].astype(float)
        rates = problem.record_rates(place, posterior.distortion[chain, draw])
        yield field.name, float(log_evidence(field, parameters, rates, a, b)[0])


def tie_weights(
    rng: np.random.Generator,
    problem: Problem,
    posterior: Posterior,
    draws: list[tuple[int, int]],
    pair: tuple[int, int],
    target: Target | None = None,
) -> Floats:
    """Return log Z_ab/(Z_a·Z_b) at each draw; empty without a network. A target at hand need not be compiled again."""
    sample = posterior.network
    if sample is None:
        return np.empty(0)
    if target is None:
        target, _ = compile_target(problem)
    slot = {int(draw): place for place, draw in enumerate(sample.draws)}
    a, b = pair[0], pair[1] - problem.sizes[0]
    weights = []
    for chain, draw in draws:
        positions = sample.positions[chain, slot[draw]].astype(float)
        state = _state(target, positions, posterior.intercepts[chain, draw], float(posterior.spread[chain, draw]))
        logs = [_log_z(rng, members, state, target) for members in ((a, b), (a, -1), (-1, b))]
        weights.append(logs[0] - logs[1] - logs[2])
    return np.array(weights)


def _log_z(rng: np.random.Generator, members: tuple[int, int], state: State, target: Target) -> float:
    who = (np.int64(members[0]), np.int64(members[1]))
    proposal = fit(who, NOBODY, state, target)
    return float(evidence(rng, proposal, who, NOBODY, np.empty(0), PARTICLES, state, target)[0])


def _state(target: Target, positions: Floats, intercepts: Floats, spread: float) -> State:
    """Return a state that only evidences will read: nobody is linked, everybody stands where the draw says."""
    first = target.log_bf.shape[0]
    return State(
        np.ascontiguousarray(positions[:first].T),
        np.ascontiguousarray(positions[first:].T),
        np.full(first, -1, dtype=np.int64),
        np.full(len(positions) - first, -1, dtype=np.int64),
        np.ascontiguousarray(intercepts, dtype=float),
        np.array([spread]),
        np.zeros(1, dtype=np.int64),
    )
