"""Colours, and axes that read on light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.faults import Fault, InputError

__all__ = [
    "FAINT",
    "FILE_COLOURS",
    "INK",
    "canvas",
    "file_colour",
    "label",
    "plain",
    "pyplot",
    "ramp",
]

INK = "#737b87"
"""Text and axes: a grey with enough contrast on white and on black."""
FAINT = "#9aa2ad"
FILE_COLOURS = ("#2f86c6", "#e08a00", "#1fa37a", "#c46aa0", "#8a6d3b")
"""Blue, orange, green, purple, brown: after Okabe and Ito, of middle lightness."""
RAMP = ("#7a52c7", "#5b6fd0", "#3f8ac4", "#2ba0b0", "#2bb391", "#62c370", "#a3cf4f", "#d9c83c")
"""From purple to yellow with growing lightness, so that order survives any kind of colour vision."""


def file_colour(file: int) -> str:
    """Return the colour of a file; beyond five they repeat."""
    return FILE_COLOURS[file % len(FILE_COLOURS)]


def ramp(share: float) -> str:
    """Return the colour at a place between 0 and 1.

    >>> ramp(0.0), ramp(1.0), ramp(0.5)
    ('#7a52c7', '#d9c83c', '#2baaa0')
    """
    place = min(max(share, 0.0), 1.0) * (len(RAMP) - 1)
    low = min(int(place), len(RAMP) - 2)
    ends = [[int(RAMP[low + step][part : part + 2], 16) for part in (1, 3, 5)] for step in (0, 1)]
    mixed = [round(a + (b - a) * (place - low)) for a, b in zip(*ends, strict=True)]
    return "#" + "".join(f"{value:02x}" for value in mixed)


def label(axes: Any, places: NDArray[np.floating], texts: Sequence[str], most: int) -> None:
    """Name points, the first ones first; a name that would cover an earlier one is left out."""
    span = np.ptp(axes.dataLim.get_points(), axis=0)
    done: list[NDArray[np.floating]] = []
    for place, text in zip(places, texts, strict=True):
        wide = 0.02 * max(len(text), 4) * span[0]
        if len(done) >= most:
            break
        if all(abs(place[0] - other[0]) > wide or abs(place[1] - other[1]) > 0.05 * span[1] for other in done):
            axes.annotate(text, place, (0, 6), textcoords="offset points", ha="center", color=INK, fontsize=8)
            done.append(place)


def pyplot() -> Any:
    """Return matplotlib's pyplot, or say what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        fault = Fault("tielink.plot", "matplotlib is not installed.", "pip install 'tielink[plot]'")
        raise InputError([fault]) from None
    return plt


def canvas(axes: Any, width: float, height: float) -> Any:
    """Return the axes given, or new ones on a transparent page."""
    if axes is None:
        axes = pyplot().subplots(figsize=(width, height), layout="constrained")[1]
        axes.figure.patch.set_alpha(0.0)
    return plain(axes)


def plain(axes: Any) -> Any:
    """Take away what is not information, and colour the rest grey."""
    axes.patch.set_alpha(0.0)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(FAINT)
    axes.tick_params(colors=INK, labelcolor=INK, length=3)
    for text in (axes.xaxis.label, axes.yaxis.label, axes.title):
        text.set_color(INK)
    axes.title.set_fontsize(11)
    return axes
