"""Three names in two files each, and the exact posterior of who is whom."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.special import logsumexp

import tielink as tl
from tielink.logp.linkage import log_linkage
from tielink.logp.profiles import log_collapsed, log_distortion

NOTHING = np.empty(0)


def names(prior: tl.Beta) -> tuple[tl.Model, tl.Dataset]:
    left = pl.DataFrame({"id": range(3), "name": ["anna", "bob", "carla"]})
    right = pl.DataFrame({"id": range(3), "name": ["ana", "bob", None]})
    data = tl.Dataset.from_frames(
        {"a": left, "b": right}, fields={"name": tl.String(prior, vocabulary="closed")}, nonmatches=[(2, 0)]
    )
    return tl.Model(linkage=tl.MatchRate(1, 2)), data


def exact_linkages(problem: tl.Problem, linkages: list[np.ndarray]) -> np.ndarray:
    """Posterior probabilities of all linkages, the distortion rate integrated out by quadrature."""
    (field,), prior = problem.fields, problem.rates[0].prior
    nodes, weights = np.polynomial.legendre.leggauss(200)
    rates, weights = (nodes + 1) / 2, weights / 2
    logs = [
        log_linkage(problem, labels)
        + logsumexp(
            [log_collapsed(field, NOTHING, rate, labels) + log_distortion(prior, rate) for rate in rates], b=weights
        )
        for labels in linkages
    ]
    return np.exp(logs - logsumexp(logs))
