"""Step sizes, adapted while warm-up lasts and left alone afterwards."""

import numpy as np
from numpy.typing import NDArray

from tielink.exact.activity import ActivityState
from tielink.exact.beyond import BeyondInfo
from tielink.exact.clusters.space import ClusterTuning
from tielink.exact.state import Tuning

_POSITION_GOAL = 0.35
_SCALAR_GOAL = 0.44


def _nudge(step: NDArray[np.float64], outcome: NDArray[np.float64], goal: float, rate: float) -> None:
    step *= np.exp(rate * (outcome - goal))
    np.clip(step, 1e-3, 1e3, out=step)


def _nudge_records(step: NDArray[np.float64], moved: NDArray[np.int8], goal: float, rate: float) -> None:
    seen = moved >= 0
    values = step[seen]
    _nudge(values, moved[seen].astype(np.float64), goal, rate)
    step[seen] = values


def adapt_beyond(tuning: Tuning, iteration: int, info: BeyondInfo) -> None:
    """The same for what goes beyond positions: log phi, every record's s, and both steps of log tau."""
    adapt_correlation(tuning, iteration, info.counts[0])
    adapt_sociality(tuning, iteration, info.moved_a, info.moved_b, info.counts[1:])


def adapt_correlation(tuning: Tuning | ClusterTuning, iteration: int, counts: NDArray[np.int64]) -> None:
    """The same for log phi."""
    proposed, accepted = counts
    if proposed > 0:
        _nudge(tuning.step_correlation, np.full(1, accepted / proposed), _SCALAR_GOAL, (iteration + 1.0) ** -0.6)


def adapt_sociality(
    tuning: Tuning | ClusterTuning,
    iteration: int,
    moved_a: NDArray[np.int8],
    moved_b: NDArray[np.int8],
    counts: NDArray[np.int64],
) -> None:
    """The same for every record's s and both steps of log tau; (proposed, accepted) of the moves of sociality."""
    rate = (iteration + 1.0) ** -0.6
    _nudge_records(tuning.step_sociality_a, moved_a, _SCALAR_GOAL, rate)
    _nudge_records(tuning.step_sociality_b, moved_b, _SCALAR_GOAL, rate)
    for step, (proposed, accepted) in zip(np.split(tuning.step_sociality_sd, 2), counts[1:3], strict=True):
        if proposed > 0:
            _nudge(step, np.full(1, accepted / proposed), _SCALAR_GOAL, rate)


def adapt_activity(state: ActivityState, iteration: int, accepted: int) -> None:
    """The same for alpha."""
    _nudge(state.step, np.full(1, float(accepted)), _SCALAR_GOAL, (iteration + 1.0) ** -0.6)


def adapt(
    tuning: Tuning,
    iteration: int,
    moved_a: NDArray[np.int8],
    moved_b: NDArray[np.int8],
    intercept: NDArray[np.int64],
    scale: NDArray[np.int64] | None = None,
) -> None:
    """
    Robbins-Monro on the log of every step after sweep number `iteration` (from 0) of warm-up.

    `moved_*` are the walk's outcomes per record; `intercept` and `scale` are (proposed, accepted) counts of the sweep.
    Call it in warm-up only: a chain that goes on adapting has no fixed target.
    """
    rate = (iteration + 1.0) ** -0.6
    for step, moved in ((tuning.step_a, moved_a), (tuning.step_b, moved_b)):
        _nudge_records(step, moved, _POSITION_GOAL, rate)
    for step, count in ((tuning.step_intercept, intercept), (tuning.step_scale, scale)):
        if count is not None and count[0] > 0:
            _nudge(step, np.full(step.size, count[1] / count[0]), _SCALAR_GOAL, rate)
