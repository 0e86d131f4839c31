"""What the ties of two records say in a latent space, everybody else standing where a draw says."""

import math

import numpy as np
from numpy.typing import NDArray

from tielink.kernels import njit
from tielink.model.problem import LatentSpaceProblem, Problem
from tielink.network.latent_space.proposal import draw, fit_cluster, log_density
from tielink.network.latent_space.space import Layout, log_prior_density, make_space, record_row
from tielink.posterior.posterior import Posterior
from tielink.sampler.choice import choose

PARTICLES = 32


class PositionEvidence:
    """log Z_AB/(Z_A·Z_B) of two groups of records, draw by draw."""

    def __init__(self, problem: Problem, posterior: Posterior) -> None:
        assert isinstance(problem.network, LatentSpaceProblem)
        assert posterior.network is not None
        self.space = make_space(problem.sizes, problem.network)
        self.posterior, self.sample = posterior, posterior.network
        self.slot = {int(number): place for place, number in enumerate(self.sample.draws)}

    def gain(self, seed: list[int], chain: int, draw: int, groups: tuple[NDArray[np.int64], ...]) -> float:
        """Return the log ratio at a draw with positions."""
        positions = self.sample.positions[chain, self.slot[draw]].astype(float)
        layout = Layout(
            tuple(np.ascontiguousarray(x.T) for x in np.split(positions, self.space.offset[1:-1])),
            np.ascontiguousarray(self.posterior.intercepts[chain, draw], dtype=float),
            np.array([float(self.posterior.spread[chain, draw])]),
        )
        a, b = groups
        both = np.concatenate([a, b])
        # The same random numbers for all three, so that their difference is less noisy. Dyads between the two groups
        # are counted once, with the first.
        together, first, second = (
            _log_z(np.random.default_rng(seed), members, len(inside), layout, self.space)
            for members, inside in ((both, both), (a, a), (np.concatenate([b, a]), b))
        )
        return float(together - first - second)


@njit
def _log_z(rng, members, count, layout, space):
    """log Z of the first `count` members, dyads with all members left out."""
    proposal = fit_cluster(members, count, layout, space)
    log_weights = np.empty(PARTICLES)
    for r in range(PARTICLES):
        u = draw(rng, proposal, layout.spread[0])
        log_weights[r] = log_prior_density(u, layout.spread[0]) - log_density(u, proposal, layout.spread[0])
        for t in range(count):
            log_weights[r] += record_row(u, members[t], members, layout, space)
    return choose(rng, log_weights)[1] - math.log(PARTICLES)
