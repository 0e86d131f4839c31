"""Posteriors made by hand, for tests of what is done with draws."""

from __future__ import annotations

import numpy as np

import tielink as tl
from tielink.data.records import Records
from tielink.posterior.posterior import Posterior
from tielink.posterior.predictive import FIGURES, NetworkSample


def smallest_members(labels: np.ndarray) -> np.ndarray:
    """Turn labels of one draw into the smallest record number of each record's person."""
    return np.array([np.flatnonzero(labels == label)[0] for label in labels])


def posterior(labels, sizes=(3, 3), network=False, fields=("name",), seed=0) -> Posterior:
    """Make a posterior of given labels (chains × draws × records), all other numbers random."""
    rng = np.random.default_rng(seed)
    labels = np.asarray(labels)
    chains, draws, records = labels.shape
    person = np.array([[smallest_members(draw) for draw in chain] for chain in labels])
    sample = None
    if network:
        sample = NetworkSample(
            link="logit",
            draws=np.arange(draws),
            positions=rng.normal(size=(chains, draws, records, 2)),
            intercepts=rng.normal(size=(chains, draws, 2)),
            observed=rng.random((2, len(FIGURES))),
        )
    return Posterior(
        records=Records({name: [f"{name}{i}" for i in range(size)] for name, size in zip("ab", sizes, strict=True)}),
        model=tl.Model.paper(2),
        run=tl.Run(chains=chains, draws=draws),
        person=person,
        log_likelihood=rng.normal(size=(chains, draws)),
        intercepts=rng.normal(size=(chains, draws, 2)) if network else np.empty((chains, draws, 0)),
        spread=rng.random((chains, draws)) if network else np.empty((chains, 0)),
        distortion=rng.random((chains, draws, len(fields))),
        fields=tuple(fields),
        frequencies={"place": rng.dirichlet(np.ones(3), size=(chains, draws))},
        anchors=np.array([[0, 3]]),
        moves=("merge", "split"),
        proposed=np.full((chains, 2), 10),
        accepted=np.full((chains, 2), 3),
        network=sample,
        notes=("a note",),
    )
