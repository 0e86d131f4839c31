"""Where to draw the nodes of a network: forces that pull ties together and push all else apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage
from tielink.plot.style import ramp
from tielink.posterior.posterior import Posterior

__all__ = [
    "NetworkLayout",
    "aligned_positions",
    "force_layout",
    "linked_persons",
    "network_layouts",
    "person_colours",
]

Floats = NDArray[np.float64]
STEPS = 120


class NetworkLayout(NamedTuple):
    """One network as it is drawn."""

    file: int
    records: NDArray[np.int64]
    """The numbers of the records that are drawn."""
    places: Floats
    ties: NDArray[np.int64]
    """Ties among them, as positions in `records`."""
    shared: NDArray[np.bool_]
    """Which ties are between two persons who are tied in another file as well."""


def network_layouts(dataset: Dataset, linkage: Linkage, posterior: Posterior | None, most: int) -> list[NetworkLayout]:
    """Lay out every network, of large ones `most` records; with a latent space, networks are laid out alike."""
    start = None if posterior is None else aligned_positions(posterior)
    shared, layouts = _shared_ties(dataset, linkage), []
    for file, ties in enumerate(dataset.ties.values()):
        if ties is None:
            continue
        chosen = _chosen_records(dataset, linkage, file, most)
        position = np.full(dataset.records.sizes[file], -1, dtype=np.int64)
        position[chosen] = np.arange(len(chosen))
        inside = position[ties.reshape(-1, 2)]
        kept = (inside >= 0).all(axis=1)
        records = chosen + dataset.records.offsets[file]
        places = force_layout(len(chosen), inside[kept], None if start is None else start[records])
        layouts.append(NetworkLayout(file, records, places, inside[kept], shared[file][kept]))
    return layouts


def linked_persons(linkage: Linkage) -> NDArray[np.int64]:
    """Number the linked persons 0, 1, …; −1 for records that are linked to nobody."""
    labels = linkage.labels
    linked = np.bincount(labels)[labels] > 1 if len(labels) else np.zeros(0, dtype=bool)
    persons = np.full(len(labels), -1, dtype=np.int64)
    persons[linked] = np.unique(labels[linked], return_inverse=True)[1]
    return persons


def person_colours(layouts: Sequence[NetworkLayout], persons: NDArray[np.int64]) -> list[str]:
    """Return a colour for each linked person by where it stands across the first picture: neighbours look alike."""
    across = np.arange(int(persons.max(initial=-1)) + 1) * 1e-6
    for one in reversed(layouts):
        linked = persons[one.records] >= 0
        across[persons[one.records[linked]]] = one.places[linked, 0]
    ranks = np.argsort(np.argsort(across, kind="stable"), kind="stable")
    return [ramp(rank / max(len(ranks) - 1, 1)) for rank in ranks]


def force_layout(size: int, ties: NDArray[np.int64], start: Floats | None = None, seed: int = 1) -> Floats:
    """Return a place in [−1, 1]² for each node (after Fruchterman and Reingold 1991, with a pull to the middle).

    The pull keeps nodes without ties on the page. With `start` the picture keeps the arrangement it is given as far as
    the ties allow, so that two networks of the same persons look alike.
    """
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(size, 2)) * 0.5
    if start is not None:
        places = start / max(float(np.abs(start).max(initial=0.0)), 1e-9) + 0.01 * places
    ideal = 1.4 / np.sqrt(max(size, 1))
    for step in range(STEPS):
        across, down = (np.subtract.outer(side, side) for side in places.T)
        push = ideal**2 / np.maximum(across * across + down * down, 1e-6)
        force = np.column_stack([np.einsum("ij,ij->i", push, gap) for gap in (across, down)])
        pull = places[ties[:, 0]] - places[ties[:, 1]]
        pull *= np.sqrt((pull**2).sum(axis=1, keepdims=True)) / ideal
        np.add.at(force, ties[:, 0], -pull)
        np.add.at(force, ties[:, 1], pull)
        force -= 0.6 * places
        length = np.sqrt((force**2).sum(axis=1, keepdims=True))
        heat = 0.12 * (1 - step / STEPS) + 0.002
        places = places + force / np.maximum(length, 1e-9) * np.minimum(length, heat)
    places -= (places.max(axis=0, initial=-np.inf) + places.min(axis=0, initial=np.inf)) / 2 if size else 0.0
    # Far-off nodes come nearer, so that they do not squeeze the others into the middle.
    radius = np.sqrt((places**2).sum(axis=1, keepdims=True))
    places = places * np.maximum(radius, 1e-9) ** -0.35
    return np.asarray(places / max(float(np.abs(places).max(initial=0.0)), 1e-9))


def aligned_positions(posterior: Posterior) -> Floats | None:
    """Return the mean position of every record in at most two dimensions; None without a network.

    Distances do not change when all positions are turned, mirrored or moved, and chains do that. So every kept draw is
    first laid onto the most likely one (Procrustes, without scaling). Chains that found another mode are left out. With
    more than two dimensions, the two of largest variance are shown.
    """
    network = posterior.network
    if network is None or not network.positions.size:
        return None
    chains = list(posterior.modes()[0].chains)
    logs = posterior.log_likelihood[:, network.draws][chains]
    best, kept = np.unravel_index(int(np.argmax(logs)), logs.shape)
    positions = np.asarray(network.positions[chains], dtype=float)
    positions = positions - positions.mean(axis=2, keepdims=True)
    reference = positions[best, kept]
    total = np.zeros_like(reference)
    for draw in positions.reshape(-1, *reference.shape):
        left, _, right = np.linalg.svd(draw.T @ reference)
        total += draw @ (left @ right)
    mean = total / (positions.shape[0] * positions.shape[1])
    if mean.shape[1] == 1:
        return np.column_stack([mean, np.zeros(len(mean))])
    _, _, axes = np.linalg.svd(mean - mean.mean(axis=0), full_matrices=False)
    return np.asarray((mean - mean.mean(axis=0)) @ axes[:2].T)


def _chosen_records(dataset: Dataset, linkage: Linkage, file: int, most: int) -> NDArray[np.int64]:
    """Return the file's own numbers of the records to draw: linked ones first, then the best connected."""
    offset, size = dataset.records.offsets[file], dataset.records.sizes[file]
    ties = dataset.ties[dataset.files[file]]
    degree = np.zeros(size, dtype=np.int64) if ties is None else np.bincount(ties.ravel(), minlength=size)
    linked = np.bincount(linkage.labels)[linkage.labels[offset : offset + size]] > 1
    order = np.lexsort((np.arange(size), -degree, ~linked))
    return np.sort(order[:most])


def _shared_ties(dataset: Dataset, linkage: Linkage) -> list[NDArray[np.bool_]]:
    """Return for each file which of its ties are between two persons who are tied by other records of theirs, too."""
    labels, files = linkage.labels.astype(np.int64), dataset.records.offsets
    ends = [
        np.empty((0, 2), dtype=np.int64) if ties is None else np.sort(labels[ties.reshape(-1, 2) + offset], axis=1)
        for ties, offset in zip(dataset.ties.values(), files, strict=False)
    ]
    every = np.concatenate(ends)
    _, kind, count = np.unique(every[:, 0] << 32 | every[:, 1], return_inverse=True, return_counts=True)
    shared = (count[kind] > 1) & (every[:, 0] != every[:, 1])
    return np.split(shared, np.cumsum([len(each) for each in ends])[:-1])
