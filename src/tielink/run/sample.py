"""`sample`: from a model and a data set to a posterior."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage
from tielink.model.problem import Problem
from tielink.model.spec import Model
from tielink.posterior.dyads import DyadScores, DyadTally
from tielink.posterior.posterior import BEYOND, Posterior
from tielink.posterior.predictive import NetworkSample
from tielink.project import Run
from tielink.run.engine import check_engine
from tielink.run.job import Job
from tielink.run.pool import run_here, run_processes
from tielink.run.progress import display
from tielink.run.recorder import kept_draws
from tielink.run.worker import Order, Result

__all__ = ["resume", "sample"]


def sample(
    model: Model,
    dataset: Dataset,
    *,
    sampler: str = "exact",
    chains: int = 4,
    warmup: int = 1000,
    draws: int = 1000,
    thin: int = 1,
    seed: int = 1,
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
        Number of chains; sweeps of each that are thrown away; draws kept of each; sweeps for each draw.
    seed
        The same seed gives the same draws, whatever the number of workers.
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
    """
    run = Run(sampler=sampler, chains=chains, warmup=warmup, draws=draws, thin=thin, seed=seed)
    job = Job.make(model, dataset, run, loo=loo)
    posterior = _run(job, workers, None if checkpoint is None else Path(checkpoint), interval, progress)
    return replace(posterior, dataset=dataset)


def resume(
    checkpoint: str | PathLike[str],
    *,
    workers: int | None = None,
    interval: float = 10.0,
    progress: bool | None = None,
) -> Posterior:
    """Continue an interrupted run from its checkpoint folder; the draws are those of an uninterrupted one.

    The folder holds Python pickles: resume only from folders of your own.
    """
    from tielink.run.checkpoint import load_job

    return _run(load_job(Path(checkpoint)), workers, Path(checkpoint), interval, progress)


def _run(job: Job, workers: int | None, folder: Path | None, interval: float, progress: bool | None) -> Posterior:
    check_engine(job)
    if folder is not None:
        from tielink.run.checkpoint import save_job

        save_job(folder, job)
    run = job.run
    orders = [Order(job, chain, folder, interval) for chain in range(run.chains)]
    with display(run.chains, run.warmup + run.draws * run.thin, progress) as report:
        if workers == 0:
            results, interrupted = run_here(orders, report)
        else:
            results, interrupted = run_processes(orders, workers or _cores(), report)
    return _posterior(job, results, interrupted)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _posterior(job: Job, results: Sequence[Result], interrupted: bool) -> Posterior:
    """Put the chains together; of an interrupted run, the chains that have draws, cut to the shortest."""
    notes = []
    run, problem = job.run, job.problem
    used = [result for result in results if result.count > 0]
    length = min((result.count for result in used), default=0)
    if not length:
        raise KeyboardInterrupt("stopped in warm-up: no draws yet")
    if interrupted:
        notes.append(
            f"the run was interrupted: here are {len(used)} of {run.chains} chains "
            f"and {length:,} of {run.draws:,} draws of each."
        )

    def stack(name: str) -> np.ndarray:
        return np.stack([result.arrays[name][:length] for result in used])

    network = None
    if problem.network is not None:
        kept = kept_draws(run.draws)
        kept = kept[kept < length]
        intercepts = stack("intercepts")
        network = NetworkSample(
            link=problem.network.link,
            draws=kept,
            positions=np.stack([result.arrays["positions"][: len(kept)] for result in used]),
            intercepts=intercepts[:, kept],
            observed=np.array(job.figures),
            sociality=np.stack([result.arrays["sociality"][: len(kept)] for result in used])
            if "sociality" in used[0].arrays
            else None,
        )
    counts = np.stack([result.counts for result in used])
    chains = len(used)
    return Posterior(
        records=job.records,
        model=job.model,
        run=run,
        person=stack("person"),
        log_likelihood=stack("log_likelihood"),
        intercepts=stack("intercepts") if network is not None else np.empty((chains, length, 0)),
        spread=stack("spread") if network is not None else np.empty((chains, 0)),
        distortion=stack("distortion"),
        rates=tuple(rate.name for rate in problem.rates),
        fields={field.name: stack(f"fields.{place}") for place, field in enumerate(problem.fields)},
        anchors=Linkage(job.records, problem.linkage.anchors).pair_numbers,
        nonmatches=problem.linkage.nonmatches,
        prior=_prior_draws(problem, stack("prior")) if "prior" in used[0].arrays else {},
        moves=used[0].moves,
        proposed=counts[:, :, 0],
        accepted=counts[:, :, 1],
        beyond={name: stack(name) for name in BEYOND if name in used[0].arrays},
        network=network,
        dyads=_dyads(used, job.loo_tail),
        notes=tuple(notes),
        frame_kind=job.frame_kind,
        careless=stack("careless"),
        careless_share=stack("careless_share") if problem.careless_share is not None else np.empty((chains, 0)),
    )


def _prior_draws(problem: Problem, drawn: np.ndarray) -> dict[str, np.ndarray]:
    clusters = problem.linkage.clusters
    names = [] if clusters is None else list(clusters.hyperparameters)
    return {name: drawn[:, :, place] for place, name in enumerate(names)}


def _dyads(used: Sequence[Result], tail: int) -> DyadScores | None:
    """Put the chains' tallies of dyads together; None without a network."""
    parts = [
        (result.count, {name[6:]: array for name, array in result.arrays.items() if name.startswith("dyads.")})
        for result in used
    ]
    return DyadTally.merge(parts, tail) if parts[0][1] else None
