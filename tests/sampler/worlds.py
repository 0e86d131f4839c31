"""3 + 3 records in a latent space, as the naive joint and as the kernels take them, and chains over their matchings."""

from typing import NamedTuple

import numpy as np

from sampler import harness
from sampler.naive import beta_binomial_log_prior, exact_matching_probabilities
from tielink.network.latent_space import gibbs, merge, paper, positions, trade
from tielink.network.latent_space.space import Latent, Layout, Space, make_tuning, place
from tielink.sampler.data import Data, make_lists
from tielink.sampler.moves.labels import every_unit
from tielink.sampler.partition import PAIRS, Rules, clusters_of, join
from tielink.sampler.table import Table
from tielink.sampler.ties import no_ties

ALPHA, CAUGHT = 1e-4, 1e-6
INTERCEPT, SPREAD = np.array([0.8, 0.3]), 2.0


class Target(NamedTuple):
    """What `naive` conditions on; `log_prior` by number of matches."""

    adjacency_a: np.ndarray
    adjacency_b: np.ndarray
    log_bf: np.ndarray
    log_prior: np.ndarray
    observed: np.ndarray
    link: int = 0
    temperature: float = 1.0


def world(prior="rate", link=0, seed=3, scale=0.7, observed=(True, True), temperature=1.0):
    rng = np.random.default_rng(seed)
    log_prior = np.zeros(4) if prior == "uniform" else beta_binomial_log_prior(3, 3, 1.0, 2.0)
    ties = (np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]), np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    log_bf = scale * rng.normal(size=(3, 3)) - 0.5
    return Target(*(t.astype(np.uint8) for t in ties), log_bf, log_prior, np.array(observed), link, temperature)


def parts(target):
    """Return the target as kernels take it."""
    file_of, one_each = np.repeat([0, 1], 3), np.arange(6)
    apart = np.argwhere(target.log_bf == -np.inf) + np.array([0, 3])
    both = np.concatenate([apart, apart[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    rules = Rules(
        PAIRS, 2, file_of, one_each, np.arange(7), one_each, np.searchsorted(both[:, 0], np.arange(7)),
        np.ascontiguousarray(both[:, 1]), target.log_prior, np.ones(2), np.array([3, 3]), np.zeros(2, dtype=np.int64),
    )  # fmt: skip
    space = Space(
        np.concatenate([target.adjacency_a, target.adjacency_b]), target.observed, np.array([0, 3, 6]), file_of,
        np.ones(2), 6.0, 10.0, target.link, 1, target.temperature,
    )  # fmt: skip
    known = np.isfinite(target.log_bf)
    lists = make_lists(np.argwhere(known) + np.array([0, 3]), np.ones(known.sum(), dtype=bool), 6)
    lists.value[:] = target.log_bf[known]
    table = Table(np.full((1, 2), -1), np.zeros(1), np.zeros(1, dtype=np.uint8), np.full(2, -1),
                  np.empty((8, 2), dtype=np.int64), np.zeros(1, dtype=np.int64), False)  # fmt: skip
    return Data(rules, lists, table, no_ties(6, 2), np.zeros(7, dtype=np.int64)), space


class Little:
    """A chain over the 34 matchings, intercepts and spread fixed; `matched` pairs are linked at first."""

    def __init__(self, target, matched=0, seed=1, particles=2, candidates=6):
        self.rng = np.random.default_rng(seed)
        self.data, space = parts(target)
        self.state = clusters_of(self.data.rules.unit_of, self.data.rules)
        layout = Layout(self.rng.normal(size=(1, 6)), INTERCEPT.copy(), np.array([SPREAD]))
        self.latent = Latent(
            layout, space, make_tuning(space)._replace(particles=particles, candidates=candidates, jumps=4)
        )
        self.counts, self.begun = np.zeros(2, dtype=np.int64), False
        for pair in range(matched):
            join(self.state, self.data.rules, 3 + pair, pair, target.log_bf[pair, pair])
            place(layout, np.array([pair, 3 + pair]), self.rng.normal(size=1))
        self.rows = np.zeros(6)
        paper.fill_rows(self.rows, self.latent)

    def run(self, kernel, plan):
        kernel(self.rng, self.state, self.data, self.latent, plan, 0, self.counts)

    def gibbs(self, kernel=gibbs.gibbs_places):
        self.run(kernel, every_unit(self.data))

    def merge(self, kernel=merge.merge_or_split):
        self.run(kernel, self.rng.integers(0, 6, (6, 1)))

    def trade(self, what, kernel=trade.trade_places):
        first, second = self.rng.integers(0, 3, (2, 6))
        kept = first != second
        both = np.column_stack([first, second])[kept] + 3 * self.rng.integers(0, 2, (kept.sum(), 1))
        self.run(kernel, np.column_stack([both, np.full(len(both), what)]))

    def label(self, kernel=paper.labels):
        plan = np.column_stack([self.rng.permutation(6), np.full(6, -1)])
        kernel(self.rng, self.state, self.data, self.latent, self.rows, plan, 0, self.counts)
        paper.walk_positions(self.rng, self.state, self.latent, self.rows, self.counts)

    def jump(self):
        positions.jump(self.rng, self.state, self.latent, self.counts)

    def walk(self):
        positions.walk(self.rng, self.state, self.latent, self.counts)

    def code(self):
        found = 0
        for a in range(3):
            b = self.state.member[self.state.label[a], 1]
            found = found * 4 + (b - 3 if b >= 0 else -1) + 1
        return found


def p_value(target, step, number=8_000, true=None, **options):
    """Return the p value of a chain's frequencies against quadrature, and their distance."""
    chain = Little(target, **options)
    codes = np.empty(number, dtype=np.int64)
    for t in range(-number // 20, number):
        step(chain)
        codes[t] = chain.code()
    matchings, probability = exact_matching_probabilities(true or target, INTERCEPT, SPREAD)
    if options.get("matched"):
        keep = np.array([sum(q >= 0 for q in p) == options["matched"] for p in matchings])
        probability = np.where(keep, probability, 0.0) / probability[keep].sum()
    return harness.batch_test(codes, harness.codes_of(matchings, 3), probability)
