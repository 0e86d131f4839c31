"""Shared ties: kernels equal the formula, chains equal enumeration, ρ its density, replicates the joint distribution.

False-alarm rate: 1e-5 for each test. Planted errors must be caught at 1e-6.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import tielink as tl
from sampler.mutants import mutant
from sampler.partition_worlds import every_move, exact, files, gibbs, off_list, p_value, set_labels, strangers, world
from sampler.tied_worlds import (
    CLASSES,
    POWER,
    SHARING,
    TIES,
    draw_shared_ties,
    random_chain,
    set_theta,
    tied_chain,
)
from tielink.logp.shared_ties import log_shared_ties
from tielink.posterior.pairs import pair_probabilities
from tielink.project import Run
from tielink.run.chain import Chain
from tielink.sampler import ties as kernels
from tielink.sampler.moves.offlist import move_off_list
from tielink.sampler.partition import permitted
from tielink.simulate.draw import draw_labels

FALSE_ALARM, CAUGHT = 1e-5, 1e-6
DUPLICATES = tl.EwensPitman(max_size=4, concentration=0.5, discount=0.2)
WORLDS = {
    "two files": ((6, 5), tl.MatchRate(3, 1), (True, True)),
    "one of two files without a network": ((4, 4), tl.MatchRate(3, 1), (True, False)),
    "three files, one per file": ((4, 4, 3), tl.OnePerFile(3, 1), (True, True, True)),
    "three files, one without a network": ((3, 3, 3), tl.OnePerFile(3, 1), (True, False, True)),
    "one file, duplicates": ((8,), DUPLICATES, (True,)),
    "two files, duplicates": ((5, 4), DUPLICATES, (True, True)),
}


def formula(chain, labels, sharing=None):
    ties, problem = chain.network.ties, chain.problem
    rho = ties.rho[0] if sharing is None else sharing
    return log_shared_ties(problem.network.ties, problem.sizes, labels, ties.theta, rho)


def joined(labels, one, other):
    return np.where(labels == other, one, labels)


def largest_difference(world, of=kernels, seed=5):
    """Return by how much kernels differ from the formula, over random ties and partitions: (values, gains)."""
    rng, values, gains = np.random.default_rng(seed), [], []
    for density in (0.15, 0.4, 0.7):
        chain = random_chain(rng, *WORLDS[world], density)
        state, rules, ties = chain.state, chain.rules, chain.network.ties
        for _ in range(3):
            gibbs(chain)
            strangers(chain)
            labels = state.label.copy()
            now = formula(chain, labels)
            of.sum_up(state, rules, ties)
            values.append(of.log_shared(state, rules, ties) - now)
            for own, other in combinations(np.flatnonzero(state.size), 2):
                if not permitted(state, rules, own, other):
                    continue
                found = of.tie_gain(state, rules, ties, own, other)
                gains.append(found - ties.power[0] * (formula(chain, joined(labels, own, other)) - now))
    assert len(gains) > 20
    return np.abs(values).max(), np.abs(gains).max()


@pytest.mark.parametrize("world", WORLDS)
def test_kernels_are_the_formula(world):
    assert max(largest_difference(world)) < 1e-9


KERNEL_ERRORS = {
    "the linear term forgotten": (["total, product = scale * rest, 1.0"], "total, product = 0.0, 1.0"),
    "a tie keeps its linear term": (["                total -= kappa\n"], "                pass\n"),
    "a shared tie counted twice": ([" / max(1.0 - odds * common, TINY)"], ""),
    "a neighbour's own link not taken away": ([" or slot in (own, other)"], ""),
    "the sum keeps the two persons": (["- _of_cluster(state, rules, ties, own, low, high)"], ""),
    "dyads between two that become one are kept": (["        total -= _between(state, rules, ties, own, other)\n"],
                                                   "        pass\n"),
    "the power forgotten": (["return ties.power[0] * total"], "return total"),
}  # fmt: skip


@pytest.mark.parametrize("error", KERNEL_ERRORS)
def test_errors_in_kernels_are_caught(error, tmp_path):
    old, new = KERNEL_ERRORS[error]
    changes = [(text, new) for text in old]
    slow = mutant(
        tmp_path, "sampler/ties", error.replace(" ", "_"), *changes, ("@njit\n", ""), ("@njit(forceinline=True)\n", "")
    )
    assert max(largest_difference("two files, duplicates", slow)) > 1e-3


@pytest.mark.parametrize("case", CLASSES)
def test_chains_against_enumeration(case):
    assert p_value(tied_chain(case), 800, every_move) > FALSE_ALARM


@pytest.mark.parametrize("case", CLASSES)
def test_chains_of_ties_alone_with_few_candidates(case):
    chain = tied_chain(case, fields={}, power=1.0)
    chain._list(np.array([[0, 1]] if len(chain.problem.sizes) == 1 else [[0, 4]]), np.ones(1, dtype=bool))
    assert p_value(chain, 800, every_move) > FALSE_ALARM


def off_list_p_value(number, move=move_off_list):
    """The p value of a chain of ties alone without any candidates, by draws off the list."""
    chain = tied_chain("two files", fields={}, sharing=0.95, power=1.0)
    chain._list(np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=bool))
    return p_value(chain, number, lambda chain: off_list(chain, 200, move))


def test_ties_without_candidates_against_enumeration():
    assert off_list_p_value(1_000) > FALSE_ALARM


def test_ties_forgotten_off_the_list_are_caught(tmp_path):
    forgotten = ("log_odds += tie_gain(state, rules, data.ties, own, other)", "pass")
    broken = mutant(tmp_path, "sampler/moves/offlist", "forgotten", forgotten)
    assert off_list_p_value(3_000, broken.move_off_list) < CAUGHT


@pytest.mark.parametrize("case", ["two files", "two files, duplicates"])
def test_what_is_known_is_kept(case):
    last = ("f1", 1)
    known = {"anchors": [(("f0", 0), ("f1", 0))], "nonmatches": [(("f0", 1), last), (("f0", 2), last)]}
    if case != "two files":
        known["duplicates"] = True
    assert p_value(tied_chain(case, **known), 800, every_move) > FALSE_ALARM


def wrong_odds(chain):
    chain.network.ties.odds[:] *= 0.3


def an_edge_twice(chain):
    """The first tie of record 1 stands twice among its neighbours, in the place of the second."""
    ties = chain.network.ties
    ties.neighbour[ties.begin[1] + 1] = ties.neighbour[ties.begin[1]]


def other_sharing(chain):
    chain.network.ties.rho[0] = 0.2


def no_power(chain):
    chain.network.ties.power[0] = 0.0


@pytest.mark.parametrize("error", [wrong_odds, an_edge_twice, other_sharing, no_power])
def test_errors_in_chains_are_caught(error):
    chain = tied_chain("two files", sharing=0.95, power=1.0)
    target = exact(chain)
    error(chain)
    chain.revalue()
    assert p_value(chain, 1_500, gibbs, target) < CAUGHT


def sharing_p_value(chain, draws=1_000):
    """Kolmogorov's test of draws of ρ, the partition fixed, against quadrature of its density."""
    ties, labels = chain.network.ties, chain.state.label.copy()
    found = np.empty(draws)
    for draw in range(draws):
        for _ in range(4):
            chain.network.advance(None)
        found[draw] = ties.rho[0]
    edges = np.linspace(0, 1, 401)
    middle = (edges[1:] + edges[:-1]) / 2
    prior = chain.problem.network.sharing
    logs = [ties.power[0] * formula(chain, labels, rho) + stats.beta(prior.a, prior.b).logpdf(rho) for rho in middle]
    cumulative = np.append(0.0, np.cumsum(np.exp(logs - np.max(logs))))
    return stats.kstest(found, lambda x: np.interp(x, edges, cumulative / cumulative[-1])).pvalue


