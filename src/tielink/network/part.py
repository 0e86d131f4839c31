"""What a model of ties is to a chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tielink.sampler.moves.labels import gibbs_labels
from tielink.sampler.ties import no_ties

if TYPE_CHECKING:
    from tielink.run.chain import Chain

__all__ = ["Arrays", "NetworkPart"]

Arrays = dict[str, NDArray[Any]]


class NetworkPart:
    """No ties at all; models of ties override what they need.

    A part sees the chain that it belongs to, moves what is its own, and tells what to record of it.
    """

    moves: ClassVar[tuple[str, ...]] = ()
    dimension = dyads = 0
    partition_moves = True
    """Whether the moves of the partition that all chains share are made, too."""
    sweeps_before = 10
    """With fields: sweeps by profiles alone that a chain begins with."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.ties = no_ties(chain.problem.records, len(chain.problem.sizes))

    def begin(self) -> None:
        """Find a start; who is whom by profiles is already drawn."""

    def take_sharing(self, share: float) -> None:
        """Take over ρ of an earlier run, where there is one here."""

    def prepare(self, warmup_sweep: int | None) -> None:
        """Get ready for a sweep."""

    def holds_rates(self, warmup_sweep: int | None) -> bool:
        """Whether rates stay as they are in this sweep."""
        return False

    def redraw(self, plan: NDArray[np.int64]) -> NDArray[np.int64]:
        """Redraw the clusters of the planned units (see `sampler.moves.labels`); return (proposed, accepted)."""
        return self.chain.run(gibbs_labels, plan)

    def advance(self, warmup_sweep: int | None) -> Arrays:
        """Move what is its own; return (proposed, accepted) by move."""
        return {}

    def log_likelihood(self) -> float:
        """Return log p(ties | all else)."""
        return 0.0

    def dyad_log_likelihoods(self, out: NDArray[np.float64]) -> None:
        """Write log p(y_d) of every dyad of every network into `out`."""

    def series(self) -> dict[str, Any]:
        """Return what is recorded of every draw."""
        return {}

    def layouts(self) -> Arrays:
        """Return what is recorded of some draws: one row a record."""
        return {}

    def arrays(self) -> Arrays:
        """Return the arrays that change, themselves and no copies."""
        return {}
