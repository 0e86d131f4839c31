"""What speaks for and against a pair, draw by draw.

Take records a and b out of a draw and ask: one person, or two? Given all else, the log-odds are a sum,

    log p(ξ with a–b)/p(ξ without)  +  Σ_ℓ log m(x_a, x_b)/(m(x_a)·m(x_b))  +  ties,

prior, fields and ties. Records known to be one person with a or with b are taken out with them. For shared ties see
`sampler.ties`; in a latent space the last term is log Z_ab/(Z_a·Z_b), where Z_A integrates the likelihood of A's rows
of ties over one common position, Z_A = ∫ exp(Σ_{i∈A} ℓ_i(u))·N(u; 0, σ²I) du, estimated by importance sampling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Channel
from tielink.data.columns import MISSING
from tielink.explanation.taken_out import Given, weigh_pair
from tielink.logp.profiles import log_evidence, log_group, log_single
from tielink.model.cluster_priors import SizePrior
from tielink.model.problem import NOBODY as NOBODY_CARELESS
from tielink.model.problem import LatentSpaceProblem, Problem, SharedTiesProblem
from tielink.network.shared_ties import compile_ties
from tielink.posterior.posterior import Posterior
from tielink.sampler.data import compile_rules
from tielink.sampler.hyperparameters import Hyperparameters
from tielink.sampler.partition import clusters_of
from tielink.sampler.profiles import Profiles, ProfileState
from tielink.sampler.table import empty_table
from tielink.sampler.ties import no_ties, sum_up

__all__ = ["MOST_DRAWS", "Weights", "weigh"]

Floats = NDArray[np.float64]
Pair = tuple[int, int]

MOST_DRAWS = 200
"""Draws that an explanation looks at, over all chains."""


@dataclass(eq=False)
class Weights:
    """What speaks for a pair: one number a draw of the prior, of each field and of ties."""

    prior: list[float] = field(default_factory=list)
    fields: dict[str, list[float]] = field(default_factory=dict)
    trees: dict[tuple[str, ...], list[float]] = field(default_factory=dict)
    """What fields that depend on each other say together beyond what each says by itself: mostly less."""
    ties: list[float] = field(default_factory=list)
    shared: dict[Pair, list[float]] = field(default_factory=dict)
    """For neighbours of the two who were one person, the gains in the draws in which they were."""
    unshared: list[float] = field(default_factory=list)
    strangers: list[int] = field(default_factory=list)
    """Linked people whom only one of the two knows: their part of ties, and their number."""

    @property
    def totals(self) -> Floats:
        """The log-odds of each draw, given all else."""
        return np.asarray(np.sum([self.prior, self.ties, *self.fields.values(), *self.trees.values()], axis=0))


def weigh(posterior: Posterior, problem: Problem, pairs: Sequence[Pair], draws: int, seed: int) -> list[Weights]:
    """Return what speaks for each pair, from about this many draws; what pairs share is computed once."""
    found = [Weights(fields={name: [] for name in posterior.fields}) for _ in pairs]
    profiles = Profiles(problem)
    rules, network, prior = compile_rules(problem), problem.network, problem.linkage.clusters
    ties = no_ties(problem.records, len(problem.sizes))
    if isinstance(network, SharedTiesProblem):
        ties = compile_ties(problem.sizes, network.ties)
        ties.power[0] = posterior.power
    nothing = empty_table(1, np.empty((1, rules.largest), dtype=np.int64), np.zeros(1, dtype=np.int64), True)
    given, space = Given(rules, ties, nothing), None
    if isinstance(network, LatentSpaceProblem):
        from tielink.explanation.positions import PositionEvidence  # slow to import

        space = PositionEvidence(problem, posterior)
    hyperparameters = Hyperparameters(prior, problem.records) if isinstance(prior, SizePrior) else None
    units = [tuple(np.flatnonzero(rules.unit_of == rules.unit_of[record]) for record in pair) for pair in pairs]
    for place, (chain, draw) in enumerate(_explained_draws(posterior, draws)):
        state = clusters_of(posterior.person[chain, draw], rules)
        if hyperparameters is not None:
            hyperparameters.values = np.array([values[chain, draw] for values in posterior.prior.values()])
            hyperparameters.write(state)
        if posterior.sharing.size:
            ties.rho[0] = posterior.sharing[chain, draw]
        sum_up(state, rules, ties)
        fields = dict(_field_weights(problem, posterior, chain, draw, pairs, units))
        for name, values in fields.items():
            for weights, value in zip(found, values.tolist(), strict=True):
                weights.fields[name].append(value)
        for names, values in _tree_weights(profiles, posterior, (chain, draw), pairs, units):
            beyond = values - np.sum([fields[name] for name in names], axis=0)
            for weights, value in zip(found, beyond.tolist(), strict=True):
                weights.trees.setdefault(names, []).append(value)
        for weights, pair, unit in zip(found, pairs, units, strict=True):
            log_prior, gain, who, gains, unshared, strangers = weigh_pair(state, given, *pair)
            weights.prior.append(log_prior)
            weights.ties.append(gain if space is None else space.gain([seed, place], chain, draw, unit))
            for i, j, value in zip(*who.T.tolist(), gains.tolist(), strict=True):
                weights.shared.setdefault((i, j), []).append(value)
            weights.unshared.append(unshared)
            weights.strangers.append(strangers)
    return found


def _explained_draws(posterior: Posterior, most: int) -> list[Pair]:
    """Return (chain, draw) of the draws to look at: those with positions, or else evenly spaced ones."""
    network = posterior.network
    draws = np.arange(posterior.draws_per_chain) if network is None else network.draws
    step = max(1, len(draws) * posterior.chains // most)
    return [(chain, int(draw)) for chain in range(posterior.chains) for draw in draws[::step]]


def _field_weights(
    problem: Problem,
    posterior: Posterior,
    chain: int,
    draw: int,
    pairs: Sequence[Pair],
    units: Sequence[tuple[NDArray[np.int64], ...]],
) -> Iterator[tuple[str, Floats]]:
    """Yield each field's log Bayes factors at one draw's rates and parameters."""
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    careless = posterior.careless[chain, draw] if posterior.careless.size else NOBODY_CARELESS
    for place, channel in enumerate(problem.fields):
        parameters = posterior.fields[channel.name][chain, draw].astype(float)
        rates = problem.record_rates(place, posterior.distortion[chain, draw], careless)
        values = log_evidence(channel, parameters, rates, left, right)
        for number, (a, b) in enumerate(units):
            if len(a) + len(b) > 2:
                both, one, other = (_log_group(channel, parameters, rates, g) for g in (np.append(a, b), a, b))
                values[number] = both - one - other
        yield channel.name, values


def _tree_weights(
    profiles: Profiles,
    posterior: Posterior,
    at: Pair,
    pairs: Sequence[Pair],
    units: Sequence[tuple[NDArray[np.int64], ...]],
) -> Iterator[tuple[tuple[str, ...], Floats]]:
    """Yield the log Bayes factors of each set of fields that depend on each other."""
    problem = profiles.problem
    if not problem.trees:
        return
    fields = [posterior.fields[channel.name][at].astype(float) for channel in problem.fields]
    state = ProfileState(posterior.distortion[at].astype(float), fields)
    for number, tree in enumerate(problem.trees):
        values = profiles.of_tree(state, number, np.array(pairs, dtype=np.int64).reshape(-1, 2))
        for place, (a, b) in enumerate(units):
            if len(a) + len(b) > 2:
                both, *each = (profiles.of_tree(state, number, g[None])[0] for g in (np.append(a, b), a, b))
                values[place] = both - sum(each)
        yield tree.names, values


def _log_group(channel: Channel, parameters: Floats, rates: Floats, records: NDArray[np.int64]) -> float:
    """Return log m of what these records say; 0 where they say nothing."""
    records = records[channel.codes[records] != MISSING]
    if len(records) == 1:
        return float(log_single(channel, parameters, rates[records], channel.codes[records])[0])
    return log_group(channel, parameters, rates[records], channel.codes[records]) if len(records) else 0.0
