"""Joint-distribution tests of the sampler for clusters: whole sweeps leave the joint of parameters and data unchanged.

Declared false-alarm rate: 1e-4 for each test, Bonferroni over the statistics. Every planted error must be caught.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import ks_2samp, norm

import tielink as tl
from sampler.cluster_worlds import CLOSED, EP, FIELDS, NB, SOCIAL, SPACE, STATISTICS, alone, replicate_z
from sampler.mutants import mutant
from tielink.exact.clusters import hyperparameters, positions
from tielink.model.cluster_sizes import draw_sizes
from tielink.run import cluster_chain

LIMIT = norm.isf(1e-4 / (2 * len(STATISTICS)))
CAUGHT = 6.0

PROFILES = {
    "one file, Ewens–Pitman": (EP, {"a": 6}),
    "one file, negative binomial": (NB, {"a": 6}),
    "two files, duplicates": (EP, {"a": 3, "b": 3}),
    "three files, one a file": (tl.OnePerFile(1, 1), {"a": 2, "b": 3, "c": 2}),
    "three files, pairs": (tl.MatchRate(2, 1), {"a": 2, "b": 3, "c": 2}),
}
TIES = {
    "one file, duplicates": (EP, {"a": 6}),
    "three files, one a file": (tl.OnePerFile(2, 1), {"a": 3, "b": 3, "c": 3}),
    "two files, duplicates": (NB, {"a": 4, "b": 3}),
    "three files, pairs": (tl.Uniform(), {"a": 3, "b": 3, "c": 2}),
}


def changes(prior, sizes, replicates, network=None, fields=FIELDS, sweeps=2, **options):
    return replicate_z(tl.Model(network=network, linkage=prior, fields=fields), sizes, replicates, sweeps, **options)


def said(z):
    return dict(zip(STATISTICS, z.round(1).tolist(), strict=True))


@pytest.mark.parametrize("case", ["one file, Ewens–Pitman"])
def test_profiles_alone(case):
    z = changes(*PROFILES[case], 250)
    assert np.abs(z).max() < LIMIT, said(z)


@pytest.mark.parametrize("case", ["three files, one a file"])
def test_ties(case):
    z = changes(*TIES[case], 250, network=SPACE)
    assert np.abs(z).max() < LIMIT, said(z)


@pytest.mark.long
def test_sociality():
    z = changes(*TIES["one file, duplicates"], 400, network=SOCIAL, fields={})
    assert np.abs(z).max() < LIMIT, said(z)


def hyperparameter_p_values(prior, replicates=1_200, records=12):
    """Draw hyperparameters and a partition given them, update the former: the same distribution before and after."""
    rng = np.random.default_rng(5)
    before, after = np.empty((2, replicates, 2))
    for r in range(replicates):
        values = prior.draw(rng)
        sizes = draw_sizes(rng, *prior.family(values, records), records)
        state = SimpleNamespace(size=np.array(sizes), prior=np.ones(2), log_size=np.zeros(prior.max_size + 1))
        walker = hyperparameters.Hyperparameters(prior, records)
        walker.values = values.copy()
        for _ in range(3):
            walker.update(rng, state, None)
        before[r], after[r] = values, walker.values
    return [float(ks_2samp(x, y).pvalue) for x, y in zip(before.T, after.T, strict=True)]


@pytest.mark.parametrize("prior", [EP, NB])
def test_hyperparameters(prior):
    assert min(hyperparameter_p_values(prior)) > 1e-5


def test_a_forgotten_normaliser_is_caught(monkeypatch):
    monkeypatch.setattr(hyperparameters, "log_series", lambda *_: 0.0)
    assert min(hyperparameter_p_values(EP)) < 1e-5
    monkeypatch.undo()
    monkeypatch.setattr(hyperparameters, "log_density_on_line", lambda prior, z: 0.0)
    assert min(hyperparameter_p_values(NB)) < 1e-5, "a forgotten prior of hyperparameters goes unnoticed"


@pytest.mark.long
@pytest.mark.parametrize("case", PROFILES)
def test_profiles_alone_long(case):
    z = changes(*PROFILES[case], 4_000, fields=CLOSED, seed=11, sweeps=3)
    print(f"clusters, profiles, {case}: largest |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() < LIMIT, said(z)


@pytest.mark.long
@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("fields", [CLOSED, {}], ids=["fields", "no fields"])
@pytest.mark.parametrize("case", TIES)
def test_ties_long(case, fields, dimension):
    space = tl.LatentSpace(dimension, intercept_sd=1.5, spread=tl.InverseGamma(6.0, 10.0))
    z = changes(*TIES[case], 4_000, network=space, fields=fields, seed=12, sweeps=2)
    what = "profiles and ties" if fields else "ties"
    print(f"clusters, {what}, K = {dimension}, {case}: largest |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() < LIMIT, said(z)


@pytest.mark.long
@pytest.mark.parametrize("case", TIES)
def test_sociality_long(case):
    z = changes(*TIES[case], 4_000, network=SOCIAL, fields=CLOSED, seed=14, sweeps=2)
    print(f"clusters, sociality, {case}: largest |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() < LIMIT, said(z)


def social_changes(replicates, move):
    """One move alone, so that no other mends what it does, and records that differ much."""
    prior, sizes = TIES["one file, duplicates"]
    network = replace(SPACE, sociality=tl.Sociality(3.0))
    return changes(prior, sizes, replicates, network=network, fields={}, seed=15, sweeps=8, apply=move)


def test_sociality_forgotten_by_the_intercepts_is_caught(tmp_path):
    forgotten = ("row_levels(intercept, layout.sociality[file], i)", "intercept")
    wrong = mutant(tmp_path, "clusters/positions", "cluster_social_intercepts", forgotten)
    for module, caught in ((positions, False), (wrong, True)):
        z = social_changes(1_000, alone(module.walk_intercepts))
        assert np.abs(z).max() > CAUGHT if caught else np.abs(z).max() < LIMIT, said(z)


@pytest.mark.long
def test_sociality_forgotten_by_gibbs_is_caught_long(monkeypatch, tmp_path):
    row = "row(u, x, ties, row_levels(layout.intercept[file], layout.sociality[file], i), space.link, i, -1)"
    plain = "row(u, x, ties, layout.intercept[file], space.link, i, -1)"
    mutant(tmp_path, "clusters/space", "cluster_social_space", (row, plain))
    here = ("from tielink.exact.clusters.space import", "from mutant_cluster_social_space import")
    wrong = mutant(tmp_path, "clusters/gibbs", "cluster_social_gibbs", here)
    for places, caught in ((cluster_chain.gibbs_places, False), (wrong.gibbs_places, True)):
        monkeypatch.setattr(cluster_chain, "gibbs_places", places)
        z = social_changes(4_000, lambda chain: chain._labels(np.zeros(2, dtype=np.int64)))
        print(f"clusters, sociality {'forgotten by' if caught else 'in'} gibbs: largest |z| {np.abs(z).max():.2f}")
        assert np.abs(z).max() > CAUGHT if caught else np.abs(z).max() < LIMIT, said(z)


ERRORS = {
    "spread counts records, not persons": (
        "positions", ("0.5 * state.number[0] * space.dimension", "0.5 * state.label.size * space.dimension"),
    ),
    "density of fresh positions dropped": (
        "gibbs", ("log_weights[few + r] -= log_density(u, proposal, layout.spread[0])", "pass"),
    ),
    "prior of fresh positions dropped": (
        "gibbs", ("= log_gamma(u, members, count, layout, space)", "= rows(u, members, count, layout, space)"),
    ),
    "profile and prior weight of a cluster dropped": (
        "gibbs", ("log_omega[chosen_options[i]] + rows(", "0.0 + rows("),
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("error", ERRORS)
def test_planted_errors_long(error, monkeypatch, tmp_path):
    module, change = ERRORS[error]
    wrong = mutant(tmp_path, f"clusters/{module}", f"cluster_{list(ERRORS).index(error)}", change)
    if module == "gibbs":
        monkeypatch.setattr(cluster_chain, "gibbs_places", wrong.gibbs_places)
    else:
        monkeypatch.setattr(positions, "draw_spread", wrong.draw_spread)
    z = changes(*TIES["one file, duplicates"], 3_000, network=SPACE, fields={}, seed=13, sweeps=3)
    print(f"clusters, planted error, {error}: largest |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() > CAUGHT, said(z)
