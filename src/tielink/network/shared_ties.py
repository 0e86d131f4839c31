"""Shared ties as a part of a chain: rates from degrees, the share ρ of common ties, candidates that ties lead to.

See `sampler.ties` for the model. In warm-up the evidence of ties comes in slowly, and pairs that linked neighbours lead
to join the lists of candidates; lists and power stay as they are once draws are kept.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Floats
from tielink.channels.slice_sampling import slice_draw
from tielink.model.problem import SharedTiesProblem
from tielink.network.part import Arrays, NetworkPart
from tielink.sampler.reached import reached_pairs
from tielink.sampler.ties import Ties, log_shared, make_ties, sum_up

if TYPE_CHECKING:
    from tielink.run.chain import Chain

__all__ = ["SharedTiesPart", "fit_rates"]

LARGEST = 6.0
"""A record's θ times the median θ is at most this: then it is tied to nearly everybody."""
FIT_STEPS = 200
SHARING = 0.6
"""ρ to begin with."""
LED_TO = 12
"""Candidates that ties may give a record each time they are looked for."""
SEARCH_EVERY = 0.1
"""They are looked for whenever this share of warm-up is done, until it is over."""
RISE = 0.5
"""The share of warm-up in which the power of ties rises from 0; without fields, in which links may grow."""
OPTIMISM = 0.5
"""Links that may grow cost this share of log n each, n being the number of records they could go to."""


class SharedTiesPart(NetworkPart):
    """Ties, their power, and ρ."""

    moves: ClassVar[tuple[str, ...]] = ("sharing",)

    def __init__(self, chain: Chain, power: float) -> None:
        super().__init__(chain)
        problem = chain.problem
        assert isinstance(problem.network, SharedTiesProblem)
        self.prior = problem.network.sharing
        self.power = power
        self.ties = compile_ties(problem.sizes, problem.network.ties)
        self.ties.rho[0] = self.prior if isinstance(self.prior, float) else SHARING
        self.ties.power[0] = power
        self.by_matches = chain.rules.log_by_matches.copy()

    def take_sharing(self, share: float) -> None:
        """Take over ρ of an earlier run."""
        if not isinstance(self.prior, float):
            self.ties.rho[0] = np.clip(share, 1e-6, 1 - 1e-6)

    @property
    def _rise(self) -> float:
        """The number of sweeps in which the power rises: none for a chain that goes on from an earlier run."""
        return 0.0 if self.chain.job.start is not None else RISE * self.chain.job.run.warmup

    def prepare(self, warmup_sweep: int | None) -> None:
        """In warm-up, raise the power and look for candidates."""
        chain, warmup = self.chain, self.chain.job.run.warmup
        if warmup_sweep is None or not warmup:
            return
        risen = min(1.0, (warmup_sweep + 1) / max(self._rise, 1))
        if chain.profiles.fields:
            self.ties.power[0] = risen * self.power
        else:
            self.ties.power[0] = self.power
            self._be_optimistic(risen < 1)
        sum_up(chain.state, chain.rules, self.ties)
        if warmup_sweep % max(1, round(SEARCH_EVERY * warmup)) == 0:
            chain.add_candidates(reached_pairs(chain.state, chain.rules, self.ties, LED_TO))

    def _be_optimistic(self, now: bool) -> None:
        """From known matches alone, links must be allowed to grow at first: make them cheap."""
        by_matches = self.chain.rules.log_by_matches
        steps = -OPTIMISM * np.arange(len(by_matches)) * math.log(max(self.chain.problem.sizes))
        by_matches[:] = steps if now else self.by_matches

    def advance(self, warmup_sweep: int | None) -> Arrays:
        """Draw ρ, once the power has risen."""
        if isinstance(self.prior, float) or (warmup_sweep is not None and warmup_sweep < self._rise):
            return {"sharing": np.zeros(2, dtype=np.int64)}
        prior, ties, chain = self.prior, self.ties, self.chain

        def log_density(rho: float) -> float:
            ties.rho[0] = rho
            log_prior = (prior.a - 1) * math.log(rho) + (prior.b - 1) * math.log1p(-rho)
            return float(log_prior + ties.power[0] * log_shared(chain.state, chain.rules, ties))

        ties.rho[0] = slice_draw(chain.rng, float(ties.rho[0]), log_density)
        return {"sharing": np.array([1, 1])}

    def log_likelihood(self) -> float:
        """Return what shared ties add to the log-likelihood of networks that have nothing in common."""
        return float(self.ties.power[0] * log_shared(self.chain.state, self.chain.rules, self.ties))

    def series(self) -> dict[str, Any]:
        """Return ρ."""
        return {"sharing": self.ties.rho[0]}

    def arrays(self) -> Arrays:
        """Return ρ, the power, and the prior that may be set aside for a while."""
        return {"sharing": self.ties.rho, "power": self.ties.power, "by_matches": self.chain.rules.log_by_matches}


def fit_rates(degrees: NDArray[np.int64]) -> Floats:
    """Return θ of every record of a file, so that Σ_{i'} (1 − e^{−θ_i θ_i'}) is its degree (at least one half).

    One θ for each different degree, by damped proportional fitting.

    >>> theta = fit_rates(np.array([1, 1, 2, 2, 2]))
    >>> tied = 1 - np.exp(-np.outer(theta, theta))
    >>> (tied.sum(axis=1) - tied.diagonal()).round(3)
    array([1., 1., 2., 2., 2.])
    """
    different, place, count = np.unique(degrees, return_inverse=True, return_counts=True)
    wanted = np.maximum(different, 0.5)
    theta = wanted / np.sqrt(max(float(wanted @ count), 1.0))
    for _ in range(FIT_STEPS):
        expected = -np.expm1(-np.outer(theta, theta))
        total = np.maximum(expected @ count - expected.diagonal(), 1e-300)
        theta = theta * np.sqrt(wanted / total)
        theta = np.minimum(theta, LARGEST / np.median(np.repeat(theta, count)))
    return np.asarray(theta[place])


def compile_ties(sizes: tuple[int, ...], ties: tuple[NDArray[np.int64] | None, ...]) -> Ties:
    """Return the ties of all files as kernels take them; `ties` are pairs of each file's own record numbers."""
    begins = np.concatenate([[0], np.cumsum(sizes)])
    theta = np.zeros(begins[-1])
    ends = [np.empty((0, 2), dtype=np.int64)]
    for file, (size, edges) in enumerate(zip(sizes, ties, strict=True)):
        if edges is not None and size:
            theta[begins[file] : begins[file + 1]] = fit_rates(np.bincount(edges.ravel(), minlength=size))
            ends += [edges + begins[file], edges[:, ::-1] + begins[file]]
    both = np.concatenate(ends)
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    begin = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=len(theta)))]).astype(np.int64)
    return make_ties(begin, np.ascontiguousarray(both[:, 1]), theta, len(sizes))
