"""What the page draws, as plain numbers: networks and the latent space. Every cap is said."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.plot.layout import aligned_positions, chosen_records, force_layout, shared_ties
from tielink.plot.style import person_colours
from tielink.report.result import Result

__all__ = ["latent", "linked_persons", "neighbour_ties", "networks"]

MOST_NODES = 400
"""Records drawn of each network."""
MOST_POINTS = 3_000
"""Records drawn in the latent space."""
MOST_TIES = 200_000
"""Ties kept in the page, for the pictures of neighbourhoods."""


def linked_persons(result: Result) -> NDArray[np.int64]:
    """Number the linked persons 0, 1, …; −1 for records that are linked to nobody."""
    labels = result.linkage.labels
    linked = np.bincount(labels)[labels] > 1 if len(labels) else np.zeros(0, dtype=bool)
    _, number = np.unique(labels[linked], return_inverse=True)
    persons = np.full(len(labels), -1, dtype=np.int64)
    persons[linked] = number
    return persons


def networks(result: Result, persons: NDArray[np.int64]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the networks with a place for each node drawn, and a colour for each linked person."""
    dataset = result.dataset
    start = aligned_positions(result.posterior)
    drawn, shared = [], shared_ties(dataset, result.linkage)
    across = np.full(int(persons.max(initial=-1)) + 1, np.nan)
    for file, name in enumerate(dataset.files):
        ties = dataset.ties[name]
        if ties is None:
            continue
        chosen = chosen_records(dataset, result.linkage, file, MOST_NODES)
        size, offset = dataset.records.sizes[file], dataset.records.offsets[file]
        inside, kept = _among(ties, chosen, size)
        places = force_layout(len(chosen), inside, None if start is None else start[offset + chosen])
        mine = persons[offset + chosen]
        fresh = (mine >= 0) & np.isnan(across[mine]) if len(across) else np.zeros(len(mine), dtype=bool)
        across[mine[fresh]] = places[fresh, 0]
        note = ""
        if len(chosen) < size:
            note = f"{len(chosen):,} of {size:,} records are drawn: linked ones first, then the best connected."
        drawn.append(
            {
                "file": file,
                "records": (offset + chosen).tolist(),
                "x": _rounded(places[:, 0]),
                "y": _rounded(places[:, 1]),
                "ties": inside.ravel().tolist(),
                "shared": shared[file][kept].astype(int).tolist(),
                "note": note,
            }
        )
    known = np.where(np.isnan(across), np.arange(len(across), dtype=float) * 1e-6, across)
    return drawn, person_colours(known)


def _among(
    ties: NDArray[np.int64], chosen: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the ties among the chosen records, by their place in the choice, and which ones these are."""
    place = np.full(size, -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    found = place[ties.reshape(-1, 2)]
    kept = np.asarray((found >= 0).all(axis=1))
    return found[kept], kept


def latent(result: Result, persons: NDArray[np.int64]) -> dict[str, Any] | None:
    """Return the mean position of every record drawn; None without a network."""
    places = aligned_positions(result.posterior)
    if places is None or result.posterior.network is None:
        return None
    order = np.lexsort((np.arange(len(places)), persons < 0))[:MOST_POINTS]
    chosen = np.sort(order)
    dimension = result.posterior.network.positions.shape[-1]
    notes = []
    if dimension > 2:
        notes.append(f"Two of {dimension} dimensions are shown, those in which positions differ most.")
    if dimension == 1:
        notes.append("The latent space has one dimension.")
    if len(chosen) < len(places):
        notes.append(f"{len(chosen):,} of {len(places):,} records are drawn, linked ones first.")
    return {
        "records": chosen.tolist(),
        "x": _rounded(places[chosen, 0]),
        "y": _rounded(places[chosen, 1]),
        "note": " ".join(notes),
    }


def neighbour_ties(dataset: Dataset, asked: NDArray[np.int64]) -> tuple[list[list[int] | None], str]:
    """Return the ties of each file, flat, as record numbers; of very many, those of the records asked about."""
    total = sum(len(ties) for ties in dataset.ties.values() if ties is not None)
    kept: list[list[int] | None] = []
    left = MOST_TIES
    wanted = np.zeros(len(dataset.records), dtype=bool)
    wanted[asked] = True
    for file, name in enumerate(dataset.files):
        ties = dataset.ties[name]
        if ties is None:
            kept.append(None)
            continue
        numbers = ties.reshape(-1, 2) + dataset.records.offsets[file]
        if total > MOST_TIES:
            numbers = numbers[wanted[numbers].any(axis=1)][:left]
            left -= len(numbers)
        kept.append(numbers.ravel().tolist())
    note = ""
    if total > MOST_TIES:
        note = f"This page holds {MOST_TIES - left:,} of {total:,} ties, so some neighbourhoods are not complete."
    return kept, note


def _rounded(values: NDArray[np.floating]) -> list[float]:
    return [round(float(value), 4) for value in values]
