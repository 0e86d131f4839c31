"""Negative controls of correlated ties and sociality: one planted error each, which must be caught."""

import numpy as np
import pytest

from sampler.moves import ON, on_all, run
from sampler.mutants import mutant
from sampler.naive import beta_binomial_log_prior
from sampler.one_by_one import CAUGHT, python_chain, with_walk
from sampler.quadrature import ALPHA, compare, world
from tielink.exact import gibbs, merge, odds_ratio, positions, swap

FORGOTTEN_IN_SPLIT = (
    "merge",
    [
        (
            "    log_both, _ = evidence(rng, fit_both, both, NOBODY, u, m, state, target)\n",
            (
                "    log_both, _ = evidence(rng, fit_both, both, NOBODY, u, m, state, target)\n"
                "    log_both -= pair_gain(state.correlation, u, both, NOBODY, state, target)\n"
            ),
        ),
        (
            "from tielink.exact.evidence import",
            "from tielink.exact.correlation import pair_gain\nfrom tielink.exact.evidence import",
        ),
    ],
)


def sharp_world():
    """Ties to the fourth power and a wide prior of phi, so that a forgotten factor shows."""
    return world("rate", scale=1.0, correlation_sd=3.0, temperature=4.0)


def with_odds(kernel):
    """A record's move, positions and phi."""
    apply_walk = with_walk(kernel)

    def apply(rng, state, target, tuning, side, record):
        apply_walk(rng, state, target, tuning, side, record)
        odds_ratio.walk_correlation(rng, state, target, tuning)

    return apply


def with_swaps(kernel):
    def apply(rng, state, target, tuning, side, record):
        kernel(rng, state, target, tuning)
        positions.jump(rng, state, target, tuning)
        odds_ratio.walk_correlation(rng, state, target, tuning)

    return apply


PLANTS = {
    "phi forgotten in a split": (*FORGOTTEN_IN_SPLIT, lambda m: with_odds(m.merge_or_split), {}),
    "phi forgotten in gibbs": (
        "gibbs",
        [("log_weights[i] += pair_gain(state.correlation,", "log_weights[i] += pair_gain(None,")],
        lambda m: with_odds(m.restricted_gibbs),
        {},
    ),
    "cross dyads of a swap independent": (
        "swap",
        [("cross_gain(state.correlation,", "cross_gain(None,")],
        lambda m: with_swaps(m.swap),
        {"matched": 3},
    ),
    "prior of phi forgotten": (
        "odds_ratio",
        [("0.5 * (old * old - new * new) / target.correlation_sd**2", "0.0")],
        lambda m: _with_walked_odds(m.walk_correlation),
        {},
    ),
}


def _with_walked_odds(walk_correlation):
    def apply(rng, state, target, tuning, side, record):
        gibbs.restricted_gibbs(rng, state, target, tuning, side, record)
        positions.walk(rng, state, target, tuning)
        walk_correlation(rng, state, target, tuning)

    return apply


def check(name, folder, number):
    module, changes, how, options = PLANTS[name]
    target = sharp_world()
    apply = how(mutant(folder, module, "_".join(name.split()), *changes))
    return compare(target, python_chain(target, apply, number, **options), options.get("matched"))


def test_phi_forgotten_in_a_split_is_caught(tmp_path):
    p, distance = check("phi forgotten in a split", tmp_path, 30_000)
    assert p < CAUGHT, (p, distance)


@pytest.mark.long
@pytest.mark.parametrize("name", PLANTS)
def test_planted_errors_are_caught_long(name, tmp_path):
    p, distance = check(name, tmp_path, 150_000)
    print(f"{name}: p = {p:.1e}, total variation {distance:.3f}")
    assert p < CAUGHT, (p, distance)


@pytest.mark.long
def test_true_kernels_pass_where_errors_are_planted():
    """The control of the controls."""
    target = sharp_world()
    for name, kernel, options in (
        ("split", with_odds(merge.merge_or_split), {}),
        ("gibbs", with_odds(gibbs.restricted_gibbs), {}),
        ("swap", with_swaps(swap.swap), {"matched": 3}),
    ):
        p, distance = compare(target, python_chain(target, kernel, 150_000, **options), options.get("matched"))
        print(f"true {name} with phi: p = {p:.3f}, total variation {distance:.4f}")
        assert p > ALPHA, (p, distance)


REPLICATE_PLANTS = {
    "phi forgotten in the walk of an intercept": (
        "intercept",
        [("        log_ratio += intercept_gain(side, old, new, state, target)\n", "")],
        lambda m: on_all(m.walk_intercepts),
    ),
    "phi forgotten in the walk of sociality": (
        "sociality",
        [("gain_at(state.correlation,", "gain_at(None,")],
        lambda m: on_all(m.walk_sociality),
    ),
    "stretch without its Jacobian": (
        "sociality",
        [("log_ratio = math.log(c) + 0.5", "log_ratio = 0.5")],
        lambda m: on_all(m.stretch_sociality),
    ),
    "tau without its Jacobian": (
        "sociality",
        [("(1.0 - count) * log_c", "-count * log_c")],
        lambda m: on_all(m.walk_sociality_sd),
    ),
    "shift with half the intercept": (
        "sociality",
        [("intercept[file] -= 2.0 * delta", "intercept[file] -= delta")],
        lambda m: on_all(lambda rng, state, target, tuning: m.shift_sociality(rng, state, target)),
    ),
}
QUICK = ("stretch without its Jacobian",)


def replicate_plant(name, folder, replicates, length):
    module, changes, how = REPLICATE_PLANTS[name]
    broken = mutant(folder, module, "_".join(name.split()), *changes)
    prior = beta_binomial_log_prior(5, 6, 2.0, 1.0)
    return run(how(broken), replicates, length, n1=7, n2=8, anchors=2, log_prior=prior, **ON)


@pytest.mark.parametrize("name", QUICK)
def test_replicates_catch_planted_errors(name, tmp_path):
    z = replicate_plant(name, tmp_path, 1500, 5)
    assert np.abs(z).max() > 6.0, z


@pytest.mark.long
@pytest.mark.parametrize("name", REPLICATE_PLANTS)
def test_replicates_catch_planted_errors_long(name, tmp_path):
    z = replicate_plant(name, tmp_path, 8000, 10)
    print(f"{name}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > 6.0, z
