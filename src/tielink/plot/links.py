"""Pair probabilities, and records with the persons behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.linkage import Linkage
from tielink.data.scores import pair_keys
from tielink.plot.style import FILE_COLOURS, INK, canvas, file_colour, ramp
from tielink.posterior.posterior import Posterior

__all__ = ["bipartite", "chosen_persons", "pairs"]


def pairs(posterior: Posterior, truth: Linkage | None = None, *, least: float = 0.01, axes: Any = None) -> Any:
    """Draw a histogram of pair probabilities, anchors left out.

    Parameters
    ----------
    posterior
        The posterior.
    truth
        With it, true matches and other pairs have colours of their own.
    least
        Pairs below this probability are left out: there are very many, and almost all are no match.
    axes
        Where to draw; by default on new axes.

    Returns
    -------
    matplotlib.axes.Axes
    """
    found = posterior.pair_probabilities
    kept = (found.probability >= least) & ~np.isin(pair_keys(found.pairs), pair_keys(posterior.anchors))
    values, numbers = found.probability[kept], found.pairs[kept]
    axes = canvas(axes, 6.4, 3.6)
    edges = np.linspace(0, 1, 21)
    if truth is None:
        axes.hist(values, edges, color=FILE_COLOURS[0], rwidth=0.92)
    else:
        true = np.isin(pair_keys(numbers), pair_keys(truth.pair_numbers))
        axes.hist(
            [values[true], values[~true]],
            edges,
            stacked=True,
            color=[FILE_COLOURS[0], FILE_COLOURS[1]],
            label=["true matches", "no matches"],
            rwidth=0.92,
        )
        axes.legend(frameon=False, labelcolor=INK)
    axes.set_xlabel("probability of being one person")
    axes.set_ylabel("pairs")
    axes.set_title(f"{len(values):,} pairs with a probability of at least {least:g}")
    axes.yaxis.get_major_locator().set_params(integer=True)
    return axes


def chosen_persons(linkage: Linkage, posterior: Posterior | None, most: int) -> list[NDArray[np.int64]]:
    """Return the record numbers of the persons to draw: linked ones, those most in doubt first."""
    groups = [group for group in linkage.members if len(group) > 1]
    if posterior is not None:
        sure = dict(zip(map(tuple, groups), _shares(posterior, groups), strict=True))
        groups.sort(key=lambda group: (sure[tuple(group)], tuple(group)))
    return groups[:most]


def _shares(posterior: Posterior, groups: list[NDArray[np.int64]]) -> list[float]:
    """Return in which share of the draws all records of each group are one person."""
    person = posterior.person.reshape(-1, len(posterior.records))
    return [float((person[:, group] == person[:, group[:1]]).all(axis=1).mean()) for group in groups]


def bipartite(linkage: Linkage, posterior: Posterior | None = None, *, most: int = 24, axes: Any = None) -> Any:
    """Draw records on the sides and persons in the middle, joined by lines.

    Parameters
    ----------
    linkage
        Who is whom.
    posterior
        With it, lines are thick where links are probable, and the most uncertain persons come first.
    most
        How many linked persons are drawn; the title says how many there are.
    axes
        Where to draw; by default on new axes.

    Returns
    -------
    matplotlib.axes.Axes
    """
    records = linkage.records
    groups = chosen_persons(linkage, posterior, most)
    total = sum(len(group) > 1 for group in linkage.members)
    sure = _shares(posterior, groups) if posterior is not None else [1.0] * len(groups)
    axes = canvas(axes, 7.0, 1.4 + 0.3 * max(len(groups), 2))
    rows = 0.0
    for group, share in zip(groups, sure, strict=True):
        sides = [group[records.file_of[group] == 0], group[records.file_of[group] != 0]]
        height = max(map(len, sides))
        middle = rows + (height - 1) / 2
        colour = ramp(share)
        for x, side, align in ((-1.0, sides[0], "right"), (1.0, sides[1], "left")):
            for step, record in enumerate(side):
                y = rows + step + (height - len(side)) / 2
                axes.plot([x, 0], [y, middle], color=colour, linewidth=0.6 + 2.4 * share, zorder=1)
                file, key = records[int(record)]
                shade = file_colour(int(records.file_of[record]))
                axes.scatter([x], [y], s=34, color=shade, zorder=2)
                text = str(key) if len(records.files) <= 2 else f"{key} ({file})"
                axes.text(x * 1.06, y, text, ha=align, va="center", color=INK, fontsize=8)
        axes.scatter([0], [middle], s=46, marker="s", color=colour, zorder=3)
        if posterior is not None:
            axes.text(0.06, middle - 0.34, f"{share:.2f}", color=INK, fontsize=7, ha="left", va="center")
        rows += height
    heads = [records.files[0], "persons", " and ".join(records.files[1:]) or records.files[0]]
    for x, head in zip((-1.0, 0.0, 1.0), heads, strict=True):
        axes.text(x, -1.2, head, ha="center", color=INK, fontsize=10, fontweight="bold")
    shown = f"{len(groups):,} of {total:,} linked persons" if len(groups) < total else f"{total:,} linked persons"
    axes.set_title(shown + (", most in doubt first" if posterior is not None and total else ""))
    axes.set_xlim(-2.1, 2.1)
    axes.set_ylim(max(rows, 1.0), -1.9)
    axes.set_axis_off()
    return axes
