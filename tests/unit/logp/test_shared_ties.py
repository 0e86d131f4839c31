"""The log probability of shared ties: its four cases by sums over counts, its pairs of dyads by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import stats

import tielink as tl
from tielink.logp import Parameters, log_joint, log_joint_terms
from tielink.logp.shared_ties import log_independent_ties, log_shared_ties, log_two_dyads


def by_counts(first, second, common, tied, most=40):
    """P(y, y') by a sum over the common count and whether the own counts are 0."""
    total = 0.0
    for shared in range(most):
        chance = stats.poisson.pmf(shared, common)
        for rate, one in ((first, tied[0]), (second, tied[1])):
            zero = np.exp(-(rate - common)) if shared == 0 else 0.0
            chance *= 1 - zero if one else zero
        total += chance
    return total


@pytest.mark.parametrize("rates", [(0.5, 0.8, 0.3), (0.1, 2.0, 0.1), (1.5, 1.5, 1.2), (0.7, 0.2, 0.0)])
def test_two_dyads_have_a_common_count(rates):
    total = 0.0
    for tied in product([False, True], repeat=2):
        chance = by_counts(*rates, tied)
        total += chance
        apart = np.prod([-np.expm1(-rate) if one else np.exp(-rate) for rate, one in zip(rates, tied, strict=False)])
        if chance > 1e-14:
            assert log_two_dyads(*rates, tied) == pytest.approx(np.log(chance / apart), abs=1e-9)
    assert total == pytest.approx(1.0)


def test_which_pairs_of_dyads_are_summed():
    theta = np.array([0.9, 0.6, 0.8, 0.7, 1.1, 0.5])
    ties, sizes = (np.array([[0, 1]]), np.array([[0, 1], [1, 2]])), (3, 3)
    assert log_shared_ties(ties, sizes, np.arange(6), theta, 0.6) == 0.0
    # Persons {0, 3} and {1, 4} share one dyad; {2} and {5} have none in two files.
    found = log_shared_ties(ties, sizes, np.array([0, 1, 2, 0, 1, 5]), theta, 0.6)
    common = 0.6 * 0.7 * 0.6
    assert found == pytest.approx(log_two_dyads(0.9 * 0.6, 0.7 * 1.1, common, (True, True)))
    # Duplicates in one file: {0, 1} and {2, 3} have four dyads and six pairs of them; {4} has two dyads with each.
    labels, edges = np.array([0, 0, 1, 1, 2]), np.array([[0, 2], [1, 3], [3, 4]])
    found = log_shared_ties((edges,), (5,), labels, np.full(5, 0.9), 0.5)
    kappa, rate = 0.5 * 0.81, 0.81
    both, one, none = (log_two_dyads(rate, rate, kappa, tied) for tied in ((1, 1), (1, 0), (0, 0)))
    assert found == pytest.approx(both + 4 * one + none + none + one)


def test_a_file_without_a_network_says_nothing():
    ties, theta = (np.array([[0, 1]]), None), np.array([0.9, 0.6, 0.0, 0.0])
    assert log_shared_ties(ties, (2, 2), np.array([0, 1, 0, 1]), theta, 0.9) == 0.0
    assert log_independent_ties(ties, (2, 2), theta) == pytest.approx(np.log(-np.expm1(-0.54)))


def problem():
    frame = pl.DataFrame({"id": range(2)})
    data = tl.Dataset.from_frames({"a": frame, "b": frame}, {"a": [(0, 1)], "b": [(0, 1)]}, fields={})
    return tl.Problem.compile(tl.Model(network=tl.SharedTies(0.5, tl.Beta(2, 3))), data)


def test_the_joint_has_the_terms_of_shared_ties():
    theta = np.array([0.9, 0.6, 0.8, 0.7])
    parameters = Parameters(
        np.array([0, 1, 0, 1]), np.zeros((2, 0)), np.zeros(2), 1.0, np.empty(0),
        sharing=0.4, tie_rates=theta, power=0.5,
    )  # fmt: skip
    terms = dict(log_joint_terms(problem(), parameters))
    ratio = log_two_dyads(0.54, 0.56, 0.4 * 0.8 * 0.6, (True, True))
    assert terms["shared ties"] == pytest.approx(0.5 * ratio)
    assert terms["ties as if independent"] == pytest.approx(np.log(-np.expm1(-0.54)) + np.log(-np.expm1(-0.56)))
    assert terms["share of common ties"] == pytest.approx(stats.beta(2, 3).logpdf(0.4))
    assert log_joint(problem(), parameters) == pytest.approx(sum(terms.values()))


def test_a_joint_without_rates_of_ties_is_refused():
    parameters = Parameters(np.array([0, 1, 0, 1]), np.zeros((2, 0)), np.zeros(2), 1.0, np.empty(0), sharing=0.4)
    with pytest.raises(ValueError, match="needs θ of each of the 4 records, and 0 are given"):
        log_joint(problem(), parameters)
