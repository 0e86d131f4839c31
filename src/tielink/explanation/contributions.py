"""What speaks for and against a pair, draw by draw.

Take records a and b out of a draw and ask: one person, or two? Given all else, the log-odds are a sum,

    log p(ξ with a–b)/p(ξ without)  +  Σ_ℓ log m(x_a, x_b)/(m(x_a)·m(x_b))  +  log Z_ab/(Z_a·Z_b),

prior, fields and ties, where Z_A integrates the likelihood of A's rows of ties over one common position,
Z_A = ∫ exp(Σ_{i∈A} ℓ_i(u))·N(u; 0, σ²I) du, estimated by importance sampling.

What goes beyond the paper's model is told apart: `activity` is what α changes in the log prior odds; `sociality` what
the records' s change in the part of the ties; `correlated ties` what φ adds to Z_ab, given the links of all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from tielink.exact.compile import compile_target
from tielink.exact.evidence import evidence
from tielink.exact.fit import fit
from tielink.exact.state import NOBODY, State
from tielink.exact.target import Target
from tielink.logp.linkage import log_unevenness
from tielink.logp.profiles import log_evidence
from tielink.model.problem import NOBODY as NOBODY_CARELESS
from tielink.model.problem import Problem
from tielink.posterior.posterior import Posterior

__all__ = ["MOST_DRAWS", "activity_weight", "explained_draws", "field_weights", "prior_weight", "tie_weights"]

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
    """Return the log prior odds of linking the pair, given the links of all other records, whatever their degrees."""
    matches = _other_matches(problem, person, pair)
    log = problem.linkage.log_by_matches
    return float(log[matches + 1] - log[matches])


def _other_matches(problem: Problem, person: NDArray[np.integer], pair: tuple[int, int]) -> int:
    """Return the number of free matches of all other records."""
    others = np.ones(len(person), dtype=bool)
    others[list(pair)] = False
    labels = person[others]
    seen = np.zeros(len(person), dtype=bool)
    seen[labels] = True
    return len(labels) - int(seen.sum()) - problem.linkage.anchored_pairs


def activity_weight(problem: Problem, person: NDArray[np.integer], pair: tuple[int, int], activity: float) -> float:
    """Return what α adds to the log prior odds: α(z_a + z_b), and what it changes for one more match of anybody."""
    weight = problem.linkage.activity
    assert weight is not None
    matches = _other_matches(problem, person, pair)
    change = log_unevenness(weight, activity)
    own = activity * float(np.concatenate(weight.scores)[list(pair)].sum())
    return own + float(change[matches + 1] - change[matches])


def field_weights(
    problem: Problem, posterior: Posterior, chain: int, draw: int, pair: tuple[int, int]
) -> Iterator[tuple[str, float]]:
    """Yield each field's log Bayes factor at one draw's rates and parameters."""
    a, b = (np.array([record]) for record in pair)
    careless = posterior.careless[chain, draw] if posterior.careless.size else NOBODY_CARELESS
    for place, field in enumerate(problem.fields):
        parameters = posterior.fields[field.name][chain, draw].astype(float)
        rates = problem.record_rates(place, posterior.distortion[chain, draw], careless)
        yield field.name, float(log_evidence(field, parameters, rates, a, b)[0])


def tie_weights(
    seed: int,
    problem: Problem,
    posterior: Posterior,
    draws: list[tuple[int, int]],
    pair: tuple[int, int],
    target: Target | None = None,
) -> dict[str, Floats]:
    """Return log Z_ab/(Z_a·Z_b) at each draw, in parts: ties, sociality, correlated ties; empty without a network.

    A target at hand need not be compiled again.
    """
    sample = posterior.network
    if sample is None:
        return {}
    if target is None:
        target, _ = compile_target(problem)
    slot = {int(draw): place for place, draw in enumerate(sample.draws)}
    a, b = pair[0], pair[1] - problem.sizes[0]
    parts: dict[str, list[float]] = {"ties": []}
    for place, (chain, draw) in enumerate(draws):
        positions = sample.positions[chain, slot[draw]].astype(float)
        state = _state(target, positions, posterior.intercepts[chain, draw], float(posterior.spread[chain, draw]))

        def log_z(members: tuple[int, int], state: State, place: int = place) -> float:
            # The same particles for every part, so that their differences are not noise.
            return _log_z(np.random.default_rng([seed, place]), members, state, target)

        def odds(state: State, log_z: Callable[[tuple[int, int], State], float] = log_z) -> float:
            return log_z((a, b), state) - log_z((a, -1), state) - log_z((-1, b), state)

        # What the kernels look at is told by the state; each part turns on one more.
        plain = odds(state)
        parts["ties"].append(plain)
        if sample.sociality is not None:
            state = _with_sociality(state, target, sample.sociality[chain, slot[draw]].astype(float))
            parts.setdefault("sociality", []).append(odds(state) - plain)
        if "correlation" in posterior.beyond:
            log_odds = float(posterior.beyond["correlation"][chain, draw])
            linked = _with_links(state, posterior.person[chain, draw], pair, log_odds)
            parts.setdefault("correlated ties", []).append(log_z((a, b), linked) - log_z((a, b), state))
    return {name: np.array(values) for name, values in parts.items()}


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


def _with_sociality(state: State, target: Target, sociality: Floats) -> State:
    """Return the state with the records' s, in files that have a network."""
    first = state.partner_a.size
    sides = (sociality[:first], sociality[first:])
    mine = [s.copy() if seen else np.empty(0) for s, seen in zip(sides, target.observed, strict=True)]
    return state._replace(sociality_a=mine[0], sociality_b=mine[1])


def _with_links(state: State, person: NDArray[np.integer], pair: tuple[int, int], log_odds: float) -> State:
    """Return the state with φ and the links of everybody but the pair."""
    first = state.partner_a.size
    second = np.flatnonzero((person[first:] < first) & (first + np.arange(len(person) - first) != pair[1]))
    partner = person[first + second].astype(np.int64)
    second, partner = second[partner != pair[0]], partner[partner != pair[0]]
    linked_a, linked_b = state.partner_a.copy(), state.partner_b.copy()
    linked_a[partner], linked_b[second] = second, partner
    return state._replace(partner_a=linked_a, partner_b=linked_b, correlation=np.array([log_odds]))
