"""Draws conditioned on answers, without sampling again.

p(ξ | answers) is what the draws that agree with every answer say. Few do once there are ten answers, even if each is as
likely as not. But an answer matters only to records around it. So answers are taken one by one, and a draw that
disagrees takes over, from one that agrees, the records to which the answer matters, and keeps all others:

- those to which it matters are the records that it is about, and those of every pair whose probability differs, beyond
  chance, between draws that agree and draws that do not;
- together with all that must change with them, so that the result is a linkage: no cluster of either draw is cut.

What has no bearing on each other is thus conditioned separately; where all hangs together, draws that disagree are
replaced whole, and this is plain conditioning. The number of different draws that each record's state now comes from
(the effective number of the weights) says what the result is worth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.answers import Settled
from tielink.data.scores import pair_keys
from tielink.faults import Fault, InputError, listed
from tielink.posterior.convergence import effective_draws
from tielink.posterior.pairs import PairProbabilities, pair_probabilities, with_averages

if TYPE_CHECKING:
    from tielink.posterior.posterior import Posterior

__all__ = ["ENOUGH", "Agreement", "condition", "moving_pairs"]

Codes = NDArray[np.int64]
Person = NDArray[np.integer]

ENOUGH = 100
"""Effective draws below which probabilities around an answer are called rough."""
BEYOND_CHANCE = 3.0
"""Standard errors by which the probability of a pair must differ for an answer to matter to it."""
IN_DOUBT = (0.01, 0.99)
MOST_PAIRS = 3000
"""Pairs that are looked at for what answers do to them, those most in doubt."""


@dataclass(frozen=True)
class Agreement:
    """How well draws agreed with answers."""

    agreeing: tuple[int, ...]
    """For each answer the number of draws that agreed with it, those before it taken in."""
    effective: float
    """The effective number of draws around the answer where it is smallest."""
    draws: int

    @property
    def enough(self) -> bool:
        """Whether the probabilities can be used as they are."""
        return self.effective >= min(ENOUGH, self.draws / 2)

    def __str__(self) -> str:
        if not self.agreeing:
            return "There are no answers."
        words = f"{len(self.agreeing):,} answers; {self.effective:,.0f} effective draws of {self.draws:,} around them."
        return words if self.enough else f"{words} Too few: sample again with the answers (tielink update)."


def moving_pairs(
    person: Person, found: PairProbabilities, within: tuple[float, float] = IN_DOUBT, most: int = MOST_PAIRS
) -> tuple[Codes, NDArray[np.bool_]]:
    """Return the pairs whose share of draws lies within bounds, and which draws link them (pairs × draws).

    Those most in doubt come first, at most so many.
    """
    likely = found.pairs[(found.probability > within[0] / 2) & (found.probability < 1 - within[0] / 2)]
    of_record = np.ascontiguousarray(person.T)
    linked = of_record[likely[:, 0]] == of_record[likely[:, 1]]
    share = linked.mean(axis=1)
    chosen = np.flatnonzero((share > within[0]) & (share < within[1]))
    chosen = chosen[np.argsort(np.abs(share[chosen] - 0.5), kind="stable")][:most]
    return likely[chosen], linked[chosen]


def condition(posterior: Posterior, answers: Any, *, seed: int = 0) -> Posterior:
    """Return the posterior given answers; see `Posterior.given`."""
    settled = answers if isinstance(answers, Settled) else Settled.by(posterior.records, answers, posterior.allowed)
    _check_known(posterior, settled)
    rng = np.random.default_rng(seed)
    population = _Population(posterior)
    for same, different in settled.by_answer:
        population.agree(rng, same, different)
    agreement = population.agreement(settled)
    notes = posterior.notes if agreement.enough else (*posterior.notes, str(agreement))
    found = replace(
        posterior,
        person=population.person.reshape(posterior.person.shape),
        anchors=np.unique(np.concatenate([posterior.anchors, settled.same]), axis=0),
        nonmatches=np.unique(np.concatenate([posterior.nonmatches, settled.different]), axis=0),
        conditional=population.probabilities(posterior),
        notes=notes,
        agreement=agreement,
    )
    assert found.conditional is not None
    found.__dict__["pair_probabilities"] = found.conditional  # every pair is there: none is counted again
    return found


def _check_known(posterior: Posterior, settled: Settled) -> None:
    """Refuse answers that contradict what was known when the draws were made."""
    wrong = [
        (settled.same, posterior.nonmatches, "not one person"),
        (settled.different, posterior.anchors, "one person"),
    ]
    for said, known, word in wrong:
        pairs = said[np.isin(pair_keys(said), pair_keys(known))]
        if len(pairs):
            names = [" and ".join(f"{f}/{key}" for f, key in (posterior.records[int(r)] for r in two)) for two in pairs]
            what = f"contradict what was known beforehand: {listed(names)} are {word}."
            raise InputError([Fault("answers", what, "Mend the anchors, or take the answers out.")])


class _Population:
    """Draws under way to agreement with all answers, and where the state of each record comes from."""

    def __init__(self, posterior: Posterior) -> None:
        self.person = posterior.person.reshape(-1, len(posterior.records)).copy()
        self.chains = posterior.chains
        found = posterior.pair_probabilities
        self.pairs, _ = moving_pairs(self.person, found)
        changed = (self.person != self.person[0]).any(axis=0)
        self.records = np.union1d(np.flatnonzero(changed), np.unique(self.person[:, changed]))
        """Records whose label is not the same in all draws, and those that are such labels."""
        self.around = np.union1d(self.records, np.flatnonzero(np.isin(self.person[0], self.records)))
        """The same, and records that are always with one of them."""
        self.source = np.tile(np.arange(len(self.person), dtype=np.int32)[:, None], len(self.records))
        self.agreeing: list[int] = []
        self.forced: set[int] = set()

    def linked(self, pairs: Codes) -> NDArray[np.bool_]:
        """Whether each draw links each of these pairs: draws × pairs."""
        return np.asarray(self.person[:, pairs[:, 0]] == self.person[:, pairs[:, 1]])

    def agree(self, rng: np.random.Generator, same: Codes, different: Codes) -> None:
        """Make all draws agree with one answer."""
        agrees = np.asarray(self.linked(same).all(axis=1) & ~self.linked(different).any(axis=1))
        self.agreeing.append(int(agrees.sum()))
        if agrees.all():
            return
        about = np.unique(np.concatenate([same, different]))
        if not agrees.any():
            self._force(same, different)
            self.forced |= set(about.tolist())
            return
        from tielink.posterior.splice_kernels import closed

        chosen = np.isin(self.records, np.concatenate([about, np.unique(self._concerned(agrees, about))]))
        rows = np.flatnonzero(~agrees)
        donors = np.resize(rng.permutation(np.flatnonzero(agrees)), len(rows))
        own, other = (self.person[np.ix_(draws, self.records)] for draws in (rows, donors))
        inside = closed(*(np.searchsorted(self.records, labels) for labels in (own, other)), chosen)
        self.person[np.ix_(rows, self.records)] = np.where(inside, other, own)
        self.source[rows] = np.where(inside, self.source[donors], self.source[rows])

    def _concerned(self, agrees: NDArray[np.bool_], about: Codes) -> Codes:
        """Return the pairs whose probability differs between draws that agree and others by more than chance.

        Draws that are alike, by the chain's slowness or because they were taken over, count as fewer.
        """
        linked = self.linked(self.pairs).astype(np.float32)
        share, with_it, without = linked.mean(axis=0), linked[agrees].mean(axis=0), linked[~agrees].mean(axis=0)
        worth = self.worth()
        found = effective_draws(agrees.reshape(self.chains, -1), rank_normalise=False)
        least = min(worth[about].min(), found if np.isfinite(found) else np.inf)
        repeats = len(agrees) / np.minimum(least, worth[self.pairs].min(axis=1)).clip(max=len(agrees))
        variance = share * (1 - share) * (1 / agrees.sum() + 1 / (~agrees).sum()) * repeats
        # Where a pair is linked in no draw or in all, there is no variance and no difference.
        beyond = np.abs(with_it - without) > BEYOND_CHANCE * np.sqrt(np.maximum(variance, 1e-12))
        return np.asarray(self.pairs[beyond])

    def worth(self) -> NDArray[np.float64]:
        """Return of how many draws the state of each record comes: their effective number, if not used alike."""
        draws = len(self.person)
        worth = np.full(self.person.shape[1], float(draws))
        changed = np.flatnonzero((self.source != np.arange(draws)[:, None]).any(axis=0))
        for place in changed:
            times = np.bincount(self.source[:, place], minlength=draws).astype(float)
            worth[self.records[place]] = draws**2 / (times @ times)
        return worth

    def _force(self, same: Codes, different: Codes) -> None:
        """No draw agrees: change each as little as possible."""
        for labels in self.person:
            for a, b in different:
                if labels[a] == labels[b]:
                    _alone(labels, int(a))
            for a, b in same:
                if labels[a] != labels[b]:
                    _alone(labels, int(a))
                    _alone(labels, int(b))
                    labels[b] = a

    def agreement(self, settled: Settled) -> Agreement:
        """Say what the result is worth."""
        asked = np.concatenate([settled.same, settled.different]).ravel()
        least = self.worth()[asked].min(initial=len(self.person))
        return Agreement(tuple(self.agreeing), 0.0 if self.forced else float(least), len(self.person))

    def probabilities(self, posterior: Posterior) -> PairProbabilities:
        """Keep the probabilities of pairs that nothing was done to; count the others."""
        worth = self.worth()
        touched = worth < len(self.person)
        touched[list(self.forced)] = True
        before = posterior.pair_probabilities
        near = np.union1d(self.around, np.flatnonzero(np.isin(self.person, list(self.forced)).any(axis=0)))
        near = np.union1d(near, list(self.forced)).astype(np.int64)
        labels = np.searchsorted(near, self.person[:, near])
        found = pair_probabilities(labels.reshape(*posterior.person.shape[:2], len(near)))
        pairs = near[found.pairs]
        kept, counted = ~touched[before.pairs].any(axis=1), touched[pairs].any(axis=1)
        chance = found.probability[counted]
        error = np.sqrt(chance * (1 - chance) / worth[pairs[counted]].min(axis=1, initial=np.inf))
        every = PairProbabilities(pairs[counted], chance, np.maximum(error, found.error[counted]))
        return with_averages(every, PairProbabilities(*(values[kept] for values in vars(before).values())))


def _alone(labels: Person, record: int) -> None:
    """Take a record out of its cluster, in place; labels are the smallest members."""
    rest = np.flatnonzero(labels == labels[record])
    rest = rest[rest != record]
    labels[record] = record
    if len(rest):
        labels[rest] = rest[0]
