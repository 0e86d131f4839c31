"""Correlated ties in three files: every move leaves the joint of parameters and data unchanged.

Declared false-alarm rate: 1e-4 for each test, Bonferroni over the statistics. With φ forgotten in a move, it must be
caught. The same draws of who is whom are compared with exact quadrature on 3 + 3 records.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import tielink as tl
from sampler.cluster_worlds import SPACE, STATISTICS, alone, replicate_z
from sampler.mutants import mutant
from tielink.exact.clusters import correlation, gibbs, positions, sociality
from tielink.run import cluster_chain

LIMIT = norm.isf(1e-4 / (2 * len(STATISTICS)))
CAUGHT = 6.0
NETWORK = replace(SPACE, sociality=True, tie_correlation=tl.TieCorrelation(sd=3.0, egos={}))
CASES = {
    "one a file": (tl.OnePerFile(6, 1), {"a": 4, "b": 4, "c": 4}),
    "pairs": (tl.Uniform(), {"a": 3, "b": 4, "c": 3}),
}

IMPORT = "from tielink.exact.clusters.correlation import cluster_gain, total_gain\n"
NO_CLUSTER_GAIN = (
    IMPORT,
    "from tielink.exact.clusters.correlation import total_gain\n"
    "@njit\ndef cluster_gain(u, slot, state, layout, space):\n    return 0.0\n",
)
NO_TOTAL_GAIN = (
    IMPORT,
    "from tielink.exact.clusters.correlation import cluster_gain\n"
    "@njit\ndef total_gain(log_phi, intercept, stretch, state, layout, space):\n    return 0.0\n",
)
NO_JOINED_GAIN = ("log_weights[i] += joined_gain(points[i], own, slot, key, both, state, layout, space)", "pass")
NO_PRIOR = ("log_ratio = 0.5 * (old * old - new * new) / space.correlation_sd**2", "log_ratio = 0.0")

MOVES = {
    "gibbs": (gibbs, "gibbs_places", NO_JOINED_GAIN),
    "correlation": (correlation, "walk_correlation", NO_PRIOR),
    "walk": (positions, "walk", NO_CLUSTER_GAIN),
    "jump": (positions, "jump", NO_CLUSTER_GAIN),
    "intercept": (positions, "walk_intercepts", NO_TOTAL_GAIN),
    "scale": (positions, "scale", NO_TOTAL_GAIN),
    "sociality": (sociality, "walk_sociality", NO_CLUSTER_GAIN),
    "sociality stretch": (sociality, "stretch_sociality", NO_TOTAL_GAIN),
}


def labels_by(kernel):
    """A draw of everybody's cluster, with this kernel in place of the true one."""

    def move(chain):
        true, cluster_chain.gibbs_places = cluster_chain.gibbs_places, kernel
        try:
            chain._labels(np.zeros(2, dtype=np.int64))
        finally:
            cluster_chain.gibbs_places = true

    return move


def largest(replicates, case="one a file", move=None, sweeps=2, seed=17):
    prior, sizes = CASES[case]
    model = tl.Model(network=NETWORK, linkage=prior, fields={})
    z = np.abs(replicate_z(model, sizes, replicates, sweeps, seed=seed, apply=move))
    return float(z.max()), STATISTICS[int(z.argmax())]


def with_and_without(name, tmp_path, replicates, sweeps):
    module, kernel, change = MOVES[name]
    wrong = mutant(tmp_path, f"clusters/{module.__name__.rsplit('.', 1)[1]}", f"phi_{name.replace(' ', '_')}", change)
    made = labels_by if name == "gibbs" else alone
    return [largest(replicates, move=made(getattr(one, kernel)), sweeps=sweeps) for one in (module, wrong)]


@pytest.mark.long
def test_whole_sweeps():
    z, statistic = largest(400)
    assert z < LIMIT, statistic


@pytest.mark.parametrize("name", ["gibbs", "correlation"])
def test_forgotten_it_is_caught(name, tmp_path):
    (true, statistic), (wrong, _) = with_and_without(name, tmp_path, 600, 8)
    assert true < LIMIT, statistic
    assert wrong > CAUGHT


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_whole_sweeps_long(case):
    z, statistic = largest(8_000, case, seed=18)
    print(f"clusters, correlated ties, {case}: largest |z| {z:.2f}")
    assert z < LIMIT, statistic


@pytest.mark.long
@pytest.mark.parametrize("name", MOVES)
def test_each_move_with_and_without_phi_long(name, tmp_path):
    (true, statistic), (wrong, _) = with_and_without(name, tmp_path, 6_000, 30 if name == "scale" else 8)
    print(f"clusters, correlated ties, {name}: largest |z| {true:.2f}, phi forgotten: {wrong:.2f}")
    assert true < LIMIT, statistic
    assert wrong > CAUGHT
