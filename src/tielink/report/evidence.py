"""Why each pair is, or is not, linked: explanations of many pairs, within what a reader will wait for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.data.scores import pair_keys
from tielink.explanation.explain import Explanation, explain_pairs
from tielink.faults import InputError
from tielink.posterior.posterior import Posterior

__all__ = ["Evidence", "gather_evidence"]

DRAWS = 40
"""Draws behind each explanation: enough for log-odds to a tenth or so."""
MOST, LEAST, WORK = 2_000, 100, 10_000_000
"""At most and at least so many pairs are explained; between them, as many as keep pairs × records below the last."""


@dataclass(frozen=True)
class Evidence:
    """Explanations by pair of record numbers, and which pairs have none, and why."""

    explanations: dict[tuple[int, int], Explanation]
    left_out: str = ""
    """Why some pairs have no explanation; empty when all have one (anchors, which are given, aside)."""

    def get(self, pair: tuple[int, int]) -> Explanation | None:
        """Return the explanation of a pair, or None."""
        return self.explanations.get(pair)


def gather_evidence(
    posterior: Posterior, data: Dataset, pairs: NDArray[np.int64], probability: NDArray[np.float64], seed: int = 0
) -> Evidence:
    """Explain pairs of record numbers, those most in doubt first, up to what is affordable; anchors need none."""
    free = ~np.isin(pair_keys(pairs), pair_keys(posterior.anchors))
    pairs, probability = pairs[free], probability[free]
    most = max(LEAST, min(MOST, WORK // len(posterior.records)))
    doubt = np.lexsort((pairs[:, 1], pairs[:, 0], np.abs(probability - 0.5)))[:most]
    chosen = [(int(a), int(b)) for a, b in pairs[doubt]]
    if not chosen:
        return Evidence({})
    try:
        found = explain_pairs(posterior, chosen, data, draws=DRAWS, seed=seed)
    except InputError as error:
        return Evidence({}, f"Pairs are not taken apart here: {error.faults[0].what}")
    left_out = ""
    if len(pairs) > most:
        left_out = f"The {most:,} pairs most in doubt are explained; the other {len(pairs) - most:,} are surer."
    return Evidence(dict(zip(chosen, found, strict=True)), left_out)
