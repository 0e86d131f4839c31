"""Traces of the chains, and the choice between models."""

from __future__ import annotations

from typing import Any

import numpy as np

from tielink.plot.style import FAINT, FILE_COLOURS, INK, canvas, file_colour, plain, pyplot
from tielink.posterior.diagnosis import shown_rhat
from tielink.posterior.posterior import Posterior
from tielink.select.compare import Comparison

__all__ = ["trace", "waic"]


def trace(posterior: Posterior) -> Any:
    """Draw trace plots of the number of persons, the log-likelihood and, if it is sampled, the share of common ties.

    Parameters
    ----------
    posterior
        The posterior.

    Returns
    -------
    matplotlib.figure.Figure
    """
    diagnosis = posterior.diagnose()
    series = [("persons N", posterior.number_of_persons), ("log-likelihood", posterior.log_likelihood)]
    if "share of common ties" in diagnosis.rhat:
        series.append(("share of common ties", posterior.sharing))
    figure, axes = pyplot().subplots(
        len(series), 1, figsize=(7.5, 2.3 * len(series)), sharex=True, layout="constrained"
    )
    figure.patch.set_alpha(0.0)
    for one, (name, values) in zip(axes, series, strict=True):
        plain(one)
        for chain, line in enumerate(values):
            label = f"chain {chain + 1}" if one is axes[0] else None
            one.plot(
                np.arange(1, len(line) + 1), line, color=file_colour(chain), linewidth=0.7, alpha=0.85, label=label
            )
        one.set_ylabel(name)
        one.set_title(
            f"R-hat {shown_rhat(diagnosis.rhat[name])}, {diagnosis.ess[name]:,.0f} effective draws", fontsize=9
        )
    axes[0].legend(frameon=False, labelcolor=INK, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    axes[-1].set_xlabel("draw")
    return figure


def waic(comparison: Comparison, *, axes: Any = None) -> Any:
    """Draw how far each model's criterion is from the best one (smaller is better).

    Bars are the standard error of that difference, which decides whether two models can be told apart.

    Parameters
    ----------
    comparison
        What `tl.compare` returns.
    axes
        Where to draw; by default on new axes.

    Returns
    -------
    matplotlib.axes.Axes
    """
    axes = canvas(axes, 6.4, 3.6)
    keys = sorted(comparison.models, key=lambda key: (str(type(key)), key))
    best = comparison.models[comparison.best][comparison.by]
    gaps = [comparison.models[key][comparison.by].by_dyad - best.by_dyad for key in keys]
    values = [float(gap.sum()) for gap in gaps]
    errors = [float(np.sqrt(len(gap) * gap.var(ddof=1))) for gap in gaps]
    axes.errorbar(range(len(keys)), values, yerr=errors, fmt="none", ecolor=FAINT, capsize=3, zorder=1)
    axes.plot(range(len(keys)), values, color=FAINT, linewidth=1, zorder=1)
    for place, key in enumerate(keys):
        chosen = key == comparison.best
        axes.scatter([place], [values[place]], s=54, color=FILE_COLOURS[1 if chosen else 0], zorder=2)
        text = f"best: {best.value:,.0f}" if chosen else f"+{values[place]:,.0f}"
        axes.annotate(text, (place, values[place]), (8, 6), textcoords="offset points", color=INK, fontsize=8)
    axes.axhline(0, color=FAINT, linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(keys)), [str(key) for key in keys])
    axes.margins(x=0.15, y=0.15)
    axes.set_xlabel("model")
    axes.set_ylabel(f"{comparison.by.upper()} above the best")
    return axes
