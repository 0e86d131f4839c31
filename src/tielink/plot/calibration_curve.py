"""Calibration curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from tielink.evaluation.calibration import Calibration
from tielink.evaluation.evaluate import Evaluation
from tielink.faults import refuse
from tielink.plot.style import FAINT, FILE_COLOURS, INK, canvas

__all__ = ["calibration"]


def calibration(found: Evaluation | Calibration, *, axes: Any = None) -> Any:
    """Draw a calibration curve: the share of true matches among pairs of similar probability.

    Calibrated probabilities lie on the diagonal. Bars are 95 % Wilson intervals; numbers count the pairs of each bin.

    Parameters
    ----------
    found
        What `tl.evaluate(posterior, truth)` returns.
    axes
        Where to draw; by default on new axes.

    Returns
    -------
    matplotlib.axes.Axes
    """
    one = found.calibration if isinstance(found, Evaluation) else found
    if one is None:
        refuse("tl.plot.calibration", "there are no probabilities to check.", "Evaluate a posterior.")
    axes = canvas(axes, 4.8, 4.6)
    axes.plot([0, 1], [0, 1], color=FAINT, linestyle="--", linewidth=1)
    kept = one.counts > 0
    p, share, counts = one.mean_probability[kept], one.share_true[kept], one.counts[kept]
    centre = (share + 1.92 / counts) / (1 + 3.84 / counts)
    half = 1.96 * np.sqrt(share * (1 - share) / counts + 0.96 / counts**2) / (1 + 3.84 / counts)
    axes.vlines(p, centre - half, centre + half, color=FILE_COLOURS[0], alpha=0.45, linewidth=3)
    axes.scatter(p, share, s=40, color=FILE_COLOURS[0], zorder=3)
    for x, y, count in zip(p, share, counts, strict=True):
        below = -11 if y > 0.5 else 7
        axes.annotate(f"{count:,}", (x, y), (4, below), textcoords="offset points", color=INK, fontsize=8)
    axes.set_xlim(-0.02, 1.06)
    axes.set_ylim(-0.02, 1.03)
    axes.set_aspect("equal")
    axes.set_xlabel("predicted probability")
    axes.set_ylabel("share of matches")
    axes.set_title(
        f"{one.observed:,} true links, {one.expected:,.1f} expected\n"
        f"(95 % predictive interval {one.interval[0]:,} to {one.interval[1]:,})",
        fontsize=10,
    )
    return axes
