"""Effective draws of N per CPU second: the exact sampler against the paper's, from the same state.

With the paper's prior of who is whom usernames are modelled nearly as in the paper, closed and seldom distorted; under
the weaker default priors of rates almost everybody would be linked. With the default prior they are as by default.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

import tielink as tl
from benchmarks.pinned import youtube_twitter
from tielink.model.linkage_priors import MatchRate, Uniform
from tielink.model.network import LatentSpace
from tielink.model.spec import Model
from tielink.posterior.convergence import effective_draws
from tielink.project import Run
from tielink.run.chain import Chain
from tielink.run.job import Job

TITLE = "Effective draws of N per CPU second in a latent space (K = 4)"
CASES = ((Uniform(), tl.String(vocabulary="closed", distortion=tl.Beta(1.0, 99.0))), (MatchRate(), tl.String()))
COLUMNS = ("data", "prior", "sampler", "sweeps", "mean N", "sd N", "effective draws", "per CPU second", "exact / paper")


def run(chain: Chain, warmup: int, sweeps: int) -> tuple[np.ndarray, float]:
    """Return N of every sweep after warm-up, and the CPU seconds they took."""
    for sweep in range(warmup):
        chain.advance(sweep)
    numbers = np.empty(sweeps)
    begin = time.process_time()
    for sweep in range(sweeps):
        chain.advance(None)
        numbers[sweep] = chain.persons
    return numbers, time.process_time() - begin


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each prior and sampler; two chains each, as one."""
    name, data = youtube_twitter()
    for prior, username in CASES:
        model = Model(network=LatentSpace(4), linkage=prior, fields={"username": username})
        rates = {}
        for sampler, warmup, sweeps in (("exact", 300, 1000), ("paper", 1000, 8000)):
            chains, seconds = [], 0.0
            for seed in (1, 2):
                exact = Chain(Job.make(model, data, Run(seed=seed)), 0)
                for sweep in range(300):
                    exact.advance(sweep)
                chain = exact
                if sampler == "paper":
                    # The same state as the exact chain reached: the comparison is about mixing, not about starts.
                    chain = Chain(Job.make(model, data, Run(sampler="paper", seed=seed)), 0)
                    chain.state, chain.profile_state = exact.state, exact.profile_state
                    chain.network.layout = exact.network.layout
                    chain.revalue()
                    chain.network.remember()
                numbers, used = run(chain, warmup, sweeps)
                chains.append(numbers)
                seconds += used
            numbers = np.array(chains)
            moved = bool(np.ptp(numbers))
            effective = effective_draws(numbers) if moved else 0.0
            rates[sampler] = effective / seconds
            ratio = (
                "" if sampler == "exact" else f"{rates['exact'] / rates['paper']:.1f}×" if moved else "N never moved"
            )
            yield (
                name, type(prior).__name__, sampler, f"2 × {sweeps:,}", f"{numbers.mean():.1f}", f"{numbers.std():.2f}",
                f"{effective:.0f}", f"{rates[sampler]:.2f}", ratio,
            )  # fmt: skip
