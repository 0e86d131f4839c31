"""What the ties of two records say in a latent space, everybody else standing where a draw says."""

import numpy as np
from numpy.typing import NDArray

from tielink.model.problem import LatentSpaceProblem, Problem
from tielink.network.latent_space.proposal import particle_evidence
from tielink.network.latent_space.space import Latent, Layout, make_space, make_tuning
from tielink.posterior.posterior import Posterior

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
            np.ascontiguousarray(positions.T),
            np.ascontiguousarray(self.posterior.intercepts[chain, draw], dtype=float),
            np.array([float(self.posterior.spread[chain, draw])]),
        )
        latent = Latent(layout, self.space, make_tuning(self.space))
        a, b = groups
        both = np.concatenate([a, b])
        # The same random numbers for all three, so that their difference is less noisy. Dyads between the two groups
        # are counted once, with the first.
        together, first, second = (
            particle_evidence(np.random.default_rng(seed), members, len(inside), np.empty(0), PARTICLES, latent)[0]
            for members, inside in ((both, both), (a, a), (np.concatenate([b, a]), b))
        )
        return float(together - first - second)
