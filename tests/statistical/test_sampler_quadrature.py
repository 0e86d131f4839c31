"""
Chain frequencies of all 34 matchings of 3 + 3 records against exact quadrature (K = 1, intercepts and spread fixed).

Declared false-alarm rate: ALPHA per test.
"""

import numpy as np
import pytest

from sampler import harness as h
from sampler.quadrature import ALPHA, CASES, chain, compare, correlated_world, world


@pytest.mark.parametrize("prior", ["uniform", "rate"])
@pytest.mark.parametrize("case", CASES)
def test_moves_against_quadrature(case, prior):
    moves, options = CASES[case]
    target = world(prior)
    p, distance = compare(target, chain(target, moves, 40_000, **options), options.get("matched"))
    assert p > ALPHA, (p, distance)


@pytest.mark.parametrize("case", ["all", "switch, two pairs"])
def test_probit_and_known_non_match(case):
    moves, options = CASES[case]
    target = world("rate", link=1)
    target.log_bf[1, 2] = -np.inf
    p, distance = compare(target, chain(target, moves, 40_000, **options), options.get("matched"))
    assert p > ALPHA, (p, distance)


def test_one_file_without_network():
    target = world("rate", observed=(True, False))
    p, distance = compare(target, chain(target, CASES["all"][0], 40_000))
    assert p > ALPHA, (p, distance)


@pytest.mark.parametrize("case", ["gibbs", "merge", "switch, two pairs", "swap", "all"])
def test_moves_with_correlated_ties(case):
    """phi is free: the exact answer integrates it out, the chain walks it."""
    moves, options = CASES[case]
    target = correlated_world("rate")
    codes = chain(target, moves | h.ODDS, 40_000, **options)
    p, distance = compare(target, codes, options.get("matched"))
    assert p > ALPHA, (p, distance)


def test_correlated_ties_matter_in_that_world():
    """The control: without phi the exact answer is another one, far outside what the tests above let pass."""
    target = correlated_world("rate")
    codes = chain(target, CASES["all"][0] | h.ODDS, 40_000, particles=3)
    p, distance = compare(target._replace(correlation_sd=0.0), codes)
    assert p < 1e-6, (p, distance)


@pytest.mark.long
@pytest.mark.parametrize("link", [0, 1])
@pytest.mark.parametrize("case", CASES)
def test_moves_with_correlated_ties_long(case, link):
    moves, options = CASES[case]
    target = correlated_world("rate", link=link, seed=11)
    codes = chain(target, moves | h.ODDS, 1_000_000, seed=5, **options)
    p, distance = compare(target, codes, options.get("matched"))
    print(f"{case}, correlated ties, link {link}: p = {p:.3f}, total variation {distance:.4f}")
    assert p > ALPHA, (p, distance)
    assert distance < 0.01


@pytest.mark.long
@pytest.mark.parametrize("link", [0, 1])
@pytest.mark.parametrize("prior", ["uniform", "rate"])
@pytest.mark.parametrize("case", CASES)
def test_moves_against_quadrature_long(case, prior, link):
    moves, options = CASES[case]
    target = world(prior, link=link, seed=11)
    p, distance = compare(target, chain(target, moves, 1_000_000, seed=5, **options), options.get("matched"))
    print(f"{case}, {prior}, link {link}: p = {p:.3f}, total variation {distance:.4f}")
    assert p > ALPHA, (p, distance)
    assert distance < 0.01
