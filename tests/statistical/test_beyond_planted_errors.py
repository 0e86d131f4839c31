"""Negative controls of correlated ties and sociality: one planted error each, which must be caught."""

import importlib

import numpy as np
import pytest

from sampler.moves import LIMIT, ON, on_all, run
from sampler.mutants import mutant
from sampler.naive import beta_binomial_log_prior
from sampler.one_by_one import CAUGHT, python_chain, with_walk
from sampler.quadrature import ALPHA, compare, world
from sampler.statistics import STATISTICS
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
}


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


SOME = {"n1": 7, "n2": 8, "anchors": 2, "log_prior": beta_binomial_log_prior(5, 6, 2.0, 1.0), **ON}
# Nearly all records linked, a wide prior of phi and persons unlike each other: many dyads in which phi says much.
LINKED = {"n1": 9, "n2": 9, "anchors": 8, "correlation_sd": 4.0, "sociality_scale": 2.0}
# Few records and few dyads that speak of phi: the priors of phi and tau still matter.
FEW = {"n1": 4, "n2": 5, "anchors": 2, **ON}

# name: module, changes, how to run, replicates of what
REPLICATE_PLANTS = {
    # Not by quadrature: without its prior log phi has no distribution, and walks on until phi is 0 or infinite.
    "prior of phi forgotten": (
        "odds_ratio",
        [("0.5 * (old * old - new * new) / target.correlation_sd**2", "0.0")],
        lambda m: on_all(m.walk_correlation),
        FEW,
    ),
    "phi forgotten in the walk of an intercept": (
        "intercept",
        [("        log_ratio += intercept_gain(side, old, new, state, target)\n", "")],
        lambda m: on_all(m.walk_intercepts),
        LINKED,
    ),
    "phi forgotten in the walk of sociality": (
        "sociality",
        [("gain_at(state.correlation,", "gain_at(None,")],
        lambda m: on_all(m.walk_sociality),
        LINKED,
    ),
    "stretch without its Jacobian": (
        "sociality",
        [("log_ratio = math.log(c) + 0.5", "log_ratio = 0.5")],
        lambda m: on_all(m.stretch_sociality),
        SOME,
    ),
    "tau without its Jacobian": (
        "sociality",
        [("(1.0 - count) * log_c", "-count * log_c")],
        lambda m: on_all(m.walk_sociality_sd),
        FEW,
    ),
    "shift with half the intercept": (
        "sociality",
        [("intercept[file] -= 2.0 * delta", "intercept[file] -= delta")],
        lambda m: on_all(lambda rng, state, target, tuning: m.shift_sociality(rng, state, target)),
        SOME,
    ),
}


@pytest.mark.parametrize("name", REPLICATE_PLANTS)
def test_replicates_catch_planted_errors(name, tmp_path):
    """The broken kernel is caught, and the true one passes on the same replicates."""
    module, changes, how, settings = REPLICATE_PLANTS[name]
    broken = mutant(tmp_path, module, "_".join(name.split()), *changes)
    z = run(how(broken), 5000, 5, **settings)
    print(f"{name}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > 6.0, z
    z = run(how(importlib.import_module(f"tielink.exact.{module}")), 5000, 5, **settings)
    print(f"true kernel for {name}: largest |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() < LIMIT, dict(zip(STATISTICS, z.round(1), strict=True))
