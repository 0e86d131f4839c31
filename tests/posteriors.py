"""Small posteriors made of given draws, and every partition of a few records to hold estimates against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

import tielink as tl
from tielink.data.linkage import Linkage, LinkageClass
from tielink.data.records import Records
from tielink.posterior.posterior import Posterior
from tielink.project import Run


def posterior_of(
    records: Records, draws: ArrayLike, anchors: Sequence[tuple[int, int]] = (), chains: int = 1
) -> Posterior:
    """A posterior whose draws have these labels (draws × records)."""
    labels = np.asarray(draws)
    person = np.array([[np.flatnonzero(row == label)[0] for label in row] for row in labels])
    count = len(person) // chains
    return Posterior(
        records=records,
        model=tl.Model(network=None),
        run=Run(chains=chains, draws=count),
        person=person.reshape(chains, count, len(records)),
        log_likelihood=np.zeros((chains, count)),
        intercepts=np.empty((chains, count, 0)),
        spread=np.empty((chains, 0)),
        distortion=np.empty((chains, count, 0)),
        rates=(),
        fields={},
        anchors=np.array(anchors, dtype=np.int64).reshape(-1, 2),
        moves=(),
        proposed=np.zeros((chains, 0), dtype=np.int64),
        accepted=np.zeros((chains, 0), dtype=np.int64),
    )


@cache
def partitions(records: Records, allowed: LinkageClass) -> list[NDArray[np.int64]]:
    """The labels of every valid partition of the records."""

    def grow(labels: list[int]) -> Iterator[list[int]]:
        if len(labels) == len(records):
            yield labels
            return
        for label in range(max(labels, default=-1) + 2):
            yield from grow([*labels, label])

    return [np.array(labels) for labels in grow([]) if Linkage(records, labels).is_valid(allowed)]


def random_draws(
    rng: np.random.Generator, records: Records, allowed: LinkageClass, count: int = 40
) -> NDArray[np.int64]:
    """Draws that favour a few partitions, with random weights, so that estimates have something to decide."""
    every = partitions(records, allowed)
    weights = rng.dirichlet(np.full(len(every), 0.02) + 1e-3)
    return np.array([every[place] for place in rng.choice(len(every), size=count, p=weights)])
