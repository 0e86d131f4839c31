"""Can the draws be trusted? Numbers, and the same in plain words with what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tielink.posterior.convergence import effective_draws, rhat
from tielink.posterior.modes import find_modes

if TYPE_CHECKING:
    from tielink.posterior.posterior import Posterior

__all__ = ["Diagnosis", "diagnose"]

RHAT_LIMIT = 1.05
ESS_PER_CHAIN = 50
MOST_PAIRS = 200
"""Match probabilities that are checked one by one: those nearest to a coin toss matter most."""


WORDS = {"correlation": "correlation log φ", "sociality_sd": "sociality τ", "activity": "activity α"}


@dataclass(frozen=True)
class Diagnosis:
    """Convergence figures by quantity, acceptance by move, and warnings with advice."""

    rhat: dict[str, float]
    ess: dict[str, float]
    acceptance: dict[str, float]
    warnings: tuple[str, ...]
    chain_means: tuple[float, ...]
    """Mean number of persons in each chain."""

    @property
    def converged(self) -> bool:
        """Whether nothing speaks against trusting the draws."""
        return not self.warnings

    def __str__(self) -> str:
        lines = [f"{'quantity':<29}{'R-hat':>8}{'effective draws':>18}"]
        lines += [f"  {name:<27}{self.rhat[name]:>8.3f}{self.ess[name]:>18,.0f}" for name in self.rhat]
        if self.acceptance:
            rates = ", ".join(f"{name} {rate:.1%}" for name, rate in self.acceptance.items())
            lines.append(f"Accepted moves: {rates}.")
        if self.converged:
            lines.append("The chains agree and have enough effective draws.")
        lines += [f"Warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)


def _pair_series(posterior: Posterior) -> list[NDArray[np.bool_]]:
    """Return chains × draws indicators of the pairs whose probability is most in doubt."""
    found = posterior.pair_probabilities
    doubt = np.minimum(found.probability, 1 - found.probability)
    chosen = np.flatnonzero(doubt > 0.01)
    chosen = chosen[np.argsort(-doubt[chosen], kind="stable")][:MOST_PAIRS]
    return [posterior.person[:, :, a] == posterior.person[:, :, b] for a, b in found.pairs[chosen]]


def diagnose(posterior: Posterior) -> Diagnosis:
    """Compute R-hat and effective draws of N, the log-likelihood, parameters and match probabilities."""
    series = {"persons N": posterior.number_of_persons, "log-likelihood": posterior.log_likelihood}
    for file, name in enumerate(posterior.records.files[: posterior.intercepts.shape[-1]]):
        series[f"intercept of {name}"] = posterior.intercepts[:, :, file]
    if posterior.spread.size:
        series["spread"] = posterior.spread
    for name, values in posterior.beyond.items():
        series[WORDS[name]] = values
    series |= {f"prior's {name}": values for name, values in posterior.prior.items()}
    for place, name in enumerate(posterior.rates):
        series[f"distortion of {name}"] = posterior.distortion[:, :, place]
    if posterior.careless_share.size:
        series["share of careless records"] = posterior.careless_share
    rhats = {name: rhat(values) for name, values in series.items()}
    ess = {name: effective_draws(values) for name, values in series.items()}
    pairs = _pair_series(posterior)
    if pairs:
        name = "match probabilities, worst"
        rhats[name] = max(_pair_rhat(values) for values in pairs)
        ess[name] = min(effective_draws(values, rank_normalise=False) for values in pairs)
    proposed, accepted = posterior.proposed.sum(axis=0), posterior.accepted.sum(axis=0)
    acceptance = {
        move: accepted[place] / proposed[place] for place, move in enumerate(posterior.moves) if proposed[place]
    }
    means = tuple(float(mean) for mean in posterior.number_of_persons.mean(axis=1))
    return Diagnosis(rhats, ess, acceptance, tuple(_warnings(posterior, rhats, ess, means)), means)


def _pair_rhat(values: NDArray[np.bool_]) -> float:
    """Return the split R-hat of an indicator; ranks add nothing to two values."""
    return rhat(values) if np.ptp(values.mean(axis=1)) > 0 or values.shape[0] == 1 else 1.0


def _warnings(
    posterior: Posterior, rhats: dict[str, float], ess: dict[str, float], means: tuple[float, ...]
) -> list[str]:
    said = list(posterior.notes)
    if posterior.chains == 1:
        said.append("one chain cannot disagree with itself: run at least two, better four (chains=4).")
    if posterior.draws_per_chain < 100:
        said.append(f"only {posterior.draws_per_chain} draws a chain: the figures above are rough (draws=1000).")
    if rhats["persons N"] > RHAT_LIMIT:
        spread = ", ".join(f"{mean:,.1f}" for mean in means)
        said.append(
            f"the chains do not agree on the number of persons (R-hat {rhats['persons N']:.2f}; chain means {spread}). "
            "They sit in different modes: probabilities average over modes as chains happened to find them. "
            "Add anchors if you can, run more chains or a longer warm-up, and do not trust single links."
        )
    modes = find_modes(posterior)
    if len(modes) > 1:
        shares = ", ".join(f"{mode.weight:.0%}" for mode in modes)
        said.append(
            f"the chains link differently: {len(modes)} groups of chains ({shares} of them) hardly share a link. "
            "See posterior.modes()."
        )
    others = [name for name, value in rhats.items() if value > RHAT_LIMIT and name != "persons N"]
    if others:
        said.append(f"R-hat is above {RHAT_LIMIT} for {', '.join(others)}: run longer (more warm-up and draws).")
    wanted = ESS_PER_CHAIN * posterior.chains
    few = [f"{name} ({value:,.0f})" for name, value in ess.items() if value < wanted]
    if few:
        said.append(f"fewer than {wanted} effective draws of {', '.join(few)}: Monte Carlo error is large; run longer.")
    return said
