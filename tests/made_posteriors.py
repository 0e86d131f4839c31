"""Posteriors made by hand, with numbers in every part, for tests of what is done with draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import tielink as tl
from posteriors import posterior_of
from tielink.data.records import Records
from tielink.posterior.posterior import Posterior
from tielink.posterior.predictive import FIGURES, NetworkSample


def posterior(labels, sizes=(3, 3), network=False, fields=("name",), seed=0) -> Posterior:
    """Make a posterior of given labels (chains × draws × records), all other numbers random."""
    rng = np.random.default_rng(seed)
    labels = np.asarray(labels)
    chains, draws, records = labels.shape
    sample = None
    if network:
        sample = NetworkSample(
            link="logit",
            draws=np.arange(draws),
            positions=rng.normal(size=(chains, draws, records, 2)),
            intercepts=rng.normal(size=(chains, draws, 2)),
            observed=rng.random((2, len(FIGURES))),
        )
    index = Records({name: [f"{name}{i}" for i in range(size)] for name, size in zip("ab", sizes, strict=True)})
    return replace(
        posterior_of(index, labels.reshape(-1, records), [(0, 3)], chains),
        model=tl.Model.paper(2),
        log_likelihood=rng.normal(size=(chains, draws)),
        intercepts=rng.normal(size=(chains, draws, 2)) if network else np.empty((chains, draws, 0)),
        spread=rng.random((chains, draws)) if network else np.empty((chains, 0)),
        distortion=rng.random((chains, draws, len(fields))),
        rates=tuple(fields),
        fields={"place": rng.dirichlet(np.ones(3), size=(chains, draws))},
        moves=("merge", "split"),
        proposed=np.full((chains, 2), 10),
        accepted=np.full((chains, 2), 3),
        network=sample,
        notes=("a note",),
    )
