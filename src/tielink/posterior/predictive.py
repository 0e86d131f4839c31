"""Predictive checks of the network part: networks drawn from the posterior beside the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tielink.data.records import Records
from tielink.data.statistics import network_figures
from tielink.simulate.draw import tie_probability

__all__ = ["FIGURES", "NetworkSample", "network_checks", "observed_figures"]

FIGURES = ("density", "clustering", "assortativity", "degree sd", "isolated")


@dataclass(frozen=True, eq=False)
class NetworkSample:
    """Thinned positions of records with their intercepts, and the figures of the observed networks."""

    link: str
    draws: NDArray[np.int64]
    """Which draws of each chain the positions belong to."""
    positions: NDArray[np.floating]
    """chains × kept draws × records × K."""
    intercepts: NDArray[np.float64]
    """chains × kept draws × files."""
    observed: NDArray[np.float64]
    """files × `FIGURES`; NaN rows for files without a network."""


def observed_figures(size: int, ties: NDArray[np.int64] | None) -> list[float]:
    """Return `FIGURES` of one network."""
    if ties is None:
        return [np.nan] * len(FIGURES)
    figures = network_figures(size, ties)
    degree = np.bincount(ties.ravel(), minlength=size)
    return [figures.density, figures.clustering, figures.assortativity, float(degree.std()), float(figures.isolated)]


def network_checks(
    rng: np.random.Generator, sample: NetworkSample, records: Records
) -> Iterator[tuple[str, str, float, float, float, float, float]]:
    """Yield (file, figure, observed, mean, low, high, tail) with one network drawn for each kept draw."""
    chains, kept = sample.positions.shape[:2]
    for file, (name, size) in enumerate(zip(records.files, records.sizes, strict=True)):
        if np.isnan(sample.observed[file]).all():
            continue
        rows, columns = np.triu_indices(size, 1)
        mine = slice(records.offsets[file], records.offsets[file + 1])
        drawn = []
        for chain in range(chains):
            for draw in range(kept):
                positions = sample.positions[chain, draw, mine].astype(float)
                intercept = float(sample.intercepts[chain, draw, file])
                probability = tie_probability(sample.link, positions, intercept)
                tied = rng.random(len(probability)) < probability
                drawn.append(observed_figures(size, np.column_stack([rows[tied], columns[tied]])))
        for place, figure in enumerate(FIGURES):
            values = np.array(drawn)[:, place]
            values = values[np.isfinite(values)]
            seen = float(sample.observed[file, place])
            if not len(values) or np.isnan(seen):
                continue
            low, high = np.quantile(values, [0.025, 0.975])
            yield name, figure, seen, float(values.mean()), float(low), float(high), float((values >= seen).mean())
