"""Accuracy on data of the model, from starts that search for modes: 60 + 60 records, 40 shared, network only.

Anchors are not counted; links are pairs with probability above one half over all chains together. No chain is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tielink as tl
from tielink.posterior.pairs import pair_probabilities
from tielink.simulate import scenario

TITLE = "Modes: F₁ on data of the model (60 + 60 records, 40 shared, K = 2, σ = 10, density 0.17, Uniform prior)"
COLUMNS = ("anchors", "seeds", "mean F₁", "standard error", "by seed", "runs whose chains agree on N (R-hat < 1.05)")
SEEDS = range(300, 310)
"""Never used for any choice in the sampler."""


def f1(person: np.ndarray, truth: tl.Linkage, anchors: np.ndarray) -> float:
    """Return F₁ of pairs above one half, anchors left out."""
    found = pair_probabilities(person)
    known = {tuple(pair) for pair in anchors.tolist()}
    links = {tuple(p) for p, q in zip(found.pairs.tolist(), found.probability, strict=True) if q > 0.5} - known
    true = {tuple(pair) for pair in truth.pair_numbers.tolist()} - known
    return 2 * len(links & true) / max(len(links) + len(true), 1)


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each share of anchors, and for no anchors the modes of every seed."""
    model = tl.Model(network=tl.LatentSpace(2), linkage=tl.Uniform(), fields={})
    for share in (0.3, 0.1, 0.0):
        scores, agree, details = [], 0, []
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            drawn = scenario(
                rng, model, {"a": 60, "b": 60}, overlap=40, density=0.17, spread=100.0, anchors=share, vocabularies={}
            )
            posterior = tl.sample(model, drawn.dataset, warmup=400, draws=400, seed=seed)
            scores.append(f1(posterior.person, drawn.truth, posterior.anchors))
            agree += posterior.diagnose().rhat["persons N"] < 1.05
            modes = [
                f"{mode.weight:.0%}: {f1(posterior.person[list(mode.chains)], drawn.truth, posterior.anchors):.2f}"
                for mode in posterior.modes()
            ]
            details.append(f"{scores[-1]:.2f}" if share else f"{scores[-1]:.2f} ({'; '.join(modes)})")
        error = np.std(scores, ddof=1) / np.sqrt(len(scores))
        yield (
            f"{share:.0%}", f"{SEEDS.start}–{SEEDS.stop - 1}", f"{np.mean(scores):.3f}", f"{error:.3f}",
            ", ".join(details), f"{agree} of {len(scores)}",
        )  # fmt: skip
