"""The results of chains, put together as a posterior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tielink.data.linkage import Linkage
from tielink.model.problem import LatentSpaceProblem, Problem
from tielink.posterior.dyads import DyadScores, DyadTally
from tielink.posterior.pairs import PairProbabilities, averaged_pairs
from tielink.posterior.posterior import FINISHED, INTERRUPTED, Posterior
from tielink.posterior.predictive import NetworkSample
from tielink.run.job import Job
from tielink.run.recorder import SEGMENTS, kept_draws
from tielink.run.rounds import nth_round
from tielink.run.worker import Result

__all__ = ["gather"]


def gather(job: Job, results: Sequence[Result], how: str = FINISHED) -> Posterior:
    """Put the chains together; of a run that was cut short, the chains that have draws, cut to the shortest."""
    notes = []
    problem = job.problem
    used = [result for result in results if result.count > 0]
    length = min((result.count for result in used), default=0)
    if not length:
        raise KeyboardInterrupt("stopped in warm-up: no draws yet")
    now = nth_round(job.run, used[0].number)
    run = replace(job.run, warmup=now.before, thin=now.thin)
    if how == INTERRUPTED:
        notes.append(
            f"the run was interrupted: here are {len(used)} of {run.chains} chains and {length:,} draws of each"
            + (f", of {run.draws:,}." if run.draws else ".")
        )

    def stack(name: str) -> np.ndarray:
        return np.stack([result.arrays[name][:length] for result in used])

    network = None
    if isinstance(problem.network, LatentSpaceProblem):
        kept = kept_draws(now.draws)
        kept = kept[kept < length]
        intercepts = stack("intercepts")
        network = NetworkSample(
            link=problem.network.link,
            draws=kept,
            positions=np.stack([result.arrays["positions"][: len(kept)] for result in used]),
            intercepts=intercepts[:, kept],
            observed=np.array(job.figures),
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
        network=network,
        sharing=stack("sharing") if "sharing" in used[0].arrays else np.empty((chains, 0)),
        power=job.power,
        conditional=_conditional(used, now.draws),
        dyads=_dyads(used, job.loo_tail),
        notes=tuple(notes),
        ended=how,
        frame_kind=job.dataset.frame_kind,
        dataset=job.dataset,
        careless=stack("careless"),
        careless_share=stack("careless_share") if problem.careless_share is not None else np.empty((chains, 0)),
    )


def _prior_draws(problem: Problem, drawn: np.ndarray) -> dict[str, np.ndarray]:
    clusters = problem.linkage.clusters
    names = [] if clusters is None else list(clusters.hyperparameters)
    return {name: drawn[:, :, place] for place, name in enumerate(names)}


def _conditional(used: Sequence[Result], draws: int) -> PairProbabilities | None:
    """Put the chains' conditional probabilities together; None where pairs are counted."""
    if "chances" not in used[0].arrays:
        return None
    segment = np.arange(draws) * SEGMENTS // draws
    means = []
    for result in used:
        in_segment = np.bincount(segment[: result.count], minlength=SEGMENTS)
        done = in_segment > 0
        means.append((result.arrays["pairs"], result.arrays["chances"][done] / in_segment[done, None]))
    return averaged_pairs(means)


def _dyads(used: Sequence[Result], tail: int) -> DyadScores | None:
    """Put the chains' tallies of dyads together; None without a network."""
    parts = [
        (result.count, {name[6:]: array for name, array in result.arrays.items() if name.startswith("dyads.")})
        for result in used
    ]
    return DyadTally.merge(parts, tail) if parts[0][1] else None
