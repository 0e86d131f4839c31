"""What a sweep costs with ties beyond positions, and without: an option that is off is not in the compiled kernels.

Networks only, K = 2. The columns take turns within one process, and of ten turns each the fastest counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from benchmarks.pinned import made
from tielink.model.network import LatentSpace
from tielink.model.spec import Model
from tielink.project import Run
from tielink.run.chain import Chain
from tielink.run.job import Job

TITLE = "Options: CPU milliseconds a sweep"
OPTIONS = {
    "none": {},
    "correlated ties": {"tie_correlation": True},
    "sociality": {"sociality": True},
    "both": {"tie_correlation": True, "sociality": True},
}
COLUMNS = ("data", *OPTIONS)
TURNS = 10


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each size."""
    for size, sweeps in ((60, 40), (200, 10)):
        data = made(size, size, size // 2)
        chains = []
        for settings in OPTIONS.values():
            model = Model(network=replace(LatentSpace(2), **settings), fields={})
            chains.append(Chain(Job.make(model, data, Run()), 0))
            for sweep in range(50):
                chains[-1].advance(sweep)
        best = [float("inf")] * len(chains)
        for _ in range(TURNS):
            for place, chain in enumerate(chains):
                begin = time.process_time()
                for _ in range(sweeps):
                    chain.advance(None)
                best[place] = min(best[place], (time.process_time() - begin) / sweeps * 1e3)
        yield f"made, {size} + {size}", *(f"{value:.2f}" for value in best)
