"""Networks side by side, and the latent space they share."""

from __future__ import annotations

from typing import Any

import numpy as np

from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage
from tielink.faults import Fault, InputError
from tielink.plot.layout import aligned_positions, chosen_records, force_layout, shared_ties
from tielink.plot.style import FAINT, INK, canvas, file_colour, label, person_colours, plain, pyplot
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
    files = [place for place, name in enumerate(dataset.files) if dataset.ties[name] is not None]
    if not files:
        raise InputError([Fault("tl.plot.networks", "no file has a network.", "Give ties.")])
    start = None if posterior is None else aligned_positions(posterior)
    figure, axes = pyplot().subplots(
        1, len(files), figsize=(4.6 * len(files), 4.8), layout="constrained", squeeze=False
    )
    figure.patch.set_alpha(0.0)
    colours: dict[int, str] = {}
    for file, one in zip(files, axes[0], strict=True):
        _network(plain(one), dataset, linkage, file, start, most, labels, colours)
    return figure


def _network(
    axes: Any,
    dataset: Dataset,
    linkage: Linkage,
    file: int,
    start: Any,
    most: int,
    labels: int,
    colours: dict[int, str],
) -> None:
    """Draw one network; the first one settles the colours."""
    name, offset = dataset.files[file], dataset.records.offsets[file]
    chosen = chosen_records(dataset, linkage, file, most)
    place_of = np.full(dataset.records.sizes[file], -1)
    place_of[chosen] = np.arange(len(chosen))
    ties = place_of[np.asarray(dataset.ties[name]).reshape(-1, 2)]
    inside = (ties >= 0).all(axis=1)
    ties, shared = ties[inside], shared_ties(dataset, linkage)[file][inside]
    places = force_layout(len(chosen), ties, None if start is None else start[offset + chosen])
    persons = linkage.labels[offset + chosen]
    linked = np.bincount(linkage.labels)[persons] > 1
    new = [place for place in np.flatnonzero(linked) if int(persons[place]) not in colours]
    for place, colour in zip(new, person_colours(places[new, 0]), strict=True):
        colours[int(persons[place])] = colour
    for (a, b), thick in zip(ties, shared, strict=True):
        look = {"color": INK, "linewidth": 1.6, "alpha": 0.6} if thick else {"linewidth": 0.5, "alpha": 0.45}
        axes.plot(*places[[a, b]].T, **{"color": FAINT, **look}, zorder=1)
    axes.scatter(*places[~linked].T, s=14, color=FAINT, alpha=0.8, linewidths=0, zorder=2)
    shades = [colours[int(person)] for person in persons[linked]]
    axes.scatter(*places[linked].T, s=42, c=shades or None, edgecolors="white", linewidths=0.6, zorder=3)
    degree = np.bincount(ties.ravel(), minlength=len(chosen))
    named = sorted(np.flatnonzero(linked), key=lambda place: -degree[place])
    label(axes, places[named], [str(dataset.records[int(offset + chosen[n])][1]) for n in named], labels)
    size = dataset.records.sizes[file]
    shown = f"{size:,} records" if size == len(chosen) else f"{len(chosen):,} of {size:,} records"
    axes.set_title(f"{name}: {shown}, {int(linked.sum()):,} linked", color=INK)
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
        raise InputError([Fault("tl.plot.positions", "the posterior has no network part.", "Sample with ties.")])
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