@pytest.mark.parametrize("case", ["two files", "one file, duplicates"])
def test_sharing_follows_its_density(case):
    chain = tied_chain(case, tl.Beta(2, 1), 1.0)
    set_labels(chain, np.array([0, 1, 2, 3, 0, 1, 2, 7] if case == "two files" else [0, 0, 2, 2, 4]))
    chain.revalue()
    assert sharing_p_value(chain) > FALSE_ALARM
    chain.network.prior = tl.Beta(1, 2)
    assert sharing_p_value(chain) < CAUGHT, "a wrong prior goes unnoticed"


# Joint-distribution tests: parameters and ties are drawn from the model, at power 1 a likelihood where every person has
# at most two records; sweeps leave the distribution of both as it is.

SIZES = (5, 4)
THETA = np.array([0.5, 0.9, 1.2, 0.7, 1.0, 0.8, 0.6, 1.3, 0.9])


def replicate_z(replicates, sweeps=3, break_it=None, seed=3):
    """Return z of the mean change of every statistic, and of products of two, after a few sweeps."""
    rng = np.random.default_rng(seed)
    job = world(SIZES, tl.MatchRate(2, 1), ([], []), tl.SharedTies(1.0, tl.Beta(2, 1)), fields={})
    before, after = np.empty((2, replicates, 3))
    for r in range(replicates):
        labels, sharing = draw_labels(rng, job.problem), rng.beta(2, 1)
        drawn = draw_shared_ties(rng, SIZES, labels, THETA, sharing)
        problem = replace(job.problem, network=replace(job.problem.network, ties=drawn))
        chain = Chain(replace(job, problem=problem, run=Run(seed=int(rng.integers(2**31)))), 0)
        set_theta(chain, THETA)
        set_labels(chain, labels)
        chain.network.ties.rho[0] = sharing
        chain.revalue()
        before[r] = figures(chain)
        if break_it is not None:
            break_it(chain)
        for _ in range(sweeps):
            chain.advance(None)
        after[r] = figures(chain)
    change = np.column_stack([after - before, [np.outer(a, a)[np.triu_indices(3)] for a in after]])
    change[:, 3:] -= [np.outer(b, b)[np.triu_indices(3)] for b in before]
    return change.mean(axis=0) / (change.std(axis=0) / np.sqrt(replicates))


