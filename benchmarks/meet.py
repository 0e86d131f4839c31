"""Whether chains in a latent space find their posterior: started at the truth, at profiles, and by default.

`MatchRate(1, 1)`, K = 2, no anchors, two chains of each kind. *Profiles* is a draw of the linkage by profiles alone,
with positions fitted to it and nothing held; *default* is what `tl.sample` does. Correlations are between the
probabilities of all pairs, over both chains; *within* is that between the two default chains. The truth is used for
starts and scores only. Needs `TIELINK_DATA` for real data.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from reproduce.fits import FIELDS
from reproduce.folders import read

import tielink as tl
from benchmarks.fits import data_folder
from tielink.posterior.convergence import rhat
from tielink.project import Run
from tielink.run.chain import Chain
from tielink.run.job import Job
from tielink.sampler.partition import join
from tielink.simulate import scenario

TITLE = "Chains that meet: pair probabilities from three kinds of starts in a latent space"
COLUMNS = (
    "data", "sweeps", "default and truth", "profiles and truth", "within default", "average precision, default / truth",
    "F₁, default", "mean N, default / truth", "R-hat of N, default", "CPU seconds a chain",
)  # fmt: skip
FOLDERS = {"aucs_work_lunch": 1000, "aucs_facebook_lunch": 1000, "pkdd12": 200, "citeseer": 100}
SEEDS = (1, 2)


class Met(NamedTuple):
    """Pair probabilities by chain, N by chain and draw, and CPU seconds."""

    probability: np.ndarray
    persons: np.ndarray
    seconds: float


def at_truth(chain: Chain, truth: tl.Linkage) -> None:
    """Link the true pairs and fit positions to them."""
    for a, b in truth.pair_numbers.tolist():
        join(chain.state, chain.rules, chain.state.label[b], chain.state.label[a], 0.0)
    chain.revalue()
    chain.network.begin()


def run(job: Job, truth: tl.Linkage, start: str, seed: int, sweeps: int) -> tuple[np.ndarray, np.ndarray]:
    """Run one chain; return the probability of every pair, and N of every draw."""
    chain = Chain(job, seed)
    if start == "truth":
        at_truth(chain, truth)
    else:
        chain.begin()
    if start != "default":
        chain.network.holds_rates = lambda warmup_sweep: False  # type: ignore[method-assign]
    for sweep in range(sweeps):
        chain.advance(sweep)
    first, second = chain.problem.sizes
    together, persons = np.zeros((first, second)), np.empty(sweeps)
    for draw in range(sweeps):
        chain.advance(None)
        pairs = chain.state.member[chain.state.size == 2]
        together[pairs[:, 0], pairs[:, 1] - first] += 1 / sweeps
        persons[draw] = chain.persons
    return together.ravel(), persons


def meet(data: tl.Dataset, truth: tl.Linkage, start: str, sweeps: int) -> Met:
    """Run a chain for every seed."""
    model = tl.Model(network=tl.LatentSpace(2))
    begin = time.process_time()
    job = Job.make(model, data, Run(seed=1, warmup=sweeps))
    found = [run(job, truth, start, seed, sweeps) for seed in SEEDS]
    seconds = (time.process_time() - begin) / len(SEEDS)
    return Met(np.array([p for p, _ in found]), np.array([n for _, n in found]), seconds)


def row(name: str, data: tl.Dataset, truth: tl.Linkage, sweeps: int) -> tuple[object, ...]:
    """Return the row of a data set."""
    met = {start: meet(data, truth, start, sweeps) for start in ("default", "truth", "profiles")}
    mean = {start: one.probability.mean(axis=0) for start, one in met.items()}
    hit = np.zeros(data.records.sizes, dtype=bool)
    hit[truth.pair_numbers[:, 0], truth.pair_numbers[:, 1] - data.records.sizes[0]] = True

    def together(one: np.ndarray, other: np.ndarray) -> str:
        return f"{np.corrcoef(one, other)[0, 1]:.3f}"

    def precision(probability: np.ndarray) -> float:
        right = hit.ravel()[np.argsort(-probability, kind="stable")]
        return float((np.cumsum(right) / np.arange(1, right.size + 1) * right).sum() / right.sum())

    links = mean["default"] > 0.5
    default, true = met["default"], met["truth"]
    return (
        name, f"2 × {sweeps} + {sweeps}", together(mean["default"], mean["truth"]),
        together(mean["profiles"], mean["truth"]), together(*default.probability),
        f"{precision(mean['default']):.3f} / {precision(mean['truth']):.3f}",
        f"{2 * (links & hit.ravel()).sum() / max(links.sum() + hit.sum(), 1):.3f}",
        f"{default.persons.mean():.1f} / {true.persons.mean():.1f}", f"{rhat(default.persons):.2f}",
        f"{default.seconds:.0f}",
    )  # fmt: skip


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each data set: made ones of the model first."""
    model = tl.Model(network=tl.LatentSpace(2))
    places = {"place": list("ABCDEF"), "role": list("wxyz")}
    made = scenario(
        np.random.default_rng(7), model, {"a": 50, "b": 60}, overlap=40, density=0.17, spread=25.0, vocabularies=places
    )
    yield row("made, 50 + 60", made.dataset, made.truth, 500)
    root = data_folder()
    for folder, sweeps in FOLDERS.items() if root is not None else ():
        found = read(root / folder, FIELDS[folder])
        yield row(folder, found.dataset, found.truth, sweeps)
