"""`Posterior`: the draws of a run, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.data.frames import to_frame
from tielink.data.linkage import Linkage, LinkageClass
from tielink.data.records import Records
from tielink.model.spec import Model
from tielink.notebook import html_view
from tielink.posterior.diagnosis import Diagnosis, diagnose
from tielink.posterior.draw_scores import DrawScores, draw_scores
from tielink.posterior.dyads import DyadScores
from tielink.posterior.modes import Mode, find_modes
from tielink.posterior.pairs import PairProbabilities, cluster_counts, pair_probabilities, with_averages
from tielink.posterior.predictive import NetworkSample, network_checks
from tielink.project import Run

if TYPE_CHECKING:
    from tielink.posterior.given import Agreement

__all__ = ["FINISHED", "INTERRUPTED", "OUT_OF_TIME", "Persons", "Posterior"]

Floats = NDArray[np.float64]

FINISHED, INTERRUPTED, OUT_OF_TIME = "finished", "interrupted", "out of time"
"""How a run can come to its end."""


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
    sharing: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """ρ, the share of ties that files have in common: chains × draws; empty unless ties are shared ties."""
    power: float = 0.0
    """The power of shared ties, as given or learnt; see `SharedTies`."""
    nonmatches: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    """Pairs of record numbers that were known not to match."""
    prior: Mapping[str, Floats] = field(default_factory=dict)
    """Hyperparameters of the linkage prior by name: chains × draws."""
    network: NetworkSample | None = None
    """Thinned positions and the observed network figures."""
    dyads: DyadScores | None = None
    """What model choice needs of every dyad; None without a network."""
    conditional: PairProbabilities | None = None
    """Averages of conditional probabilities of candidate pairs; None where pairs are counted (in a latent space)."""
    notes: tuple[str, ...] = field(default=())
    """What the reader of the results must know: an interrupted run, modes that were found, …."""
    ended: str = FINISHED
    """How the run came to its end: "finished", "interrupted" or "out of time"."""
    frame_kind: str = "polars"
    careless: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=bool))
    """Which records are careless: chains × draws × records; empty where the model has one sort of records."""
    careless_share: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """κ, the share of careless records: chains × draws; empty where the model has one sort of records."""
    dataset: Dataset | None = None
    """The data that were sampled; not saved, so None after `load`."""
    agreement: Agreement | None = None
    """How well the draws agreed with the answers that they were conditioned on (`given`); not saved."""

    @property
    def chains(self) -> int:
        """Number of chains."""
        return int(self.person.shape[0])

    @property
    def draws_per_chain(self) -> int:
        """Number of draws of each chain."""
        return int(self.person.shape[1])

    @property
    def allowed(self) -> LinkageClass:
        """The class of linkages that the model allows."""
        return self.model.linkage_for(len(self.records.files)).allowed

    @cached_property
    def number_of_persons(self) -> NDArray[np.int64]:
        """N of every draw: chains × draws."""
        return np.asarray((self.person == np.arange(len(self.records))).sum(axis=2))

    @cached_property
    def pair_probabilities(self) -> PairProbabilities:
        """Probability and Monte Carlo error of every pair that was ever linked or nearly so, by record numbers.

        Where there are conditional probabilities, these are averaged (Rao–Blackwell): they tell .9999 from .97. Other
        pairs are counted over the draws.
        """
        counted = pair_probabilities(self.person)
        return counted if self.conditional is None else with_averages(counted, self.conditional)

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

        Empty unless the model says that some records are (`Model(careless=Careless())`).
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

    def predictive_checks(self, *, seed: int = 0) -> Any:
        """Return predictive checks: network figures of the data beside those of networks drawn from the posterior.

        One row a file and figure: `file, figure, observed, mean, low, high, tail`, where `tail` is the share of drawn
        networks whose figure is at least the observed one. Empty without a latent space: shared ties draw no networks.
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

    def given(self, answers: Any, *, seed: int = 0) -> Posterior:
        """Condition the draws on what people answered, without sampling again.

        A draw that disagrees with an answer takes over from one that agrees, drawn at random, all records to which
        the answer matters. Parameters stay those of the draws as they were. Pairs that no answer touches keep their
        averages of conditional probabilities; others are counted.

        Parameters
        ----------
        answers
            A file that `tielink review` wrote, several such files, `Answer`s, or a frame with `file_a, id_a, file_b,
            id_b, answer` (same, different or unsure).
        seed
            The same seed gives the same draws.

        Returns
        -------
        Posterior
            Every draw of it agrees with every answer. Its `agreement` says how many effective draws there are around
            the answers; where these are too few, sample again (`tl.update`).

        Examples
        --------
        >>> import polars as pl, tielink as tl
        >>> left = pl.DataFrame({"id": [1, 2], "name": ["anna", "bob"]})
        >>> right = pl.DataFrame({"id": [7, 8], "name": ["anna", "ana"]})
        >>> data = tl.Dataset.from_frames({"left": left, "right": right}, fields={"name": tl.String()})
        >>> posterior = tl.sample(tl.Model(), data, chains=2, warmup=50, draws=50, workers=0)
        >>> known = posterior.given([tl.review.Answer(("left", 1), ("right", 8), (("right", 7), ("right", 8)))])
        >>> bool((known.person[:, :, 0] == known.person[:, :, 3]).all())
        True
        """
        from tielink.posterior.given import condition

        return condition(self, answers, seed=seed)

    def changes_since(self, before: Posterior, least: float = 0.1) -> Any:
        """Return the pairs whose probability changed by at least so much since another posterior, the largest first.

        One row a pair: `file_a, id_a, file_b, id_b, before, after, change`, where `change` is new link, link fell, more
        likely, less likely, or withdrawn (a record is gone). See `tl.update`.
        """
        from tielink.posterior.changes import changes

        return changes(before, self, least)

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

    def _repr_html_(self) -> str:
        series = {"persons": self.number_of_persons, "share of ties in common": self.sharing}
        series |= {f"distortion of {name}": self.distortion[:, :, rate] for rate, name in enumerate(self.rates)}
        rows = [
            (name, *(f"{value:,.3g}" if value < 100 else f"{value:,.0f}" for value in _mean_and_interval(draws)))
            for name, draws in series.items()
            if draws.size
        ]
        heading = f"Posterior: {self.chains} chains of {self.draws_per_chain:,} draws, {len(self.records):,} records"
        header = ("quantity", "posterior mean", "95 % credible interval from", "to")
        return html_view(heading, header, rows, self.notes)


def _mean_and_interval(draws: NDArray[Any]) -> tuple[float, float, float]:
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(draws.mean()), float(low), float(high)
