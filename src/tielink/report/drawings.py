"""What the page draws, as plain numbers: networks and the latent space. Every cap is said."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.plot.layout import aligned_positions, network_layouts, person_colours
from tielink.report.result import Result

__all__ = ["latent", "neighbour_ties", "networks"]

MOST_NODES = 400
"""Records drawn of each network."""
MOST_POINTS = 3_000
"""Records drawn in the latent space."""
MOST_TIES = 200_000
"""Ties kept in the page, for the pictures of neighbourhoods."""


def networks(result: Result, persons: NDArray[np.int64]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the networks with a place for each node drawn, and a colour for each linked person."""
    layouts = network_layouts(result.dataset, result.linkage, result.posterior, MOST_NODES)
    drawn = []
    for one in layouts:
        size = result.dataset.records.sizes[one.file]
        note = ""
        if len(one.records) < size:
            note = f"{len(one.records):,} of {size:,} records are drawn: linked ones first, then the best connected."
        drawn.append(
            {
                "file": one.file,
                "records": one.records.tolist(),
                "x": _rounded(one.places[:, 0]),
                "y": _rounded(one.places[:, 1]),
                "ties": one.ties.ravel().tolist(),
                "shared": one.shared.astype(int).tolist(),
                "note": note,
            }
        )
    return drawn, person_colours(layouts, persons)


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
