"""A model meets a data set: everything the kernels need, as arrays and integer codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Channel
from tielink.data.linkage import Linkage, LinkageClass
from tielink.faults import Faults, listed
from tielink.fields import Field
from tielink.model.cluster_priors import ClusterPrior, OnePerFile
from tielink.model.dependence import find_dependence
from tielink.model.linkage_priors import LinkagePrior, MatchRate
from tielink.model.network import SharedTies
from tielink.specification import Beta

if TYPE_CHECKING:
    from tielink.channels.tree import FieldTree
    from tielink.data.dataset import Dataset
    from tielink.model.spec import Model

__all__ = ["LatentSpaceProblem", "LinkageProblem", "Problem", "Rate", "SharedTiesProblem", "compile_linkage"]

Codes = NDArray[np.int64]

NOBODY = np.zeros(0, dtype=bool)
"""Which records are careless, where the model does not ask."""


_COMPILED: WeakKeyDictionary[Dataset, tuple[Model, Problem]] = WeakKeyDictionary()
"""What was last compiled for a data set: describing, sampling and explaining need the same."""


@dataclass(frozen=True, eq=False)
class SharedTiesProblem:
    """Ties and the hyperparameters of shared ties."""

    ties: tuple[NDArray[np.int64] | None, ...]
    """For each file pairs i < i' of its own record numbers; None for a file without a network."""
    power: float | None
    """The power of the tie likelihood; None if it is to be learnt."""
    sharing: float | Beta
    """ρ, or its prior."""


@dataclass(frozen=True, eq=False)
class LatentSpaceProblem:
    """Ties and the hyperparameters of a latent space."""

    dimension: int
    link: str
    ties: tuple[NDArray[np.int64] | None, ...]
    """For each file pairs i < i' of its own record numbers; None for a file without a network."""
    intercept_sd: NDArray[np.float64]
    spread_shape: float
    spread_scale: float


@dataclass(frozen=True)
class Rate:
    """A distortion rate ψ: what it is the rate of, and its prior."""

    name: str
    prior: Beta


