"""Tables 1 and 2: what the networks look like, beside the printed figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from reproduce.folders import ego_folders, read
from reproduce.published import EGO_STATISTICS, IDENTITY_STATISTICS
from tielink.data.statistics import NetworkFigures, network_figures

__all__ = ["ego_statistics", "identity_statistics"]

NETWORKS = {"a": "Facebook", "b": "Twitter"}


def _figures(folder: Path) -> dict[str, NetworkFigures]:
    data = read(folder).dataset
    found = {}
    for name, size in zip(data.files, data.records.sizes, strict=True):
        ties = data.ties[name]
        assert ties is not None
        found[name] = network_figures(size, ties)
    return found


def ego_statistics(root: Path) -> pl.DataFrame:
    """Return Table 1: mean and quartiles over all ego pairs, ours and the paper's."""
    figures = [_figures(folder) for folder in ego_folders(root)]
    rows = []
    for statistic, printed in EGO_STATISTICS.items():
        for file, network in NETWORKS.items():
            values = np.array([getattr(pair[file], statistic) for pair in figures])
            ours = (np.nanmean(values), *np.nanquantile(values, [0.25, 0.5, 0.75]))
            for what, mine, theirs in zip(("mean", "25 %", "50 %", "75 %"), ours, printed[file], strict=True):
                rows.append((statistic, network, what, round(float(mine), 4), theirs, _agrees(mine, f"{theirs:.2f}")))
    return _table(rows, ["statistic", "network", "of", "ours", "paper", "agrees"])


def identity_statistics(root: Path) -> pl.DataFrame:
    """Return Table 2: YouTube and Twitter, ours and the paper's."""
    figures = _figures(root / "pkdd12")
    rows = [
        (
            statistic,
            network,
            round(getattr(figures[file], statistic), 5),
            float(printed[file]),
            _agrees(mine, printed[file]),
        )
        for statistic, printed in IDENTITY_STATISTICS.items()
        for file, network in (("a", "YouTube"), ("b", "Twitter"))
        for mine in [getattr(figures[file], statistic)]
    ]
    return _table(rows, ["statistic", "network", "ours", "paper", "agrees"])


def _agrees(ours: float, printed: str) -> bool:
    """Whether our figure is within one unit of the last printed digit."""
    unit = 10.0 ** -len(printed.partition(".")[2])
    return bool(abs(round(ours / unit) * unit - float(printed)) < 1.01 * unit)


def _table(rows: list[tuple[object, ...]], names: list[str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=names, orient="row")
