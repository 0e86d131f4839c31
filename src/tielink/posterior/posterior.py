"""`Posterior`: the draws of a run, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.data.frames import to_frame
from tielink.data.linkage import Linkage
from tielink.data.records import Records
from tielink.model.spec import Model
from tielink.posterior.diagnosis import Diagnosis, diagnose
from tielink.posterior.draw_scores import DrawScores, draw_scores
from tielink.posterior.dyads import DyadScores
from tielink.posterior.modes import Mode, find_modes
from tielink.posterior.pairs import PairProbabilities, cluster_counts, pair_probabilities
from tielink.posterior.predictive import NetworkSample, network_checks
from tielink.project import Run

__all__ = ["BEYOND", "Persons", "Posterior"]

Floats = NDArray[np.float64]

BEYOND = {
    "correlation": "log φ, log odds ratio of ties of the same persons",
    "sociality_sd": "τ, standard deviation of sociality",
    "activity": "α, weight of degrees on who is matched",
}
"""Parameters beyond the paper's model, and what they are."""


@dataclass(frozen=True)
class Persons:
    """The posterior of N, the number of persons."""

    mean: float
    sd: float
    interval: tuple[int, int]
    """Central 95 %."""

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.mean:,.1f} persons (sd {self.sd:.1f}, 95 % between {low:,} and {high:,})"


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of linkages and parameters, chains × draws.

    Made by `tl.sample`; saved and loaded as one NetCDF file that xarray and ArviZ open.
    """

    records: Records
    model: Model
    run: Run
    person: NDArray[np.integer]
    """ξ: for each draw the smallest record number of each record's person (chains × draws × records)."""
    log_likelihood: Floats
    """log p(ties, values | all else), true values and distortions summed out."""
    intercepts: Floats
    """β: chains × draws × files; empty without a network."""
    spread: Floats
    """σ²: chains × draws; empty without a network."""
    distortion: Floats
    """ψ: chains × draws × rates."""
    rates: tuple[str, ...]
    """What each distortion rate is the rate of: usually a field."""
    fields: Mapping[str, Floats]
    """Parameters of each field (ϑ of a categorical one): chains × draws × their number, which may be 0."""
    anchors: NDArray[np.int64]
    """Pairs of record numbers that were known to match."""
    moves: tuple[str, ...]
    proposed: NDArray[np.int64]
    """How often each move was proposed after warm-up: chains × moves."""
    accepted: NDArray[np.int64]
    beyond: Mapping[str, Floats] = field(default_factory=dict)
    """Parameters beyond the paper's model, those of `BEYOND` that are on: chains × draws."""
    nonmatches: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    """Pairs of record numbers that were known not to match."""
    prior: Mapping[str, Floats] = field(default_factory=dict)
    """Hyperparameters of the linkage prior by name: chains × draws."""
    network: NetworkSample | None = None
    """Thinned positions and the observed network figures."""
    dyads: DyadScores | None = None
    """What model choice needs of every dyad; None without a network."""
    notes: tuple[str, ...] = field(default=())
    """What the reader of the results must know: an interrupted run, modes that were found, …."""
    frame_kind: str = "polars"
    careless: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=bool))
    """Which records are careless: chains × draws × records; empty where the model has one sort of records."""
    careless_share: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """κ, the share of careless records: chains × draws; empty where the model has one sort of records."""
    dataset: Dataset | None = None
    """The data that were sampled; not saved, so None after `load`."""

    @property
    def chains(self) -> int:
        """Number of chains."""
        return int(self.person.shape[0])

    @property
    def draws_per_chain(self) -> int:
        """Number of draws of each chain."""
        return int(self.person.shape[1])

    @cached_property
    def number_of_persons(self) -> NDArray[np.int64]:
        """N of every draw: chains × draws."""
        return np.asarray((self.person == np.arange(len(self.records))).sum(axis=2))

    @cached_property
    def pair_probabilities(self) -> PairProbabilities:
        """Probability and Monte Carlo error of every pair that was ever linked, by record numbers."""
        return pair_probabilities(self.person)

    def persons(self) -> Persons:
        """Return mean, standard deviation and 95 % interval of N, the number of persons."""
        numbers = self.number_of_persons
        low, high = np.quantile(numbers, [0.025, 0.975], method="inverted_cdf")
        return Persons(float(numbers.mean()), float(numbers.std()), (int(low), int(high)))

    def pairs(self) -> Any:
        """Return every pair ever linked: `file_a, id_a, file_b, id_b, probability, mcse`, the surest first."""
        found = self.pair_probabilities
        sides = [[self.records[int(number)] for number in side] for side in found.pairs.T]
        columns: dict[str, Any] = {}
        for name, side in zip("ab", sides, strict=True):
            columns[f"file_{name}"] = [record[0] for record in side]
            columns[f"id_{name}"] = [record[1] for record in side]
        columns |= {"probability": found.probability.tolist(), "mcse": found.error.tolist()}
        return to_frame(columns, self.frame_kind)

    def carelessness(self) -> Any:
        """Return the probability that each record is careless: `file, id, probability`, the surest first.

        Empty unless the model says that some records are (`Model(records=Careless())`).
        """
        mean = self.careless.mean(axis=(0, 1)) if self.careless.size else np.empty(0)
        order = np.argsort(-mean, kind="stable")
        found = [self.records[int(record)] for record in order]
        columns = {"file": [file for file, _ in found], "id": [key for _, key in found]}
        return to_frame(columns | {"probability": mean[order].tolist()}, self.frame_kind)

    def clusters(self) -> list[tuple[tuple[Any, ...], float]]:
        """Return every set of two or more records that was ever one person, with its probability, the surest first."""
        counts = cluster_counts(self.person.reshape(-1, len(self.records)))
        total = self.chains * self.draws_per_chain
        return [(tuple(self.records[r] for r in group), n / total) for group, n in counts.most_common()]

    def draws(self) -> Iterator[Linkage]:
        """Iterate over the drawn linkages, to carry their uncertainty into any statistic of your own."""
        for labels in self.person.reshape(-1, len(self.records)):
            yield Linkage(self.records, labels, frame_kind=self.frame_kind)

    def ties(self, *, seed: int = 0) -> Any:
        """Return predictive checks: network figures of the data beside those of networks drawn from the posterior.

        One row a file and figure: `file, figure, observed, mean, low, high, tail`, where `tail` is the share of drawn
        networks whose figure is at least the observed one. Empty without a network.
        """
        rng = np.random.default_rng(seed)
        rows = [] if self.network is None else list(network_checks(rng, self.network, self.records))
        names = ("file", "figure", "observed", "mean", "low", "high", "tail")
        columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
        return to_frame(columns, self.frame_kind)

    def diagnose(self) -> Diagnosis:
        """Say whether the chains can be trusted, and what to do if not."""
        return diagnose(self)

    def evaluate(self, truth: Linkage) -> DrawScores:
        """Return the posterior distribution of recall, precision and F₁ against a truth, anchors left out.

        Every draw is scored as if it were the answer. For the scores of one answer, see `tl.evaluate`.
        """
        return draw_scores(self.person.reshape(-1, len(self.records)), truth, self.anchors)

    def modes(self) -> list[Mode]:
        """Return the groups of chains whose match probabilities agree, the largest first; one group is good news."""
        return find_modes(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Save everything to one NetCDF file; a crash leaves the old file or the new one."""
        from tielink.posterior.store import save

        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load what `save` wrote."""
        from tielink.posterior.store import load

        return cls(**load(path))

    def __repr__(self) -> str:
        return f"Posterior({self.chains} chains × {self.draws_per_chain:,} draws; {self.persons()})"