@dataclass(frozen=True, eq=False)
class LinkageProblem:
    """The prior of linkages that agree with what is known."""

    allowed: LinkageClass
    log_by_matches: NDArray[np.float64]
    """log p(ξ) of one linkage with m matches besides the anchors, m = 0, 1, …."""
    log_matches: NDArray[np.float64]
    """Log prior probability of having m matches besides the anchors."""
    anchors: Codes
    """Labels of the linkage that holds the anchors alone."""
    nonmatches: Codes
    """Pairs of record numbers that are not the same person."""
    free: tuple[int, ...]
    """The number of records of each file that are not anchored."""
    anchored_pairs: int
    clusters: ClusterPrior | None = None
    """The prior, where a person may have more than two records; then nothing is known by the number of matches."""
    largest: int = 2
    """The most records a person can have."""
    settled: Codes = dataclass_field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """For each file the number of records that are anchored to an earlier file."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A compiled model: arrays and hyperparameters, no strings of the user's and no classes of the data's."""

    sizes: tuple[int, ...]
    file_of: Codes
    linkage: LinkageProblem
    network: LatentSpaceProblem | SharedTiesProblem | None
    fields: tuple[Channel, ...]
    rates: tuple[Rate, ...]
    """Every distortion rate."""
    rate_of: Codes
    """fields × files: which of the rates holds for a field's values in a file."""
    careless_share: Beta | None = None
    """Prior of the share of careless records; None where all records are of one sort.

    Careless records have rates of their own: the second half of `rates`, in the order of the first.
    """
    trees: tuple[FieldTree, ...] = ()
    """Fields that depend on each other; how often all of a tree change at once is a rate, and those come last."""

    @property
    def records(self) -> int:
        """I, the number of records."""
        return len(self.file_of)

    @property
    def tree_rates(self) -> range:
        """Which of the rates are those of trees."""
        return range(len(self.rates) - len(self.trees), len(self.rates))

    def rate_numbers(self, place: int, careless: NDArray[np.bool_]) -> Codes:
        """Return which of the rates holds for each record in field number `place`; `careless` may be empty."""
        numbers = self.rate_of[place][self.file_of]
        return np.asarray(numbers if self.careless_share is None else numbers + careless * (len(self.rates) // 2))

    def record_rates(
        self, place: int, rates: NDArray[np.float64], careless: NDArray[np.bool_] = NOBODY
    ) -> NDArray[np.float64]:
        """Return ψ of every record in field number `place`, given all rates and which records are careless."""
        return np.asarray(rates[self.rate_numbers(place, careless)])

    @classmethod
    def compile(cls, model: Model, dataset: Dataset) -> Problem:
        """Compile a model for a data set; raise one error with everything that does not fit."""
        known, problem = _COMPILED.get(dataset, (None, None))
        if problem is None or known != model:
            problem = cls._compile(model, dataset)
            _COMPILED[dataset] = model, problem
        return problem

    @classmethod
    def _compile(cls, model: Model, dataset: Dataset) -> Problem:
        from tielink.channels.compile import compile_channel  # numba: a saved posterior opens without it
        from tielink.channels.tree import compile_trees

        faults = Faults()
        linkage = compile_linkage(model, dataset, faults)
        network = _compile_network(model, dataset, faults)
        specified = model.fields_for(dataset.fields)
        fields = [
            compile_channel(name, field, dataset.columns[name], dataset.records.file_of, faults)
            for name, field in specified.items()
        ]
        dependence = find_dependence(model, dataset, faults)
        faults.raise_errors()
        assert linkage is not None  # or there would have been a fault
        rates, rate_of = _compile_rates(specified, dataset.files)
        channels = tuple(field for field in fields if field is not None)
        share = None
        if model.careless is not None:
            rates += tuple(Rate(f"{rate.name}, careless", model.careless.distortion) for rate in rates)
            share = model.careless.share
        trees = tuple(compile_trees(channels, *dependence, dataset.records.file_of))
        if trees:
            assert model.dependence is not None
            rates += tuple(Rate(", ".join(tree.names) + " together", model.dependence.change) for tree in trees)
        return cls(
            dataset.records.sizes, dataset.records.file_of, linkage, network, channels, rates, rate_of, share, trees
        )


def _compile_rates(fields: Mapping[str, Field], files: Sequence[str]) -> tuple[tuple[Rate, ...], Codes]:
    """Return every distortion rate, and which one holds for a field in a file: one a field, or one for each file."""
    rates: list[Rate] = []
    rate_of = np.zeros((len(fields), len(files)), dtype=np.int64)
    for place, (name, field) in enumerate(fields.items()):
        rate_of[place] = len(rates) + (np.arange(len(files)) if field.by_file else 0)
        names = [f"{name} in {file}" for file in files] if field.by_file else [name]
        rates += [Rate(each, field.distortion) for each in names]
    return tuple(rates), rate_of


def free_sizes(dataset: Dataset) -> tuple[int, ...]:
    """Return the number of records of each file that are not anchored, but by answers."""
    labels = dataset.volunteered.labels
    alone = np.bincount(labels)[labels] == 1
    return tuple(int(n) for n in np.bincount(dataset.records.file_of[alone], minlength=len(dataset.files)))


def compile_linkage(model: Model, dataset: Dataset, faults: Faults) -> LinkageProblem | None:
    """Compile the prior of linkages; None where what is known does not fit it, which goes on the list of faults."""
    anchors: Linkage = dataset.anchors
    sizes = dataset.records.sizes
    prior = model.linkage_for(len(sizes))
    largest = prior.largest(len(sizes)) if isinstance(prior, ClusterPrior) else 2
    wrong = anchors.violations(prior.allowed)
    known = anchors.clusters() if len(anchors.pair_numbers) else ()
    wrong += [group for group in known if len(group) > largest and group not in wrong]
    if wrong:
        groups = listed([str(group) for group in wrong])
        allows = {
            "pairs": "one record, or two of different files",
            "one_per_file": "at most one record of each file",
            "free": f"at most {largest} records",
        }[prior.allowed]
        faults.error(
            "anchors", f"{type(prior).__name__}() allows {allows}, not {groups}.", "Keep one partner of each record."
        )
        return None
    free, pairs = free_sizes(dataset), prior
    if isinstance(prior, OnePerFile) and len(sizes) == 2:
        pairs = MatchRate(prior.a, prior.b, prior.anchors_inform)  # the same prior, for which there is a faster sampler
    by_matches = pairs.log_by_matches(free, sizes) if isinstance(pairs, LinkagePrior) else np.empty(0)
    return LinkageProblem(
        allowed=pairs.allowed,
        # Matches that a person was asked about are anchored, and count as matches like any other.
        log_by_matches=by_matches[len(anchors.pair_numbers) - len(dataset.volunteered.pair_numbers) :],
        log_matches=pairs.log_matches(free, sizes) if isinstance(pairs, LinkagePrior) else np.empty(0),
        anchors=anchors.labels,
        nonmatches=dataset.nonmatches,
        free=free,
        anchored_pairs=len(anchors.pair_numbers),
        clusters=pairs if isinstance(pairs, ClusterPrior) else None,
        largest=largest,
        settled=settled_records(dataset, getattr(prior, "anchors_inform", False)),
    )


def settled_records(dataset: Dataset, inform: bool) -> Codes:
    """Count for each file the records anchored to an earlier file, but by answers; none where anchors inform."""
    files = dataset.records.file_of
    count = np.zeros(len(dataset.files), dtype=np.int64)
    anchors = dataset.volunteered
    for group in [] if inform or not len(anchors.pair_numbers) else anchors.members:
        later = files[group] > files[group].min()
        np.add.at(count, files[group][later], 1)
    return count


def _compile_network(model: Model, dataset: Dataset, faults: Faults) -> LatentSpaceProblem | SharedTiesProblem | None:
    spec = model.network
    if spec is None or all(ties is None for ties in dataset.ties.values()):
        return None
    ties = tuple(dataset.ties[name] for name in dataset.files)
    if isinstance(spec, SharedTies):
        power = None if isinstance(spec.power, str) else float(spec.power)
        return SharedTiesProblem(ties, power, spec.sharing if isinstance(spec.sharing, Beta) else float(spec.sharing))
    given = spec.intercept_sd
    if isinstance(given, Mapping) and given.keys() != set(dataset.files):
        names = listed([repr(name) for name in dataset.files], 8)
        faults.error("model.network", f"intercept_sd names {sorted(given)}.", f"Name each file once: {names}.")
        return None
    sds = [given[name] if isinstance(given, Mapping) else given for name in dataset.files]
    spread = spec.spread_prior(len(dataset.records))
    return LatentSpaceProblem(
        dimension=spec.dimension,
        link=spec.link,
        ties=ties,
        intercept_sd=np.array(sds, dtype=float),
        spread_shape=spread.shape,
        spread_scale=spread.scale,
    )
