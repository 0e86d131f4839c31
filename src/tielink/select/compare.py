"""Compare models that were fitted to the same data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tielink.data.frames import to_frame
from tielink.faults import Faults, nearest
from tielink.posterior.posterior import Posterior
from tielink.select.criteria import CRITERIA, Criterion, criterion

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Criteria of several models, the best first by the one that was asked for."""

    by: str
    models: dict[Any, dict[str, Criterion]]
    frame_kind: str = "polars"

    @property
    def best(self) -> Any:
        """The key of the best model."""
        return next(iter(self.models))

    def table(self) -> Any:
        """Return a frame: model, value, error, penalty, difference from the best and its error, and other criteria."""
        first = self.models[self.best][self.by]
        columns: dict[str, list[Any]] = {"model": [str(key) for key in self.models]}
        chosen = [criteria[self.by] for criteria in self.models.values()]
        gaps = [entry.by_dyad - first.by_dyad for entry in chosen]
        columns[self.by] = [entry.value for entry in chosen]
        columns["error"] = [entry.error for entry in chosen]
        columns["penalty"] = [entry.penalty for entry in chosen]
        columns["difference"] = [float(gap.sum()) for gap in gaps]
        columns["difference_error"] = [float(np.sqrt(len(gap) * gap.var(ddof=1))) for gap in gaps]
        for name in CRITERIA:
            if name != self.by and all(name in criteria for criteria in self.models.values()):
                columns[name] = [criteria[name].value for criteria in self.models.values()]
        return to_frame(columns, self.frame_kind)

    def __str__(self) -> str:
        lines = [f"{'model':<12}{self.by:>12}{'error':>9}{'penalty':>10}{'difference':>12}{'its error':>11}"]
        first = self.models[self.best][self.by]
        for key, criteria in self.models.items():
            entry = criteria[self.by]
            gap = entry.by_dyad - first.by_dyad
            error = np.sqrt(len(gap) * gap.var(ddof=1))
            lines.append(
                f"{key!s:<12}{entry.value:>12,.1f}{entry.error:>9,.1f}{entry.penalty:>10,.1f}"
                f"{gap.sum():>12,.1f}{error:>11,.1f}"
            )
        lines += [
            f"Warning, model {key}: {criteria[self.by].warning}."
            for key, criteria in self.models.items()
            if criteria[self.by].warning
        ]
        return "\n".join(lines)

    def plot(self, axes: Any = None) -> Any:
        """Draw the criterion with its errors over the models; return matplotlib axes."""
        import matplotlib.pyplot as plt

        axes = plt.subplots(figsize=(6, 3.5), layout="constrained")[1] if axes is None else axes
        keys = sorted(self.models, key=lambda key: (str(type(key)), key))
        values = [self.models[key][self.by].value for key in keys]
        errors = [self.models[key][self.by].error for key in keys]
        axes.errorbar(range(len(keys)), values, yerr=errors, marker="o", capsize=3, color="tab:blue")
        best = keys.index(self.best)
        axes.plot(best, values[best], "o", color="tab:orange", zorder=3, label=f"best: {self.best}")
        axes.set_xticks(range(len(keys)), [str(key) for key in keys])
        axes.set_xlabel("model")
        axes.set_ylabel(f"{self.by.upper()} (smaller is better)")
        axes.legend(frameon=False)
        return axes


def compare(posteriors: Mapping[Any, Posterior], criterion: str = "waic") -> Comparison:
    """Compare models by an information criterion over dyads.

    Parameters
    ----------
    posteriors
        Posteriors of the *same* data under different models, by any keys: `{k: tl.sample(...) for k in range(2, 9)}`.
    criterion
        "waic", "waic1" (the other penalty), "dic", or "loo" (then sample with `loo=True`).

    Returns
    -------
    Comparison
        `print` it, or `.table()` and `.plot()`; `.best` is the key of the model with the smallest criterion.
    """
    faults = Faults()
    if criterion not in CRITERIA:
        faults.error("criterion", f"is {criterion!r}.", nearest(criterion, CRITERIA))
    if not posteriors:
        faults.error("compare", "no posterior is given.", "Give at least one.")
    for key, posterior in posteriors.items():
        scores = posterior.dyads
        if scores is None:
            what = "has no latent space, and criteria over dyads compare latent spaces."
            faults.error(f"model {key!r}", what, "Leave it out, or compare links with tl.evaluate.")
        elif criterion == "loo" and scores.tail is None:
            faults.error(f"model {key!r}", "was sampled without what LOO needs.", "Sample with loo=True.")
    if len({posterior.records for posterior in posteriors.values()}) > 1:
        faults.error("compare", "the posteriors are of different data.", "Compare models of the same data.")
    faults.raise_errors()
    scored = {key: _criteria(posterior) for key, posterior in posteriors.items()}
    ordered = dict(sorted(scored.items(), key=lambda item: item[1][criterion].value))
    return Comparison(criterion, ordered, next(iter(posteriors.values())).frame_kind)


def _criteria(posterior: Posterior) -> dict[str, Criterion]:
    scores = posterior.dyads
    assert scores is not None
    names = CRITERIA if scores.tail is not None else tuple(name for name in CRITERIA if name != "loo")
    return {name: criterion(scores, name) for name in names}