def figures(chain):
    """The number of persons, ρ, and the log-likelihood ratio by the formula."""
    return chain.persons, chain.network.ties.rho[0], formula(chain, chain.state.label)


Z_LIMIT = stats.norm.isf(FALSE_ALARM / (2 * 9))


def test_sweeps_leave_the_joint_distribution_as_it_is():
    assert np.abs(replicate_z(400)).max() < Z_LIMIT


@pytest.mark.long
def test_sweeps_leave_the_joint_distribution_as_it_is_long():
    z = replicate_z(10_000, seed=9)
    print(f"shared ties, replicates: largest |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() < Z_LIMIT


def rates_of_degrees(chain):
    """Rates that the ties themselves give are no longer those of the model."""
    set_theta(chain, THETA * 0.6)


def another_prior(chain):
    chain.network.prior = tl.Beta(1, 3)


@pytest.mark.parametrize("error", [rates_of_degrees, another_prior])
def test_errors_in_sweeps_are_caught(error):
    assert np.abs(replicate_z(400, break_it=error)).max() > 7.0


def averages(case, rounds, strong=1.0):
    """Return the exact probabilities of listed pairs, and averages of conditional ones with their errors."""
    chain = tied_chain(case)
    chain._list(chain.listed.pairs, np.random.default_rng(2).random(len(chain.strong)) < strong)
    every, probability = exact(chain)
    left, right = chain.listed.pairs.T
    chances = [(labels[left] == labels[right]) * p for labels, p in zip(every, probability, strict=True)]
    chain.data.lists.tally[0] = True
    chain.rounds = 0
    found = np.empty((40, len(left)))
    for part in found:
        for _ in range(rounds):
            every_move(chain)
        part[:] = chain.conditional_probabilities()
    return np.sum(chances, axis=0), found.mean(axis=0), found.std(axis=0) / np.sqrt(len(found))


@pytest.mark.parametrize(("case", "strong"), [*((case, 1.0) for case in CLASSES), ("one file, duplicates", 0.3)])
def test_averages_of_conditional_probabilities_are_exact(case, strong):
    expected, found, error = averages(case, 20, strong)
    assert (np.abs(found - expected) < 5 * error + 1e-4).all(), (expected, found, error)


def test_averages_agree_with_counted_shares():
    sizes, prior = CLASSES["two files"]
    model = tl.Model(network=tl.SharedTies(POWER, SHARING), linkage=prior)
    posterior = tl.sample(model, files(sizes, TIES["two files"]), chains=2, warmup=20, draws=600, seed=1, workers=0)
    averaged, counted = posterior.conditional, pair_probabilities(posterior.person)
    counts = zip(counted.probability, counted.error, strict=True)
    shares = dict(zip(map(tuple, counted.pairs.tolist()), counts, strict=True))
    assert len(averaged.pairs) > 8
    for pair, probability, error in zip(averaged.pairs.tolist(), averaged.probability, averaged.error, strict=True):
        share, own = shares.get(tuple(pair), (0.0, 0.01))
        assert abs(share - probability) < 5 * np.hypot(error, own) + 0.005, pair
