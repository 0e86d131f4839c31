"""What a sweep costs, and how that grows with the number of records and of dimensions."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator

from benchmarks.pinned import made, youtube_twitter
from tielink.data.dataset import Dataset
from tielink.model.spec import Model
from tielink.project import Run
from tielink.run.chain import Chain
from tielink.run.job import Job

TITLE = "Sweeps: CPU milliseconds, profile updates included"
COLUMNS = ("data", "K", "paper", "exact", "peak memory so far, MB")


def cost(model: Model, data: Dataset, sampler: str, warmup: int, sweeps: int) -> float:
    """Return CPU milliseconds a sweep after warm-up, when steps are tuned and positions have settled."""
    chain = Chain(Job.make(model, data, Run(sampler=sampler)), 0)
    if sampler == "paper":
        chain.begin()
    for sweep in range(warmup):
        chain.advance(sweep)
    begin = time.process_time()
    for _ in range(sweeps):
        chain.advance(None)
    return (time.process_time() - begin) / sweeps * 1e3


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each size and dimension."""
    for label, dataset, dimension in _cases():
        model = Model.paper(dimension)
        paper, exact = cost(model, dataset, "paper", 400, 200), cost(model, dataset, "exact", 50, 40)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield label, dimension, f"{paper:.2f}", f"{exact:.1f}", f"{peak:.0f}"


def _cases() -> Iterator[tuple[str, Dataset, int]]:
    """Yield data one after the other, so that the memory of later ones does not count for earlier ones."""
    name, data = youtube_twitter()
    yield from ((name, data, dimension) for dimension in (2, 4, 8))
    for size in (50, 100, 200, 400):
        yield f"made, {size} + {2 * size}", made(size, 2 * size, size // 4), 4
