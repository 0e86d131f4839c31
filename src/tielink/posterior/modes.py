"""Which chains tell the same story: groups of chains whose match probabilities agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csgraph

from tielink.posterior.pairs import pair_probabilities

if TYPE_CHECKING:
    from tielink.posterior.posterior import Posterior

__all__ = ["Mode", "find_modes"]

ALIKE = 0.5


@dataclass(frozen=True)
class Mode:
    """Chains that link alike.

    The weight is the share of chains: how often the search ended here, which estimates the posterior weight of the
    mode only as far as chains find modes in proportion to it.
    """

    chains: tuple[int, ...]
    weight: float
    persons: float
    """Mean number of persons."""
    log_likelihood: float
    """Mean log-likelihood; not comparable between modes with different numbers of persons."""


def find_modes(posterior: Posterior) -> list[Mode]:
    """Group chains by the similarity Σ p·q / √(Σ p²·Σ q²) of their match probabilities, anchors left out."""
    known = {tuple(pair) for pair in posterior.anchors.tolist()}
    chains = []
    for person in posterior.person:
        found = pair_probabilities(person[None])
        pairs = zip(map(tuple, found.pairs.tolist()), found.probability.tolist(), strict=True)
        chains.append({pair: value for pair, value in pairs if pair not in known})
    alike = np.array([[_similarity(p, q) >= ALIKE for q in chains] for p in chains])
    _, group = csgraph.connected_components(alike, directed=False)
    modes = []
    for label in range(int(group.max()) + 1):
        members = np.flatnonzero(group == label)
        modes.append(
            Mode(
                chains=tuple(int(chain) for chain in members),
                weight=len(members) / len(chains),
                persons=float(posterior.number_of_persons[members].mean()),
                log_likelihood=float(posterior.log_likelihood[members].mean()),
            )
        )
    return sorted(modes, key=lambda mode: (-mode.weight, mode.chains))


def _similarity(p: dict[tuple[int, ...], float], q: dict[tuple[int, ...], float]) -> float:
    norm = np.sqrt(sum(value**2 for value in p.values()) * sum(value**2 for value in q.values()))
    if norm == 0:
        return 1.0 if not p and not q else 0.0
    return float(sum(value * q.get(pair, 0.0) for pair, value in p.items()) / norm)
