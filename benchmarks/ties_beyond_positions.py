"""What correlated ties (φ), sociality and the activity prior do to linkage, each alone and all together.

Made networks whose dyads between shared persons are half copied (six seeds), and real data where they are at hand: the
paper's ego-network pairs, a high school, a department (two pairs of relations), author names. K = 2, `MatchRate` prior,
fields as the data declare them. Two chains, the same starts for every model, so that models and not starts are
compared; short ones, and R-hat of N is printed. Anchors, and egos, who are tied to everybody, are not counted.
Intervals (95 %) are bootstrapped over persons, or over members of a group by their standard error. The last rows are
mean changes from *off* over all real pairs of files, each pair's mean over shares of anchors, with standard errors and
the number of pairs that have the score; and the median, smallest and largest ratio of the costs of a sweep over all
fits. Cells that are done are kept in `ties_beyond_positions.json` and not run again: remove that file to measure anew.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from reproduce.fits import FIELDS
from reproduce.folders import COPY, Folder, anchored, ego_folders, read

import tielink as tl
from tielink.exact.believed import start_from_profiles
from tielink.exact.state import State, blank_ties
from tielink.project import Run
from tielink.run.chain import Chain
from tielink.run.job import Job
from tielink.run.recorder import Recorder
from tielink.run.sample import _posterior
from tielink.run.worker import Result
from tielink.simulate import scenario

TITLE = "Ties beyond positions: correlated ties, sociality, activity"
COLUMNS = (
    "data", "anchors", "model", "average precision", "F₁", "calibration error", "links predicted / true (p ≥ .05)",
    "log φ, τ, α", "R-hat of N", "ms a sweep",
)  # fmt: skip
KEPT = Path(__file__).parent / "ties_beyond_positions.json"
SHARES = (0.0, 0.1, 0.3)
CHAINS, SWEEPS = 2, 300
"""Sweeps of warm-up, and as many draws."""
MODELS = {
    "off": tl.Model(),
    "φ": tl.Model(network=tl.LatentSpace(tie_correlation=True)),
    "sociality": tl.Model(network=tl.LatentSpace(sociality=True)),
    "activity": tl.Model(linkage=tl.MatchRate(activity=True)),
    "all": tl.Model(network=tl.LatentSpace(tie_correlation=True, sociality=True), linkage=tl.MatchRate(activity=True)),
}
ROOT = os.environ.get("TIELINK_DATA")
COPIED = tuple(f"copied {seed}" for seed in range(501, 507))
"""Seeds that no choice in the sampler was made on."""
EGOS = tuple(f"uir/{folder.name}" for folder in ego_folders(Path(ROOT)) if folder.name != COPY) if ROOT else ()
GROUPS = {
    "copied, 60 + 60": COPIED,
    "uir": EGOS,
    "aucs_work_lunch": ("aucs_work_lunch",),
    "aucs_facebook_lunch": ("aucs_facebook_lunch",),
    "highschool": ("highschool",),
    "citeseer": ("citeseer",),
}


def load(name: str) -> Folder | None:
    """Return a data set and its truth; None where real data are not at hand."""
    if name in COPIED:
        rng = np.random.default_rng(int(name.split()[1]))
        sizes = {"a": 60, "b": 60}
        made = scenario(rng, sizes=sizes, overlap=40, density=0.17, spread=100.0, vocabularies={}, copied=0.5)
        return Folder(made.dataset, made.truth, None)
    return read(Path(ROOT) / name, FIELDS.get(name, ())) if ROOT else None


def first_states(data: tl.Dataset) -> list[State]:
    """Return a start for each chain, found without anything beyond positions."""
    plain = [Chain(Job.make(MODELS["off"], data, Run(seed=5)), chain) for chain in range(CHAINS)]
    return [start_from_profiles(chain.rng, chain.target) for chain in plain]


def run(model: tl.Model, data: tl.Dataset, states: list[State]) -> tuple[tl.Posterior, float]:
    """Sample from the given starts; return the posterior and CPU milliseconds a sweep after warm-up."""
    settings = Run(chains=CHAINS, warmup=SWEEPS, draws=SWEEPS, seed=6)
    job, results, seconds = Job.make(model, data, settings), [], 0.0
    for index in range(CHAINS):
        chain = Chain(job, index)
        chain.state = State(*(array.copy() for array in states[index][:7]), *blank_ties(chain.target))
        for sweep in range(SWEEPS):
            chain.advance(sweep)
        recorder = Recorder(chain)
        for _ in range(SWEEPS):
            begin = time.process_time()
            recorder.counts += chain.advance(None)
            seconds += time.process_time() - begin
            recorder.record(chain)
        results.append(Result(index, recorder.count, chain.moves, recorder.counts, recorder.arrays))
    return _posterior(job, results, False), seconds / (CHAINS * SWEEPS) * 1e3


def cell(model: tl.Model, folder: Folder, data: tl.Dataset, states: list[State]) -> dict[str, Any]:
    """Return the scores of one fit, as plain numbers."""
    posterior, cost = run(model, data, states)
    known = {pair for pair in (*data.anchors.clusters(), folder.ego or ()) if len(pair) == 2}
    found = tl.evaluate(posterior, folder.truth, anchors=sorted(known), resamples=200)
    calibration = found.calibration
    return {
        "ap": [float(found.average_precision), found.average_precision.low, found.average_precision.high],
        "f1": [float(found.f1), found.f1.low, found.f1.high],
        "ece": None if calibration is None or not calibration.pairs else float(calibration.ece),
        "expected": 0.0 if calibration is None else calibration.expected,
        "observed": 0 if calibration is None else calibration.observed,
        "beyond": {name: [float(v.mean()), float(v.std())] for name, v in posterior.beyond.items()},
        "rhat": float(posterior.diagnose().rhat["persons N"]),
        "cost": cost,
    }


def cells(name: str, done: dict[str, Any]) -> None:
    """Fit every model at every share of anchors that is not done yet, keeping each result at once."""
    keys = {(share, model): f"{name} | {share} | {model}" for share in SHARES for model in MODELS}
    if all(key in done for key in keys.values()) or (folder := load(name)) is None:
        return
    for share in SHARES:
        missing = [model for model in MODELS if keys[share, model] not in done]
        if not missing:
            continue
        known = anchored(folder, share, 8)
        states = first_states(known)
        for model in missing:
            begin = time.process_time()
            done[keys[share, model]] = cell(MODELS[model], folder, known, states)
            KEPT.write_text(json.dumps(done, indent=0, ensure_ascii=False) + "\n")
            score = done[keys[share, model]]
            sys.stderr.write(
                f"  {len(done)} cells done: {keys[share, model]}, AP {score['ap'][0]:.3f}, F₁ {score['f1'][0]:.3f}, "
                f"{time.process_time() - begin:.0f} CPU s\n"
            )


def interval(values: list[list[float]]) -> str:
    """Write a mean with its interval: bootstrapped for one fit, from the standard error for several."""
    values = [value for value in values if not math.isnan(value[0])]
    if not values:
        return "–"
    if len(values) == 1:
        mean, low, high = values[0]
    else:
        points = np.array([value[0] for value in values])
        mean, half = points.mean(), 2 * points.std(ddof=1) / math.sqrt(len(points))
        low, high = max(0.0, mean - half), min(1.0, mean + half)
    return f"{mean:.3f}" if math.isnan(low) else f"{mean:.3f} ({low:.2f}–{high:.2f})"


def row(group: str, share: float, model: str, found: list[dict[str, Any]]) -> tuple[object, ...]:
    """Put the fits of a group together."""
    eces = [one["ece"] for one in found if one["ece"] is not None]
    expected, observed = sum(one["expected"] for one in found), sum(one["observed"] for one in found)
    words = []
    for name, sign in (("correlation", "log φ"), ("sociality_sd", "τ"), ("activity", "α")):
        drawn = [one["beyond"][name] for one in found if name in one["beyond"]]
        if drawn:
            mean, sd = (np.mean([value[place] for value in drawn]) for place in (0, 1))
            words.append(f"{sign} {mean:.2f} ± {sd:.2f}")
    return (
        group, f"{share:.0%}", model, interval([one["ap"] for one in found]), interval([one["f1"] for one in found]),
        f"{np.mean(eces):.3f}" if eces else "–", f"{expected:.1f} / {observed}", ", ".join(words) or "–",
        f"{max(one['rhat'] for one in found):.2f}", f"{np.mean([one['cost'] for one in found]):.1f}",
    )  # fmt: skip


def changes(done: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    """Yield a row for each model: its mean change from "off" over real pairs of files."""
    scores = {
        name: {model: [done.get(f"{name} | {share} | {model}") for share in SHARES] for model in MODELS}
        for names in GROUPS.values()
        for name in names
    }
    scores = {name: found for name, found in scores.items() if all(all(row) for row in found.values())}
    real = [found for name, found in scores.items() if name not in COPIED]
    for model in MODELS if len(real) > 1 else ():
        if model == "off":
            continue
        words = []
        for score in ("ap", "f1", "ece"):
            change = np.array([mean_change(found[model], found["off"], score) for found in real])
            change = change[~np.isnan(change)]
            words.append(f"{change.mean():+.3f} ± {change.std(ddof=1) / math.sqrt(len(change)):.3f} ({len(change)})")
        fits = [pair for found in scores.values() for pair in zip(found[model], found["off"], strict=True)]
        costs = [ours["cost"] / off["cost"] for ours, off in fits]
        cost = f"{np.median(costs):.1f} times ({min(costs):.1f}–{max(costs):.1f})"
        yield f"change, {len(real)} real pairs", "all", model, *words, "–", "–", "–", cost


def mean_change(ours: list[dict[str, Any]], off: list[dict[str, Any]], score: str) -> float:
    """Return the mean change of a score over the shares of anchors at which both models have one."""
    pairs = [[one[score] if score == "ece" else one[score][0] for one in both] for both in zip(ours, off, strict=True)]
    both = [(one, two) for one, two in pairs if one is not None and two is not None]
    return float(np.nanmean([one - two for one, two in both])) if both else math.nan


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each group of data, share of anchors and model."""
    done = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for group, names in GROUPS.items():
        for name in names:
            cells(name, done)
        for share in SHARES:
            # Models are compared on the same members only: those on which all of them are done.
            whole = [name for name in names if all(f"{name} | {share} | {model}" in done for model in MODELS)]
            label = group if len(names) == 1 else f"{group}, {len(whole)} of {len(names)}"
            for model in MODELS if whole else ():
                yield row(label, share, model, [done[f"{name} | {share} | {model}"] for name in whole])
    yield from changes(done)
