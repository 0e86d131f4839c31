"""The paper's figures, from the data and from the tables of fits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import polars as pl

import tielink as tl
from reproduce.folders import read

__all__ = ["criteria_curves", "ego_curves", "network_pictures", "seed_curves", "three_ways"]

mpl.use("Agg")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe and Ito's palette, which colour-blind readers can tell apart."""
WAYS = {"counted": "anchors counted", "left_out": "anchors left out", "ego_out": "anchors and ego left out"}


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=120, bbox_inches="tight", facecolor="white")
    plt.close(figure)


def network_pictures(root: Path, out: Path) -> None:
    """Figures 1 to 3: an ego pair, YouTube and Twitter, and the worked example."""
    for number, folder in ((1, "uir/32526"), (2, "pkdd12")):
        found = read(root / folder)
        _save(tl.plot.networks(found.dataset, found.truth), out / f"figure{number}.png")
    records = {name: pl.DataFrame({"id": range(1, size + 1)}) for name, size in (("1", 4), ("2", 5), ("3", 4))}
    data = tl.Dataset.from_frames(records, fields={})
    truth = tl.Linkage.from_labels(data, [2, 3, 4, 1, 1, 3, 2, 4, 4, 4, 1, 2, 3])
    _save(tl.plot.bipartite(truth).figure, out / "figure3.png")


def criteria_curves(table: pl.DataFrame, path: Path) -> None:
    """Figure 4: WAIC against K for two seeds, a line for each share of anchors."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for place, seed in zip(axes, ("11209", "5099"), strict=True):
        for colour, ((share,), rows) in zip(
            COLOURS, table.filter(pl.col("seed") == seed).group_by("share", maintain_order=True), strict=False
        ):
            place.plot(rows["K"], rows["WAIC"], marker="o", ms=3, color=colour, label=f"{share:.0%} anchors")
        place.set(title=f"seed {seed}", xlabel="K", ylabel="WAIC")
    axes[1].legend(frameon=False, fontsize=8)
    _save(figure, path)


def seed_curves(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Figure 5: F₁ against the share of anchors for two seeds, scored three ways."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
    for place, seed in zip(axes, ("11209", "5099"), strict=True):
        for colour, (way, words) in zip(COLOURS, WAYS.items(), strict=False):
            mine = [row for row in rows if row["seed"] == seed]
            place.plot(
                [row["share"] for row in mine], [row[way] for row in mine], "o-", ms=3, color=colour, label=words
            )
        place.set(title=f"seed {seed}", xlabel="share of anchors", ylabel="F₁", ylim=(-0.03, 1.03))
    axes[0].legend(frameon=False, fontsize=8)
    _save(figure, path)


def ego_curves(table: pl.DataFrame, methods: Sequence[str], path: Path, ways: Sequence[str] = tuple(WAYS)) -> None:
    """Figure 6 and its honest sisters: recall, precision and F₁ by share of anchors, a row for each way of scoring."""
    scores = ("recall", "precision", "f1")
    figure, axes = plt.subplots(
        len(ways), 3, figsize=(11, 2.8 * len(ways)), layout="constrained", sharex=True, sharey=True, squeeze=False
    )
    for line, way in zip(axes, ways, strict=True):
        for place, score in zip(line, scores, strict=True):
            for colour, method in zip(COLOURS, methods, strict=False):
                mine = table.filter(pl.col("method") == method)
                if not mine.height:
                    continue
                name = f"{score} {way}"
                band = (mine[f"{name} low"], mine[f"{name} high"])
                place.fill_between(mine["share"], *band, color=colour, alpha=0.12, lw=0)
                place.plot(mine["share"], mine[name], "o-", ms=3, color=colour, label=method)
            place.set(ylim=(-0.03, 1.03))
            place.set_title(f"{'F₁' if score == 'f1' else score}, {WAYS[way]}", fontsize=9)
    for place in axes[-1]:
        place.set_xlabel("share of anchors")
    axes[0, 0].legend(frameon=False, fontsize=8)
    _save(figure, path)


def three_ways(table: pl.DataFrame, methods: Sequence[str], path: Path) -> None:
    """Figure 7: F₁ alone, for more methods."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained", sharey=True)
    for place, (way, words) in zip(axes, WAYS.items(), strict=True):
        for colour, method in zip(COLOURS, methods, strict=False):
            mine = table.filter(pl.col("method") == method)
            if mine.height:
                place.plot(mine["share"], mine[f"f1 {way}"], "o-", ms=3, color=colour, label=method)
        place.set(xlabel="share of anchors", ylim=(-0.03, 1.03))
        place.set_title(f"F₁, {words}", fontsize=9)
    axes[0].legend(frameon=False, fontsize=8)
    _save(figure, path)
