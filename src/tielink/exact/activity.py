"""The activity part of a chain: alpha, and the linkage prior that it gives.

Given alpha, log p(xi) is a function of the number m of free matches plus alpha (z_a + z_b) for each of them. The first
goes into `Target.log_prior`, the second into `Target.log_bf`, so that no move needs to know of it.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tielink.exact.row import exp_negative, log1p_unit
from tielink.exact.state import Info, State
from tielink.exact.target import Target
from tielink.model.activity import ActivityProblem, log_binomials

# Stands for the logarithm of 0: differences of two of them are 0, not NaN.
_NOTHING = -1e30


class ActivityState(NamedTuple):
    """alpha, and the step of its walk."""

    alpha: NDArray[np.float64]
    step: NDArray[np.float64]


# An array may not be read and written in one loop, or nothing is vectorised.
@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def _add_weight(before, weight, after):
    for k in range(1, before.size):
        with_it, without = before[k - 1] + weight, before[k]
        after[k] = max(with_it, without) + log1p_unit(exp_negative(-abs(with_it - without)))


@njit(cache=True)
def log_elementary(log_weights, most):
    """log e_k(w), k = 0..most: e_k gains w_i e_(k-1) with every weight; in logarithms, O(n most)."""
    before, after = np.full(most + 1, _NOTHING), np.full(most + 1, _NOTHING)
    before[0] = after[0] = 0.0
    for i in range(log_weights.size):
        _add_weight(before, log_weights[i], after)
        before, after = after, before
    return before


class Activity:
    """The activity prior of two files, compiled for repeated evaluation."""

    def __init__(self, problem: ActivityProblem, log_by_matches: NDArray[np.float64]) -> None:
        self.problem = problem
        self._counted = [scores[who] for scores, who in zip(problem.scores, problem.counted, strict=True)]
        self._most = min(len(scores) for scores in self._counted)
        self._even = sum(log_binomials(len(scores), self._most) for scores in self._counted)
        self._log_by_matches = log_by_matches

    def start(self) -> ActivityState:
        """Degrees say nothing."""
        return ActivityState(np.zeros(1), np.full(1, 0.3))

    def log_prior(self, alpha: float) -> NDArray[np.float64]:
        """log p(xi) for m = 0, 1, … free matches, less the alpha (z_a + z_b) of each: what `Target.log_prior` holds."""
        uneven = sum(log_elementary(alpha * scores, self._most) for scores in self._counted)
        change = (self._even - uneven)[self.problem.anchors :] + alpha * self.problem.anchor_score
        return np.asarray(self._log_by_matches + change)

    def weigh(self, state: ActivityState, target: Target) -> None:
        """Add alpha (z_a + z_b) to every pair's Bayes factor, freshly computed from profiles."""
        first, second = self.problem.scores
        target.log_bf[...] += state.alpha[0] * (first[:, None] + second[None, :])

    def linked_score(self, state: State, target: Target) -> float:
        """The sum of z_a + z_b over free links."""
        linked = np.flatnonzero((state.partner_a >= 0) & (target.anchor_a < 0))
        return float(self.problem.scores[0][linked].sum() + self.problem.scores[1][state.partner_a[linked]].sum())

    def update(self, rng: np.random.Generator, own: ActivityState, state: State, target: Target) -> Info:
        """One random-walk step of alpha; an accepted one renews `target.log_prior`, and the caller weighs anew."""
        old = float(own.alpha[0])
        new = old + float(own.step[0]) * rng.standard_normal()
        proposal = self.log_prior(new)
        matched = int(state.matched[0])
        log_ratio = 0.5 * (old * old - new * new) / self.problem.sd**2
        log_ratio += proposal[matched] - target.log_prior[matched] + (new - old) * self.linked_score(state, target)
        if math.log(rng.random()) >= log_ratio:
            return Info(1, 0)
        own.alpha[0] = new
        target.log_prior[...] = proposal
        return Info(1, 1)
