"""Ties and no fields at all: latent space / shared ties, in that order in every cell.

`copied`: made networks by latent positions, 60 + 60 records, 40 of them shared, of which the second copies half of the
dyads of shared persons from the first; means over three seeds. Real data: means over three draws of the known matches
(one for `acm_dblp`). The part of `acm_dblp` is 1,000 authors of each side that hang together, partners first. Chains: 4
of 500 + 500 sweeps, for `acm_dblp` 2 of 300 + 200. The latent space is fitted to the small networks only, with
`--latent`, and to the first draw; – is not run. Real data need `TIELINK_DATA` (or `--data folder`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from reproduce.folders import Folder, anchored, read
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

import tielink as tl
from benchmarks.fits import SCORES, Effort, data_folder, fit, powers, side_by_side, with_latent_space
from tielink.data.records import Records
from tielink.simulate import scenario

TITLE = "Ties alone: latent space / shared ties"
COLUMNS = ("data", "anchors", *SCORES, "power")
SHARES, LARGE_SHARES = (0.0, 0.1, 0.3), (0.05, 0.1, 0.2)
SMALL = ("aucs_work_lunch", "aucs_facebook_lunch", "highschool")
DRAWS = 3
EFFORT, LATENT_EFFORT, LARGE_EFFORT = Effort(4, 500, 500), Effort(2, 200, 200), Effort(2, 300, 200)
PART = 1000
Made = Callable[[int], tuple[tl.Dataset, tl.Linkage]]


def compared(
    name: str, share: float, make: Made, *, draws: int = DRAWS, effort: Effort = EFFORT, small: bool = True
) -> tuple[object, ...]:
    """Return a row: data by number of the draw, fitted by both models."""
    methods = []
    for network in (tl.LatentSpace(), tl.SharedTies()):
        latent = isinstance(network, tl.LatentSpace)
        wanted = draws if not latent else min(1, draws) if small and with_latent_space() else 0
        model = tl.Model(network=network, fields={})
        methods.append(
            [fit(model, *make(draw), 1 + draw, LATENT_EFFORT if latent else effort) for draw in range(wanted)]
        )
    return name, f"{share:.0%}", *side_by_side(methods), powers(methods[-1])


def copied(share: float) -> Made:
    """Made networks, half of whose dyads are copied."""

    def make(draw: int) -> tuple[tl.Dataset, tl.Linkage]:
        rng, model = np.random.default_rng(400 + draw), tl.Model(network=tl.LatentSpace(), fields={})
        made = scenario(rng, model, overlap=40, spread=100.0, anchors=share, vocabularies={}, copied=0.5)
        return made.dataset, made.truth

    return make


def real(found: Folder, share: float) -> Made:
    """Real networks with a share of the matches known."""
    return lambda draw: (anchored(found, share, draw), found.truth)


def part_of(found: Folder, size: int) -> Folder:
    """Return so many records of each file that hang together: one and who is near it; their partners, likewise."""
    data, offset = found.dataset, found.dataset.records.sizes[0]
    pairs = found.truth.pair_numbers - np.array([0, offset])
    first = _near(data, 0, pairs[:1, 0], size)
    second = _near(data, 1, pairs[np.isin(pairs[:, 0], first), 1], size)
    kept = [np.sort(first), np.sort(second)]
    records = Records(
        {name: [data.records.ids[file][number] for number in kept[file]] for file, name in enumerate(data.files)}
    )
    ties = {}
    for file, name in enumerate(data.files):
        place = np.full(data.records.sizes[file], -1)
        place[kept[file]] = np.arange(len(kept[file]))
        edges = place[data.ties[name]]
        ties[name] = edges[(edges >= 0).all(axis=1)]
    alone = tl.Linkage(records, np.arange(len(records)))
    part = tl.Dataset(records, ties, {}, alone, np.empty((0, 2), dtype=np.int64))
    both = [pair for pair in found.truth.clusters() if len(pair) == 2 and all(record in records for record in pair)]
    return Folder(part, tl.Linkage.from_pairs(part, both), None)


def _near(data: tl.Dataset, file: int, start: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the records of a file nearest to any of `start`, these first."""
    records, ties = data.records.sizes[file], data.ties[data.files[file]]
    assert ties is not None
    # One more node, tied to all of `start`, from which the search begins.
    edges = np.concatenate([ties, np.column_stack([np.full(len(start), records), start])])
    graph = sparse.csr_array((np.ones(len(edges)), edges.T), (records + 1, records + 1))
    order = breadth_first_order(graph, records, directed=False, return_predecessors=False)
    return np.asarray(order[1 : size + 1], dtype=np.int64)


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each network and share of anchors."""
    for share in SHARES:
        yield compared("copied, 60 + 60", share, copied(share))
    root = data_folder()
    if root is None:
        return
    for name in SMALL:
        found = read(root / name)
        found = replace(found, dataset=replace(found.dataset, columns={}))
        for share in SHARES:
            yield compared(name, share, real(found, share))
    whole = read(root / "acm_dblp")
    for name, found in ((f"acm_dblp, {PART:,} a side", part_of(whole, PART)), ("acm_dblp", whole)):
        for share in LARGE_SHARES:
            yield compared(name, share, real(found, share), draws=1, effort=LARGE_EFFORT, small=False)
