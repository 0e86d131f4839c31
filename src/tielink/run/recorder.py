"""What is kept of a chain's draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tielink.posterior.dyads import DyadTally

if TYPE_CHECKING:
    from tielink.run.chain import Chain

__all__ = ["MOST_POSITIONS", "Recorder", "kept_draws"]

MOST_POSITIONS = 100
"""Draws of a chain whose positions are kept."""


CONDITIONAL = ("pairs", "chances")
SEGMENTS = 4
"""Parts of a chain over which conditional probabilities are summed up, for their Monte Carlo errors."""


def kept_draws(draws: int) -> NDArray[np.int64]:
    """Return the draws whose positions are kept: evenly spaced, the last included."""
    return np.unique(np.linspace(0, draws - 1, min(draws, MOST_POSITIONS)).round().astype(np.int64))


class Recorder:
    """Arrays for so many draws of a chain, filled one draw at a time."""

    def __init__(self, chain: Chain, draws: int) -> None:
        records = len(chain.job.records)
        self.count, self.draws = 0, draws
        self.kept = kept_draws(draws)
        self.counts = np.zeros((len(chain.moves), 2), dtype=np.int64)
        small = np.int16 if records <= np.iinfo(np.int16).max else np.int32
        self.arrays: dict[str, NDArray[Any]] = {
            "person": np.zeros((draws, records), dtype=small),
            "log_likelihood": np.zeros(draws),
            "distortion": np.zeros((draws, len(chain.profile_state.rates))),
            "careless": np.zeros((draws, len(chain.profile_state.careless)), dtype=bool),
            "careless_share": np.zeros(draws),
        }
        self.arrays |= {name: np.zeros((draws, *np.shape(value))) for name, value in chain.series().items()}
        for name, value in chain.network.layouts().items():
            self.arrays[name] = np.zeros((len(self.kept), *value.shape), dtype=np.float32)
        for place, values in enumerate(chain.profile_state.fields):
            self.arrays[f"fields.{place}"] = np.zeros((draws, len(values)), dtype=np.float32)
        dyads = chain.network.dyads
        self.logs = np.zeros(dyads)
        self.tally = DyadTally(dyads, chain.job.loo_tail) if dyads else None
        if self.tally is not None:
            self.arrays |= {f"dyads.{name}": array for name, array in self.tally.arrays.items()}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take over the draws of a checkpoint."""
        for name, array in self.arrays.items():
            array[...] = arrays[name]
        self.arrays |= {name: arrays[name] for name in CONDITIONAL if name in arrays}

    def _add_conditional(self, chain: Chain, draw: int) -> None:
        """Add the conditional probabilities of this draw to its segment of the chain."""
        chances = chain.conditional_probabilities()
        if chances is None:
            return
        if draw == 0:
            self.arrays["pairs"] = chain.listed.pairs.copy()
            self.arrays["chances"] = np.zeros((SEGMENTS, len(chances)))
        self.arrays["chances"][draw * SEGMENTS // self.draws] += chances

    def record(self, chain: Chain) -> None:
        """Keep the current state as the next draw."""
        draw, arrays = self.count, self.arrays
        self._add_conditional(chain, draw)
        arrays["person"][draw] = chain.person()
        arrays["log_likelihood"][draw] = chain.log_likelihood()
        arrays["distortion"][draw] = chain.profile_state.rates
        arrays["careless"][draw] = chain.profile_state.careless
        arrays["careless_share"][draw] = chain.profile_state.share
        for name, value in chain.series().items():
            arrays[name][draw] = value
        slot = int(np.searchsorted(self.kept, draw))
        if slot < len(self.kept) and self.kept[slot] == draw:
            for name, value in chain.network.layouts().items():
                arrays[name][slot] = value
        for place, values in enumerate(chain.profile_state.fields):
            arrays[f"fields.{place}"][draw] = values
        if self.tally is not None:
            chain.network.dyad_log_likelihoods(self.logs)
            self.tally.add(self.logs, draw)
        self.count += 1
