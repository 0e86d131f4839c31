"""Can the draws be trusted? Numbers, and the same in plain words with what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tielink.notebook import html_view
from tielink.posterior.convergence import effective_draws, rhat
from tielink.posterior.modes import find_modes
from tielink.posterior.pairs import undecided

if TYPE_CHECKING:
    from tielink.posterior.posterior import Posterior

__all__ = ["Diagnosis", "diagnose", "shown_rhat"]

RHAT_LIMIT, OTHERS_LIMIT = 1.05, 1.2
"""R-hat of the number of persons, and of parameters, which matter as far as links depend on them."""
ESS_PER_CHAIN = 25
"""Effective draws of the number of persons."""
ALLOWED = 0.01
"""Of a hundred links one may be undecided."""


@dataclass(frozen=True)
class Diagnosis:
    """Convergence figures by quantity, acceptance by move, and warnings with advice."""

    settled: bool
    """Whether the number of persons and the pairs that decide on links have settled: no longer run is needed."""
    undecided: tuple[tuple[int, int], ...]
    """Record numbers of the pairs that may still become links, or cease to be, the least known first."""
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
        lines += [f"  {name:<27}{shown_rhat(self.rhat[name]):>8}{self.ess[name]:>18,.0f}" for name in self.rhat]
        if self.acceptance:
            rates = ", ".join(f"{name} {rate:.1%}" for name, rate in self.acceptance.items())
            lines.append(f"Accepted moves: {rates}.")
        if self.converged:
            lines.append("The chains agree and have enough effective draws.")
        lines += [f"Warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [(name, shown_rhat(value), f"{self.ess[name]:,.0f}") for name, value in self.rhat.items()]
        heading = "Diagnosis: " + ("converged" if self.converged else f"{len(self.warnings)} warning(s)")
        return html_view(heading, ("quantity", "R-hat", "effective draws"), rows, self.warnings)


def shown_rhat(value: float) -> str:
    """Write an R-hat; how far beyond 10 it is says nothing more.

    >>> shown_rhat(1.0123), shown_rhat(9.8e15), shown_rhat(float("nan"))
    ('1.012', '> 10', '–')
    """
    return "–" if np.isnan(value) else f"{value:.3f}" if value <= 10 else "> 10"


def diagnose(posterior: Posterior) -> Diagnosis:
    """Compute R-hat and effective draws of N, the log-likelihood and parameters, and which links are undecided."""
    series = {"persons N": posterior.number_of_persons, "log-likelihood": posterior.log_likelihood}
    for file, name in enumerate(posterior.records.files[: posterior.intercepts.shape[-1]]):
        series[f"intercept of {name}"] = posterior.intercepts[:, :, file]
    if posterior.spread.size:
        series["spread"] = posterior.spread
    if posterior.sharing.size and np.ptp(posterior.sharing) > 0:
        series["share of common ties"] = posterior.sharing
    series |= {f"prior's {name}": values for name, values in posterior.prior.items()}
    for place, name in enumerate(posterior.rates):
        series[f"distortion of {name}"] = posterior.distortion[:, :, place]
    if posterior.careless_share.size:
        series["share of careless records"] = posterior.careless_share
    rhats = {name: rhat(values) for name, values in series.items()}
    ess = {name: effective_draws(values) for name, values in series.items()}
    found = posterior.pair_probabilities
    # Marginals of variational inference are no means over draws: more of them would change nothing.
    sampled = posterior.run.engine not in ("duckdb", "spark")
    doubtful = np.flatnonzero(undecided(found) & sampled)
    doubtful = doubtful[np.argsort(-found.error[doubtful], kind="stable")]
    least = tuple((int(a), int(b)) for a, b in found.pairs[doubtful])
    proposed, accepted = posterior.proposed.sum(axis=0), posterior.accepted.sum(axis=0)
    acceptance = {
        move: accepted[place] / proposed[place] for place, move in enumerate(posterior.moves) if proposed[place]
    }
    means = tuple(float(mean) for mean in posterior.number_of_persons.mean(axis=1))
    few = len(least) <= ALLOWED * (found.probability > 0.5).sum()
    notes, faults = _notes(posterior), list(_faults(posterior, rhats, ess, means))
    if least and not few:
        faults.append(_undecided_words(posterior, least))
    return Diagnosis(not faults, least, rhats, ess, acceptance, (*notes, *faults), means)


def _undecided_words(posterior: Posterior, pairs: tuple[tuple[int, int], ...]) -> str:
    records = posterior.records
    names = ["/".join(map(str, records[a])) + " and " + "/".join(map(str, records[b])) for a, b in pairs[:5]]
    more = f", and {len(pairs) - 5:,} more" if len(pairs) > 5 else ""
    what = "one pair" if len(pairs) == 1 else f"{len(pairs):,} pairs"
    return f"{what} may still become links, or cease to be, with more draws: {'; '.join(names)}{more}."


def _notes(posterior: Posterior) -> list[str]:
    """Say what more draws would not change."""
    said = list(posterior.notes)
    if posterior.chains == 1:
        said.append("one chain cannot disagree with itself: run at least two, better four (chains=4).")
    if posterior.draws_per_chain < 100:
        said.append(f"only {posterior.draws_per_chain} draws a chain: the figures above are rough.")
    return said


def _faults(
    posterior: Posterior, rhats: dict[str, float], ess: dict[str, float], means: tuple[float, ...]
) -> Iterator[str]:
    """Yield what more draws may change."""
    if rhats["persons N"] > RHAT_LIMIT:
        spread = ", ".join(f"{mean:,.1f}" for mean in means)
        yield (
            f"the chains do not agree on the number of persons (R-hat {shown_rhat(rhats['persons N'])}; chain means "
            f"{spread}). They sit in different modes, and probabilities average over those that chains found. "
            "Add anchors if you can, run more chains or a longer warm-up, and do not trust single links."
        )
    modes = find_modes(posterior)
    if len(modes) > 1:
        shares = ", ".join(f"{mode.weight:.0%}" for mode in modes)
        yield (
            f"the chains link differently: {len(modes)} groups of chains ({shares} of them) hardly share a link. "
            "See posterior.modes()."
        )
    others = [name for name, value in rhats.items() if value > OTHERS_LIMIT and name != "persons N"]
    if others:
        yield f"R-hat is above {OTHERS_LIMIT} for {', '.join(others)}: run longer."
    wanted, worth = ESS_PER_CHAIN * posterior.chains, ess["persons N"]
    if worth < wanted:
        yield f"N has only {worth:,.0f} effective draws, fewer than {wanted}: its interval is rough; run longer."
