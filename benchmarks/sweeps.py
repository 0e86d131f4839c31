"""What a sweep costs, and how that grows with the number of records and of dimensions."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator

from benchmarks.pinned import made, youtube_twitter
from tielink.model.spec import Model
from tielink.project import Run
from tielink.run.chain import Chain
from tielink.run.job import Job

TITLE = "Sweeps: CPU milliseconds, profile updates included"
COLUMNS = ("data", "K", "paper", "exact", "peak memory so far, MB")


def cost(model: Model, data: object, sampler: str, sweeps: int) -> float:
    """Return CPU milliseconds a sweep after some warming up."""
    chain = Chain(Job.make(model, data, Run(sampler=sampler)), 0)  # type: ignore[arg-type]
    if sampler == "paper":
        chain.begin()
    for sweep in range(5):
        chain.advance(sweep)
    begin = time.process_time()
    for _ in range(sweeps):
        chain.advance(None)
    return (time.process_time() - begin) / sweeps * 1e3


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each size and dimension."""
    name, data = youtube_twitter()
    cases = [(name, data, dimension) for dimension in (2, 4, 8)]
    cases += [(f"made, {n} + {2 * n}", made(n, 2 * n, n // 4), 4) for n in (50, 100, 200, 400)]
    for label, dataset, dimension in cases:
        model = Model.paper(dimension)
        paper, exact = cost(model, dataset, "paper", 100), cost(model, dataset, "exact", 20)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield label, dimension, f"{paper:.2f}", f"{exact:.1f}", f"{peak:.0f}"
