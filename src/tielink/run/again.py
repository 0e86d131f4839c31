"""`update`: go on from a finished run with other data, more or less of them, or with what people answered."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from tielink.data.answers import Settled
from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage, LinkageClass
from tielink.faults import Fault, InputError, listed
from tielink.model.problem import LatentSpaceProblem
from tielink.posterior.convergence import effective_draws, rhat
from tielink.posterior.posterior import Posterior
from tielink.run.job import Job
from tielink.run.sample import run_job
from tielink.run.start import Start

__all__ = ["drift", "update", "with_answers"]

WARMUP, DRAWS = 20, 10
"""By default one sweep of warm-up for so many of the run before, and one draw."""
FAR = 6.0
"""Standard deviations of the run before by which a parameter may move; beyond, the new data contradict the old."""
FALLEN = 0.05
"""The share of sure links that may fall."""
RHAT, DRIFT = 1.1, 4.0


def with_answers(dataset: Dataset, answers: Any, allowed: LinkageClass) -> Dataset:
    """Return the data with what people answered known; answers that contradict each other or the data are faults."""
    before = dataset.volunteered
    settled = answers if isinstance(answers, Settled) else Settled.by(dataset.records, answers, allowed)
    records = dataset.records
    pairs = np.concatenate([dataset.anchors.pair_numbers, settled.same])
    known = Linkage.from_pairs(records, [(records[int(a)], records[int(b)]) for a, b in pairs])
    apart = np.unique(np.concatenate([dataset.nonmatches, settled.different]), axis=0)
    both = apart[known.labels[apart[:, 0]] == known.labels[apart[:, 1]]]
    if len(both):
        names = [" and ".join(f"{file}/{key}" for file, key in (records[int(r)] for r in pair)) for pair in both]
        what = f"{listed(names)} are said to be one person and not to be."
        raise InputError([Fault("answers", what, "Mend the anchors, or change the answers.")])
    anchors = Linkage(records, known.labels, frame_kind=dataset.frame_kind)
    return replace(dataset, anchors=anchors, nonmatches=apart, before_answers=before)


def update(
    posterior: Posterior,
    dataset: Dataset,
    *,
    answers: Any = (),
    warmup: int | None = None,
    draws: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Posterior:
    """Go on from a finished run: new records and ties, corrected and withdrawn ones, or answers.

    Chains start from the last stored draws; new records are placed first, then everything moves. Exact in the limit of
    many sweeps; `notes` say so where it is visibly not there yet, and where the new data contradict the old so much
    that a full run is needed. With a latent space, whose positions are not carried over, this is a full run.

    Parameters
    ----------
    posterior
        Of the run before, of the same files under the same model.
    dataset
        All data as they are now. Records are the same if file and id are.
    answers
        What people answered, as `Posterior.given` takes it.
    warmup, draws
        Sweeps that are thrown away, and draws of each chain; by default a twentieth and a tenth of those before.
    seed
        By default that of the run before and one.
    workers, checkpoint, progress
        As in `tl.sample`.

    Returns
    -------
    Posterior
        With `changes_since(posterior)` for what changed.

    Examples
    --------
    >>> import polars as pl, tielink as tl
    >>> left = pl.DataFrame({"id": [1, 2], "name": ["anna", "bob"]})
    >>> right = pl.DataFrame({"id": [7, 8, 9], "name": ["anna", "zoe", "bob"]})
    >>> def data(count):
    ...     return tl.Dataset.from_frames({"left": left, "right": right[:count]}, fields={"name": tl.String()})
    >>> before = tl.sample(tl.Model(), data(2), chains=2, warmup=100, draws=100, workers=0)
    >>> after = tl.update(before, data(3), draws=100, workers=0)
    >>> after.changes_since(before)["change"].to_list()
    ['new link']
    """
    if dataset.files != posterior.records.files:
        found = f"the files are {listed(dataset.files, 8)}, and were {listed(posterior.records.files, 8)}."
        raise InputError([Fault("update", found, "Give the same files, or do a full run: tl.link.")])
    if not isinstance(answers, tuple) or answers:
        dataset = with_answers(dataset, answers, posterior.allowed)
    old = posterior.run
    run = replace(
        old,
        chains=posterior.chains,
        warmup=max(10, old.warmup // WARMUP) if warmup is None else warmup,
        draws=max(20, posterior.draws_per_chain // DRAWS) if draws is None else draws,
        seed=old.seed + 1 if seed is None else seed,
    )
    job = Job.make(posterior.model, dataset, run)
    if isinstance(job.problem.network, LatentSpaceProblem):
        job = replace(job, run=replace(run, warmup=old.warmup, draws=old.draws))
    else:
        job = replace(job, start=Start.of(posterior, dataset), power=posterior.power)
    after = run_job(job, workers, None if checkpoint is None else Path(checkpoint), 10.0, progress)
    return replace(after, notes=(*after.notes, *drift(posterior, after)))


def drift(before: Posterior, after: Posterior) -> list[str]:
    """Say what speaks against an update: chains that still move, or data that contradict those before."""
    said = []
    numbers = after.number_of_persons.astype(float)
    half = numbers.shape[1] // 2
    spread = numbers.std() / np.sqrt(max(effective_draws(numbers), 1.0) / 2)
    moved = abs(numbers[:, :half].mean() - numbers[:, half:].mean())
    if half >= 2 and moved > DRIFT * max(spread, 0.05) and moved > 0.5:
        said.append(f"the number of persons still moves ({moved:,.1f} from half to half): go on with more draws.")
    elif half >= 2 and rhat(numbers) > RHAT:
        said.append(f"chains do not agree yet (R-hat of persons {rhat(numbers):.2f}): go on with more draws.")
    far = []
    series = [(f"distortion of {name}", place) for place, name in enumerate(before.rates)]
    for name, place in series if before.rates == after.rates else ():
        one, two = before.distortion[:, :, place], after.distortion[:, :, place]
        if abs(one.mean() - two.mean()) > FAR * max(one.std(), 0.003):
            far.append(f"{name}: {one.mean():.3f} before, {two.mean():.3f} now")
    lost, sure = _fallen(before, after)
    if lost > max(FALLEN * sure, 3):
        far.append(f"{lost:,} of {sure:,} sure links fell")
    if far:
        said.append(f"the new data contradict the old ({'; '.join(far)}): do a full run.")
    return said


def _fallen(before: Posterior, after: Posterior) -> tuple[int, int]:
    """Count the links that were sure, and those of them that are unlikely now, records that are gone aside."""
    now = {tuple(after.records[int(r)] for r in pair) for pair in _pairs(after, 0.5)}
    was = [tuple(before.records[int(r)] for r in pair) for pair in _pairs(before, 0.9)]
    still = [pair for pair in was if all(record in after.records for record in pair)]
    return sum(pair not in now and pair[::-1] not in now for pair in still), len(still)


def _pairs(posterior: Posterior, least: float) -> Any:
    found = posterior.pair_probabilities
    return found.pairs[found.probability > least]
