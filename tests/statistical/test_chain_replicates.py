"""Joint-distribution tests of whole sweeps, for partitions of every class: parameters and data keep their distribution.

Declared false-alarm rate: 1e-4 for each test, Bonferroni over the statistics. Every planted error must be caught.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import ks_2samp, norm

import tielink as tl
from sampler.chain_replicates import CLOSED, EP, FIELDS, NB, SPACE, STATISTICS, replicate_z
from sampler.mutants import mutant
from tielink.model.cluster_sizes import draw_sizes
from tielink.network.latent_space import merge, part, scalars, trade
from tielink.sampler import hyperparameters

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
    "two files, pairs": (tl.MatchRate(2, 1), {"a": 4, "b": 5}),
}
MOVES = {
    "merge": lambda chain: chain.network.run(
        merge.merge_or_split, chain.rng.integers(0, chain.rules.unit_begin.size - 1, (8, 1))
    ),
    "trade": lambda chain: chain.network.run(trade.trade_places, chain.network.alike.draw(chain.rng, 20)),
}


def changes(prior, sizes, replicates, network=None, fields=FIELDS, sweeps=2, **options):
    return replicate_z(tl.Model(network=network, linkage=prior, fields=fields), sizes, replicates, sweeps, **options)


def said(z):
    return dict(zip(STATISTICS, z.round(1).tolist(), strict=True))


@pytest.mark.parametrize("case", ["one file, Ewens–Pitman"])
def test_profiles_alone(case):
    z = changes(*PROFILES[case], 250)
    assert np.abs(z).max() < LIMIT, said(z)


@pytest.mark.parametrize("case", ["three files, one a file", "two files, pairs"])
def test_ties(case):
    z = changes(*TIES[case], 250, network=SPACE)
    assert np.abs(z).max() < LIMIT, said(z)


@pytest.mark.parametrize("move", MOVES)
def test_moves_of_a_latent_space(move):
    case = "three files, one a file" if move == "merge" else "two files, duplicates"
    z = changes(*TIES[case], 250, network=SPACE, fields=CLOSED, apply=MOVES[move])
    assert np.abs(z).max() < LIMIT, said(z)


def test_the_papers_algorithm():
    z = changes(*TIES["two files, pairs"], 250, network=SPACE, sweeps=4, sampler="paper")
    assert np.abs(z).max() < LIMIT, said(z)


@pytest.mark.long
@pytest.mark.parametrize(
    ("move", "case"),
    [
        ("merge", "three files, one a file"),
        ("merge", "two files, pairs"),
        ("trade", "one file, duplicates"),
        ("trade", "three files, one a file"),
        ("trade", "two files, pairs"),
        ("paper", "two files, pairs"),
    ],
)
def test_moves_of_a_latent_space_long(move, case):
    how = {"sampler": "paper"} if move == "paper" else {"apply": MOVES[move]}
    z = changes(*TIES[case], 4_000, network=SPACE, fields=CLOSED, seed=14, **how)
    print(f"{move}, {case}: largest |z| {np.abs(z).max():.2f}")
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
    print(f"profiles, {case}: largest |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() < LIMIT, said(z)


@pytest.mark.long
@pytest.mark.parametrize(("fields", "dimension"), [(CLOSED, 2), ({}, 1)], ids=["fields", "no fields"])
@pytest.mark.parametrize("case", TIES)
def test_ties_long(case, fields, dimension):
    space = tl.LatentSpace(dimension, intercept_sd=1.5, spread=tl.InverseGamma(6.0, 10.0))
    z = changes(*TIES[case], 4_000, network=space, fields=fields, seed=12, sweeps=2)
    what = "profiles and ties" if fields else "ties"
    print(f"{what}, K = {dimension}, {case}: largest |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() < LIMIT, said(z)


ERRORS = {
    "spread counts records, not persons": (
        "scalars", ("0.5 * state.number[0] * space.dimension", "0.5 * state.label.size * space.dimension"),
    ),
    "density of fresh positions dropped": (
        "gibbs", ("log_weights[few + r] -= log_density(u, proposal, layout.spread[0])", "pass"),
    ),
    "prior of fresh positions dropped": (
        "gibbs", ("= log_gamma(u, members, members.size,", "= rows(u, members, members.size,"),
    ),
    "profile and prior weight of a cluster dropped": (
        "gibbs", ("log_omega[i] + rows(", "0.0 + rows("),
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("error", ERRORS)
def test_planted_errors_long(error, monkeypatch, tmp_path):
    module, change = ERRORS[error]
    wrong = mutant(tmp_path, f"network/latent_space/{module}", f"latent_{list(ERRORS).index(error)}", change)
    if module == "gibbs":
        monkeypatch.setattr(part, "gibbs_places", wrong.gibbs_places)
    else:
        monkeypatch.setattr(scalars, "draw_spread", wrong.draw_spread)
    z = changes(*TIES["one file, duplicates"], 3_000, network=SPACE, fields={}, seed=13, sweeps=3)
    print(f"planted error, {error}: largest |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() > CAUGHT, said(z)
