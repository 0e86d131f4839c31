"""`sample`: from a model and a data set to a posterior."""

from __future__ import annotations

import os
import time
from contextlib import nullcontext
from dataclasses import replace
from math import inf
from os import PathLike
from pathlib import Path

from tielink.data.dataset import Dataset
from tielink.faults import InputError
from tielink.model.problem import SharedTiesProblem
from tielink.model.spec import Model
from tielink.posterior.posterior import Posterior
from tielink.project import Run
from tielink.run.bundle import Bundle
from tielink.run.checkpoint import load_job, load_power, locked, save_job, save_power
from tielink.run.gather import gather
from tielink.run.job import Job
from tielink.run.memory import check_memory
from tielink.run.pool import run_here, run_processes
from tielink.run.progress import display
from tielink.run.worker import Order, Result

__all__ = ["resume", "run_job", "sample"]

FEW_RECORDS = 200
"""With at most this many records, starting other processes takes longer than they save."""


def sample(
    model: Model,
    dataset: Dataset,
    *,
    sampler: str = "exact",
    chains: int = 4,
    warmup: int = 100,
    draws: int = 0,
    thin: int = 1,
    seed: int = 1,
    minutes: float = 10.0,
    workers: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    interval: float = 10.0,
    progress: bool | None = None,
    loo: bool = False,
) -> Posterior:
    """Sample the posterior of who is whom.

    Parameters
    ----------
    model, dataset
        What is believed, and what was seen. Any number of files; profiles, ties or both.
    sampler
        "exact", or "paper" for the paper's own algorithm with its acceptance ratio mended.
    chains, warmup, draws, thin
        Number of chains; sweeps of each that are thrown away; draws kept of each; sweeps for each draw. With `draws=0`,
        the default, chains go on until the number of persons and the pairs that decide on links have settled: in rounds
        of 125, 250, 500, … sweeps, of which the last one counts.
    seed
        The same seed gives the same draws, whatever the number of workers.
    minutes
        With `draws=0`: how long this may take. Draws made by then are used, and `diagnose` says what they lack.
    workers
        Processes to use; by default one for each core. 0 runs all chains here, one after the other.
    checkpoint
        A folder to keep checkpoints in. The same call with the same folder goes on where it stopped.
    interval
        Seconds between checkpoints.
    progress
        Whether to show progress; by default on a terminal only.
    loo
        Gather what PSIS-LOO needs (`tl.compare(..., criterion="loo")`): about 12√S bytes more a dyad for S draws.

    Returns
    -------
    Posterior
        After a Ctrl-C: with the draws finished by then, and a note that says so.

    Examples
    --------
    >>> import polars as pl, tielink as tl
    >>> left = pl.DataFrame({"id": [1, 2], "name": ["anna", "bob"]})
    >>> right = pl.DataFrame({"id": [7, 8], "name": ["anna", "zoe"]})
    >>> data = tl.Dataset.from_frames({"left": left, "right": right}, fields={"name": tl.String()})
    >>> posterior = tl.sample(tl.Model(), data, chains=2, warmup=50, draws=50, workers=0)
    >>> posterior.pairs().select("id_a", "id_b").row(0)
    (1, 7)
    """
    run = Run(sampler, chains, warmup, draws, thin, seed, minutes)
    folder = None if checkpoint is None else Path(checkpoint)
    with nullcontext() if folder is None else locked(folder):
        return run_job(Job.make(model, dataset, run, loo=loo), workers, folder, interval, progress)


def resume(
    checkpoint: str | PathLike[str],
    *,
    workers: int | None = None,
    interval: float = 10.0,
    progress: bool | None = None,
    minutes: float = 10.0,
) -> Posterior:
    """Continue an interrupted run from its checkpoint folder; the draws are those of an uninterrupted one.

    The folder is read as data, and nothing in it is run. Ids that are neither texts nor numbers come back as texts.

    Parameters
    ----------
    checkpoint
        The folder that `tl.sample(..., checkpoint=folder)` wrote.
    workers, interval, progress, minutes
        As in `tl.sample`.

    Returns
    -------
    Posterior
    """
    folder = Path(checkpoint)
    job = load_job(folder)
    job = replace(job, run=replace(job.run, minutes=minutes))
    with locked(folder):
        return run_job(job, workers, folder, interval, progress)


def run_job(job: Job, workers: int | None, folder: Path | None, interval: float, progress: bool | None) -> Posterior:
    """Sample a job, with checkpoints in a folder that is locked by now."""
    begun = time.monotonic()
    job.check()
    check_memory(job)
    stored = _stored(job, folder)
    if folder is not None and stored is not None:
        save_job(folder, stored)
    job = _with_power(job, folder, progress)
    run = job.run

    def enough(results: list[Result]) -> bool:
        return run.draws > 0 or gather(job, results).diagnose().settled

    seconds = inf if run.draws else max(60 * run.minutes - (time.monotonic() - begun), 0.0)
    with display(run, progress) as report:
        if workers == 0 or stored is None or (workers is None and len(job.records) <= FEW_RECORDS):
            orders = [Order(job, chain, folder, interval) for chain in range(run.chains)]
            ended = run_here(orders, report, enough, seconds)
        else:
            sent = stored[0], stored[1] | {"power": job.power}
            processes = workers or _cores()
            ended = run_processes(sent, run.chains, processes, folder, interval, report, enough, seconds)
    return gather(job, *ended)


def _stored(job: Job, folder: Path | None) -> Bundle | None:
    """Return the job as data; None for a model with a function in it, which only this process can run."""
    try:
        return job.stored()
    except InputError:
        if folder is not None:
            raise
        return None


def _with_power(job: Job, folder: Path | None, progress: bool | None) -> Job:
    """Learn the power of shared ties where it is to be learnt and no checkpoint knows it."""
    network = job.problem.network
    if not isinstance(network, SharedTiesProblem) or network.power is not None or job.start is not None:
        return job
    power = None if folder is None else load_power(folder)
    if power is None:
        from tielink.run.pilot import learn_power, pilot_sweeps

        with display(Run(chains=1, warmup=0, draws=pilot_sweeps(job.problem.records)), progress) as report:
            power = learn_power(job, report)
        if folder is not None:
            save_power(folder, power)
    return replace(job, power=power)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
