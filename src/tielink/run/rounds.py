"""How long chains go on: for as many draws as were asked for, or in rounds until the last one can be trusted.

Each round is twice as long as the one before, which then counts as warm-up. A round ends after a number of sweeps that
is known beforehand, so that a run which ends by itself gives the same draws again, whatever stopped it in between.
"""

from __future__ import annotations

from typing import NamedTuple

from tielink.project import Run

__all__ = ["LEAST_DRAWS", "MOST_DRAWS", "Round", "nth_round"]

FIRST = 125
"""Draws of the first round."""
MOST_DRAWS = 1000
"""Draws that are kept of a round; longer ones are thinned."""
LEAST_DRAWS = 20
"""Draws that every chain makes even if its time is up."""


class Round(NamedTuple):
    """A stretch of a chain whose draws are kept."""

    before: int
    """Sweeps before it."""
    draws: int
    thin: int
    """Sweeps for each draw."""

    @property
    def end(self) -> int:
        """Sweeps from the beginning of the chain to the end of this round."""
        return self.before + self.draws * self.thin


def nth_round(run: Run, number: int) -> Round:
    """Return the round with this number, from 0; with a number of draws that is fixed there is only one.

    >>> nth_round(Run(warmup=100), 1), nth_round(Run(warmup=100), 4)
    (Round(before=225, draws=250, thin=1), Round(before=1975, draws=1000, thin=2))
    """
    if run.draws:
        return Round(run.warmup, run.draws, run.thin)
    sweeps = FIRST << number
    before = run.warmup + (sweeps - FIRST) * run.thin
    return Round(before, min(sweeps, MOST_DRAWS), run.thin * max(1, sweeps // MOST_DRAWS))
