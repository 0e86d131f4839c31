"""One fit: a data folder, a method, what is known beforehand → one row of scores."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import tielink as tl
from reproduce.folders import Folder, anchored, read
from reproduce.methods import BASELINES, model
from tielink.data.scores import ScoredLinkage
from tielink.fields import Field

__all__ = ["Effort", "Fit", "fit"]

FIELDS: dict[str, tuple[tuple[str, Field], ...]] = {
    "pkdd12": (("username", tl.String()),),
    "citeseer": (("name", tl.PersonName()),),
    "highschool": (("class", tl.Categorical()), ("gender", tl.Categorical())),
    "aucs_work_lunch": (("group", tl.Categorical()), ("role", tl.Categorical())),
    "aucs_facebook_lunch": (("group", tl.Categorical()), ("role", tl.Categorical())),
}
"""What the columns of each folder mean; ego networks have none."""


@dataclass(frozen=True)
class Effort:
    """How long chains are: each length is tried until N has converged, the last one is kept as it is."""

    chains: int
    lengths: tuple[int, ...]
    """Draws of each chain; as many sweeps of warm-up come before them."""
    least: float = 100.0
    """Effective draws of N that are enough."""


@dataclass(frozen=True)
class Fit:
    """What to fit."""

    part: str
    folder: str
    method: str
    share: float = 0.0
    draw: int = 0
    uses: str = "both"
    hidden: int = -1
    """With a match's number, all other matches are known and this one is to be found."""

    @property
    def key(self) -> str:
        """A name of its own."""
        return "|".join(str(value) for value in asdict(self).values())


def fit(task: Fit, root: Path, effort: Effort) -> dict[str, Any]:
    """Fit and score."""
    begin = time.process_time()
    folder = read(root / task.folder, FIELDS.get(task.folder, ()))
    data = _known(folder, task)
    row: dict[str, Any] = {"key": task.key, **asdict(task), "records": list(data.records.sizes)}
    if task.method in BASELINES or task.uses == "baseline":
        links = tl.baselines.every(data)[task.method]
        row |= _scores(links, folder, data)
    else:
        posterior = _sample(model(task.method, task.uses), data, effort, task, row)
        row |= _scores(posterior, folder, data)
        persons = posterior.persons()
        row |= {"mean_n": persons.mean, "sd_n": persons.sd, "interval_n": list(map(int, persons.interval))}
        if posterior.dyads is not None:
            criteria = tl.compare({0: posterior}).models[0]
            row |= {name: found.value for name, found in criteria.items()}
        shared = tl.evaluate(tl.estimate(posterior, tl.SharedMPMMS()), folder.truth, anchors=data.anchors, resamples=0)
        row["talked"] = _talked_about(posterior, data) if task.folder == "pkdd12" else None
        row["mpmms"] = [shared.without_anchors.correct, shared.without_anchors.links, shared.without_anchors.matches]
    row["seconds"] = round(time.process_time() - begin, 2)
    return row


def _known(folder: Folder, task: Fit) -> tl.Dataset:
    if task.hidden < 0:
        return anchored(folder, task.share, task.draw)
    pairs = [pair for pair in folder.truth.clusters() if len(pair) == 2]
    return replace(
        folder.dataset,
        anchors=tl.Linkage.from_pairs(folder.dataset, [pair for n, pair in enumerate(pairs) if n != task.hidden]),
    )


def _sample(chosen: tl.Model, data: tl.Dataset, effort: Effort, task: Fit, row: dict[str, Any]) -> tl.Posterior:
    """Sample as long as N needs; say in the row how long that was and whether it was enough."""
    seed = 1 + task.draw
    for length in effort.lengths:
        posterior = tl.sample(chosen, data, chains=effort.chains, warmup=length, draws=length, seed=seed, workers=0)
        diagnosis = posterior.diagnose()
        rhat, ess = diagnosis.rhat["persons N"], diagnosis.ess["persons N"]
        constant = np.ptp(posterior.number_of_persons) == 0
        enough = bool(constant or (rhat < 1.05 and ess >= effort.least))
        row |= {"sweeps": 2 * length, "rhat_n": _plain(rhat), "ess_n": _plain(ess), "converged": enough}
        if enough:
            break
    return posterior


def _scores(links: tl.Posterior | ScoredLinkage, folder: Folder, data: tl.Dataset) -> dict[str, Any]:
    """Score three ways: anchors counted, anchors left out, anchors and ego left out; [correct, links, matches] each."""
    known = [pair for pair in data.anchors.clusters() if len(pair) == 2]
    plain = tl.evaluate(links, folder.truth, anchors=known, resamples=0)
    without = plain
    if folder.ego is not None and folder.ego not in known:
        without = tl.evaluate(links, folder.truth, anchors=[*known, folder.ego], resamples=0)
    ways = {"counted": plain.with_anchors, "left_out": plain.without_anchors, "ego_out": without.without_anchors}
    row: dict[str, Any] = {name: [rates.correct, rates.links, rates.matches] for name, rates in ways.items()}
    assert without.ranking is not None
    row |= {"ap": _plain(without.average_precision), "hits": _plain(without.ranking.hits)}
    if without.calibration is not None:
        found = without.calibration
        bins = [found.counts, np.nan_to_num(found.mean_probability), np.nan_to_num(found.share_true)]
        row["calibration"] = [[round(float(x), 4) for x in values] for values in bins]
        row["true_links"] = [round(found.expected, 3), found.observed, *found.interval]
    return row


TALKED_ABOUT = ("banditooisclutch", "negritobandito")
"""The pair of usernames that the paper prints."""


def _talked_about(posterior: tl.Posterior, data: tl.Dataset) -> float | None:
    """Return the probability of the pair that the paper talks about; None where the data do not hold it."""
    column = data.columns["username"]
    if not set(TALKED_ABOUT) <= set(column.values):
        return None
    a, b = (np.flatnonzero(column.codes == column.values.index(name)) for name in TALKED_ABOUT)
    person = posterior.person
    return float((person[:, :, a, None] == person[:, :, None, b]).mean())


def _plain(value: float) -> float | None:
    """Return a rounded number, None for one that is not defined."""
    return None if np.isnan(value) else round(float(value), 5)
