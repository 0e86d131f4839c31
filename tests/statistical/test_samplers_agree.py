"""The exact sampler and the paper's agree where both converge. False-alarm rate: about 1e-4 for each test.

Means over chains are compared by their standard errors over chains (Welch's test), so that slow mixing widens the bound
instead of raising an alarm.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import tielink as tl
from tielink.simulate import scenario

ALPHA = 1e-4


def fits(link: str, linkage, seed: int):
    model = tl.Model(
        network=tl.LatentSpace(1, link, intercept_sd=2.0, spread=tl.InverseGamma(6.0, 10.0)),
        linkage=linkage,
        kinds={"categorical": tl.Categorical(tl.Beta(2, 6))},
    )
    rng, places = np.random.default_rng(seed), {"place": ["x", "y", "z"]}
    sizes = {"a": 6, "b": 7}
    made = scenario(rng, model, sizes, overlap=4, density=0.35, spread=2.0, anchors=0.25, vocabularies=places)
    exact = tl.sample(model, made.dataset, chains=6, warmup=100, draws=300, thin=2, seed=1, workers=0)
    paper = tl.sample(model, made.dataset, sampler="paper", chains=6, warmup=500, draws=300, thin=20, seed=2, workers=0)
    return exact, paper


def p_value(one: np.ndarray, other: np.ndarray) -> float:
    """Welch's test of chain means; 1 for a quantity that never varies."""
    a, b = one.mean(axis=1), other.mean(axis=1)
    if np.ptp(np.concatenate([a, b])) == 0:
        return 1.0
    return float(stats.ttest_ind(a, b, equal_var=False).pvalue)


@pytest.mark.parametrize(
    ("link", "linkage"),
    [("logit", tl.MatchRate()), pytest.param("probit", tl.Uniform(), marks=pytest.mark.long)],
)
def test_means_of_n_parameters_and_pairs_agree(link, linkage):
    exact, paper = fits(link, linkage, seed=3)
    quantities = {
        "persons": (exact.number_of_persons, paper.number_of_persons),
        "log-likelihood": (exact.log_likelihood, paper.log_likelihood),
        "spread": (np.log(exact.spread), np.log(paper.spread)),
        "intercept": (exact.intercepts[:, :, 0], paper.intercepts[:, :, 0]),
        "distortion": (exact.distortion[:, :, 0], paper.distortion[:, :, 0]),
    }
    likely = exact.pair_probabilities
    for a, b in likely.pairs[(likely.probability > 0.05) & (likely.probability < 0.95)][:10]:
        together = tuple((fit.person[:, :, a] == fit.person[:, :, b]).astype(float) for fit in (exact, paper))
        quantities[f"pair {a}–{b}"] = together
    assert len(quantities) > 7, "the example must leave some pairs in doubt"
    bound = ALPHA / len(quantities)
    found = {name: p_value(*pair) for name, pair in quantities.items()}
    assert min(found.values()) > bound, found
    shifted = p_value(exact.number_of_persons, paper.number_of_persons + 1)
    assert shifted < bound, "a difference of one person goes unnoticed"
