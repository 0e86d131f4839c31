"""Files with ties, for tests of shared ties: every class of partitions, chains with random ties or given links."""

from __future__ import annotations

import numpy as np
import polars as pl

import tielink as tl
from sampler.partition_worlds import fixed_chain, set_labels, world
from tielink.project import Run
from tielink.run.job import Job
from tielink.sampler.ties import sum_up

SHARING, POWER = 0.7, 0.8
CLASSES = {
    "two files": ((4, 4), tl.MatchRate(1, 1)),
    "three files, one per file": ((2, 2, 2), tl.OnePerFile(1, 1)),
    "one file, duplicates": ((5,), tl.EwensPitman(max_size=3, concentration=0.8, discount=0.2)),
    "two files, duplicates": ((3, 2), tl.EwensPitman(max_size=4, concentration=0.8, discount=0.2)),
}
TIES = {
    "two files": ([(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]),
    "three files, one per file": ([(0, 1)], [(0, 1)], []),
    "one file, duplicates": ([(0, 2), (1, 3), (1, 4)],),
    "two files, duplicates": ([(0, 2), (1, 2)], [(0, 1)]),
}


def tied_chain(case, sharing=SHARING, power=POWER, **options):
    """Make the chain of a class with its ties, profiles too unless `fields` are taken away; ρ and power are fixed."""
    sizes, prior = CLASSES[case]
    network = tl.SharedTies(power, sharing)
    return fixed_chain(world(sizes, prior, TIES[case], network, **options))


def random_chain(rng, sizes, prior, networks, density=0.4):
    """Make a chain over files with random ties in those of the files that have a network."""
    ties = [random_edges(rng, size, density) if seen else None for size, seen in zip(sizes, networks, strict=True)]
    return fixed_chain(world(sizes, prior, ties, tl.SharedTies(POWER, SHARING), fields={}))


def random_edges(rng, size, density):
    first, second = np.triu_indices(size, 1)
    tied = rng.random(len(first)) < density
    return list(zip(first[tied].tolist(), second[tied].tolist(), strict=True))


def set_theta(chain, theta):
    """Put other rates into a chain's ties; o of each tie follows them."""
    ties = chain.network.ties
    ties.theta[:] = theta
    first = np.repeat(np.arange(len(theta)), np.diff(ties.begin))
    ties.odds[:] = 1 / np.expm1(theta[first] * theta[ties.neighbour])
    sum_up(chain.state, chain.rules, ties)


def linked_chain(sizes, ties, labels, sharing, power=1.0):
    """Make a chain of ties alone, linked as `labels` say."""
    frames = {f"f{j}": pl.DataFrame({"id": range(size)}) for j, size in enumerate(sizes)}
    networks = {f"f{j}": edges.tolist() for j, edges in enumerate(ties)}
    data = tl.Dataset.from_frames(frames, networks, fields={})
    model = tl.Model(network=tl.SharedTies(power, sharing), fields={})
    chain = fixed_chain(Job.make(model, data, Run()))
    set_labels(chain, labels)
    chain.revalue()
    return chain


def draw_shared_ties(rng, sizes, labels, theta, sharing):
    """Draw the ties of two files without duplicates from the model: own counts, and a common one of linked dyads."""
    first = sizes[0]
    partner = {a: b for a in range(first) for b in np.flatnonzero(labels == labels[a]).tolist() if b >= first}
    drawn = [[], []]
    common = {}
    for a, c in zip(*np.triu_indices(first, 1), strict=True):
        rate = theta[a] * theta[c]
        shared = 0
        if a in partner and c in partner:
            b, d = partner[a], partner[c]
            kappa = sharing * min(theta[a], theta[b]) * min(theta[c], theta[d])
            rate -= kappa
            shared = rng.poisson(kappa)
            common[frozenset((b, d))] = (kappa, shared)
        if rng.poisson(rate) + shared > 0:
            drawn[0].append((a, c))
    for b, d in zip(*np.triu_indices(sizes[1], 1), strict=True):
        kappa, shared = common.get(frozenset((b + first, d + first)), (0.0, 0))
        if rng.poisson(theta[b + first] * theta[d + first] - kappa) + shared > 0:
            drawn[1].append((b, d))
    return tuple(np.array(edges, dtype=np.int64).reshape(-1, 2) for edges in drawn)
