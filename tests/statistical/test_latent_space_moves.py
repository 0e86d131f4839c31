"""Moves of the partition in a latent space: exact probabilities of all 34 matchings of 3 + 3 records by quadrature.

K = 1, intercepts and spread fixed. Declared false-alarm rate: 1e-4 for each test; planted errors are caught at 1e-6.
"""

import numpy as np
import pytest

from sampler.mutants import mutant
from sampler.worlds import ALPHA, CAUGHT, p_value, world
from tielink.network.latent_space.trade import FRESH, STAY


def gibbs(chain, **kernel):
    chain.gibbs(**kernel)
    chain.walk()


def gibbs_and_jump(chain):
    chain.gibbs()
    chain.jump()


def merge(chain, **kernel):
    chain.merge(**kernel)
    chain.walk()


def stay(chain, **kernel):
    chain.trade(STAY, **kernel)
    chain.walk()


def fresh(chain, **kernel):
    chain.trade(FRESH, **kernel)
    chain.walk()


def label(chain, **kernel):
    chain.label(**kernel)


def every(chain):
    chain.gibbs()
    chain.merge()
    chain.trade(STAY)
    chain.trade(FRESH)
    chain.jump()


CASES = {
    "gibbs": (gibbs, {}),
    "gibbs, two candidates": (gibbs_and_jump, {"candidates": 2}),
    "merge": (merge, {}),
    "merge, one particle and two candidates": (merge, {"particles": 1, "candidates": 2}),
    "trade, one pair": (stay, {"matched": 1}),
    "trade, fresh positions, two pairs": (fresh, {"matched": 2}),
    "trade, fresh positions, three pairs": (fresh, {"matched": 3}),
    "paper": (label, {}),
    "every move": (every, {"particles": 3}),
}
SHORT = (
    "gibbs, two candidates",
    "merge",
    "trade, one pair",
    "trade, fresh positions, two pairs",
    "paper",
    "every move",
)


@pytest.mark.parametrize("case", SHORT)
def test_moves_against_quadrature(case):
    step, options = CASES[case]
    p, distance = p_value(world(), step, 5_000, **options)
    assert p > ALPHA, (p, distance)


def test_probit_a_known_non_match_and_a_file_without_network():
    target = world(link=1, observed=(True, False))
    target.log_bf[1, 2] = -np.inf
    for step in (every, label):
        p, distance = p_value(target, step, 3_000)
        assert p > ALPHA, (step, p, distance)


@pytest.mark.long
@pytest.mark.parametrize(("prior", "link"), [("uniform", 0), ("rate", 1)])
@pytest.mark.parametrize("case", CASES)
def test_moves_against_quadrature_long(case, prior, link):
    step, options = CASES[case]
    p, distance = p_value(world(prior, link, seed=11), step, 20_000, seed=5, **options)
    print(f"latent space, {case}, {prior}, link {link}: p = {p:.3f}, total variation {distance:.4f}")
    assert p > ALPHA, (p, distance)


# module, change, kernel, step, options; ties to the fourth power are sharp positions, so that errors in nearness show
PLANTS = {
    "own position offered to a linked record": (
        "gibbs", ("r == 0 and old < 0", "r == 0"), "gibbs_places", gibbs, {},
    ),
    "prior of a position twice in gibbs": (
        "gibbs", ("log_omega[i] + rows(", "log_omega[i] + log_gamma("), "gibbs_places", gibbs, {},
    ),
    "a cluster that is not among the nearest left": (
        "gibbs", ("if data.table.missing[0] > 0 or not kept:", "if data.table.missing[0] > 0:"), "gibbs_places", gibbs,
        {"candidates": 1},
    ),
    "choice of a partner forgotten": (
        "merge", ("log_omega[chosen] - log_choice[chosen] + log_both", "log_omega[chosen] + log_both"),
        "merge_or_split", merge, {},
    ),
    "evidence of being alone forgotten": (
        "merge", ("    log_ratio -= particle_evidence(rng, there, there.size, u_there, particles, latent)[0]\n", ""),
        "merge_or_split", merge, {},
    ),
    "ties decide, profiles do not": (
        "trade", ("value_here + value_there - state.value[here] - state.value[there]:", "0.0:"),
        "trade_places", stay, {"matched": 2},
    ),
    "what is rejected by ties alone": (
        "trade", ("    if math.log(rng.random()) >= log_ratio:\n        return 0\n", ""),
        "trade_places", stay, {"matched": 2},
    ),
    "dyads between traded clusters forgotten": (
        "trade", ("return space.temperature * total", "return 0.0"), "trade_places", fresh, {"matched": 3},
    ),
    "evidence of fresh positions forgotten": (
        "trade", ("ratio += log_here + log_there + _inside", "ratio += _inside"), "trade_places", fresh, {"matched": 2},
    ),
    "the paper's ratio without its prior": (
        "paper", ("        log_ratio += value + gain\n", "        log_ratio += value\n"), "labels", label, {},
    ),
}  # fmt: skip
SHARP = (
    "own position offered to a linked record",
    "a cluster that is not among the nearest left",
    "dyads between traded clusters forgotten",
)
QUICK = ("ties decide, profiles do not", "the paper's ratio without its prior")


def check_plant(name, folder, number):
    module, change, kernel, step, options = PLANTS[name]
    target = world(temperature=4.0) if name in SHARP else world(scale=1.5)
    wrong = mutant(folder, f"network/latent_space/{module}", f"latent_{list(PLANTS).index(name)}", change)
    return p_value(target, lambda chain: step(chain, kernel=getattr(wrong, kernel)), number, **options)


@pytest.mark.parametrize("name", QUICK)
def test_planted_errors_are_caught(name, tmp_path):
    p, distance = check_plant(name, tmp_path, 5_000)
    assert p < CAUGHT, (p, distance)


@pytest.mark.long
@pytest.mark.parametrize("name", PLANTS)
def test_planted_errors_are_caught_long(name, tmp_path):
    p, distance = check_plant(name, tmp_path, 20_000)
    print(f"latent space, planted error, {name}: p = {p:.1e}, total variation {distance:.3f}")
    assert p < CAUGHT, (p, distance)


@pytest.mark.long
def test_sharp_worlds_without_a_plant_long():
    for step, options in ((gibbs, {"candidates": 1}), (fresh, {"matched": 3}), (merge, {})):
        p, distance = p_value(world(temperature=4.0), step, 20_000, **options)
        print(f"latent space, true kernels in a sharp world: p = {p:.3f}, total variation {distance:.4f}")
        assert p > ALPHA, (p, distance)


def test_a_wrong_prior_is_caught():
    target = world()
    wrong = target._replace(log_prior=target.log_prior + 0.5 * np.arange(4))
    assert p_value(wrong, every, 3_000, true=target)[0] < CAUGHT
