"""Networks side by side, and the latent space they share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage
from tielink.faults import refuse
from tielink.plot.layout import NetworkLayout, aligned_positions, linked_persons, network_layouts, person_colours
from tielink.plot.style import FAINT, INK, canvas, file_colour, label, plain, pyplot
from tielink.posterior.posterior import Posterior

__all__ = ["networks", "positions"]


def networks(
    dataset: Dataset, linkage: Linkage, posterior: Posterior | None = None, *, most: int = 400, labels: int = 0
) -> Any:
    """Draw all networks side by side, the accounts of a person in the same colour; return a matplotlib figure.

    Ties between two linked persons who are tied in another file as well are thick.

    Parameters
    ----------
    dataset, linkage
        The data, and who is whom.
    posterior
        With it, networks are laid out from the latent positions, so that they lie alike.
    most
        Records drawn of each file: linked ones first, then the best connected. The title says when some are left out.
    labels
        How many linked accounts to name, the best connected first.

    Returns
    -------
    matplotlib.figure.Figure
    """
    layouts = network_layouts(dataset, linkage, posterior, most)
    if not layouts:
        refuse("tl.plot.networks", "no file has a network.", "Give ties.")
    figure, axes = pyplot().subplots(
        1, len(layouts), figsize=(4.6 * len(layouts), 4.8), layout="constrained", squeeze=False
    )
    figure.patch.set_alpha(0.0)
    persons = linked_persons(linkage)
    colours = person_colours(layouts, persons)
    for layout, one in zip(layouts, axes[0], strict=True):
        mine = persons[layout.records]
        shades = [colours[person] for person in mine[mine >= 0]]
        _network(plain(one), layout, mine >= 0, shades)
        named = sorted(np.flatnonzero(mine >= 0), key=lambda place: -(layout.ties == place).sum())
        texts = [str(dataset.records[int(layout.records[place])][1]) for place in named]
        label(one, layout.places[named], texts, labels)
        size, drawn = dataset.records.sizes[layout.file], len(layout.records)
        shown = f"{size:,} records" if size == drawn else f"{drawn:,} of {size:,} records"
        one.set_title(f"{dataset.files[layout.file]}: {shown}, {len(shades):,} linked", color=INK)
    return figure


def _network(axes: Any, layout: NetworkLayout, linked: NDArray[np.bool_], shades: list[str]) -> None:
    """Draw one network."""
    places = layout.places
    for (a, b), thick in zip(layout.ties, layout.shared, strict=True):
        look = {"color": INK, "linewidth": 1.6, "alpha": 0.6} if thick else {"linewidth": 0.5, "alpha": 0.45}
        axes.plot(*places[[a, b]].T, **{"color": FAINT, **look}, zorder=1)
    axes.scatter(*places[~linked].T, s=14, color=FAINT, alpha=0.8, linewidths=0, zorder=2)
    axes.scatter(*places[linked].T, s=42, c=shades or None, edgecolors="white", linewidths=0.6, zorder=3)
    axes.set_aspect("equal")
    axes.set_axis_off()


def positions(posterior: Posterior, linkage: Linkage | None = None, *, labels: int = 0, axes: Any = None) -> Any:
    """Draw the latent space: every record at its posterior mean position, records of one person joined.

    Chains are aligned first (Procrustes); with more than two dimensions the two of largest variance are shown.

    Parameters
    ----------
    posterior
        A posterior with a latent space.
    linkage
        Whose records to join by lines.
    labels
        How many linked persons to name.
    axes
        Where to draw; by default on new axes.

    Returns
    -------
    matplotlib.axes.Axes
    """
    places = aligned_positions(posterior)
    if places is None:
        refuse("tl.plot.positions", "the posterior has no latent space.", "Sample with Model(network=LatentSpace()).")
    records = posterior.records
    axes = canvas(axes, 6.2, 5.6)
    if linkage is not None:
        for group in linkage.members:
            if len(group) > 1:
                axes.plot(*places[group].T, color=INK, linewidth=1.0, zorder=1)
    for file, name in enumerate(records.files):
        mine = places[records.file_of == file]
        marker = "os^Dv"[file % 5]
        axes.scatter(*mine.T, s=26, marker=marker, color=file_colour(file), alpha=0.75, linewidths=0, label=name)
    if linkage is not None and labels:
        groups = [group for group in linkage.members if len(group) > 1]
        middles = np.array([places[group].mean(axis=0) for group in groups]).reshape(-1, 2)
        label(axes, middles, [str(records[int(group[0])][1]) for group in groups], labels)
    dimension = posterior.network.positions.shape[-1] if posterior.network is not None else 0
    shown = "" if dimension <= 2 else f" (2 of {dimension} dimensions, those of largest variance)"
    axes.set_title(f"Latent space: near persons are more likely tied{shown}")
    axes.set_aspect("equal")
    axes.set_xlabel("first axis")
    axes.set_ylabel("second axis")
    axes.legend(frameon=False, labelcolor=INK, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return axes
