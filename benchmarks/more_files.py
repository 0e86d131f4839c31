"""Three files at once, against the same files two at a time, and with ties; on made data.

First 120 records a file, a username and a place with many mistakes (rates near .3), and persons drawn from the prior.
All at once, a person's third record is held to the other two together. F₁ is over all true pairs; two at a time, the
links of the three runs are put together. Then 60 records a file with a place and worse usernames (rate near .5), and
one tie in eight dyads: profiles alone, and with ties. No data set with three real files and a truth was at hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.spatial.distance import pdist

import tielink as tl
from tielink.data.records import Records
from tielink.simulate import from_prior
from tielink.simulate.draw import draw_parameters
from tielink.simulate.prior import blank, draw_data, fixed_frequencies
from tielink.simulate.vocabulary import PLACES, usernames

Pair = tuple[object, object]
TITLE = "More than two files: all at once, or two at a time"
COLUMNS = (
    "seed", "true pairs", "how", "links", "F₁", "links that contradict each other", "persons, 95 %", "R-hat of N",
    "in truth",
)  # fmt: skip
SEEDS = (1, 2)
FIELDS = {"name": tl.String(tl.Beta(30, 70)), "place": tl.Categorical(tl.Beta(30, 70))}
WORSE = {"name": tl.String(tl.Beta(50, 50)), "place": tl.Categorical(tl.Beta(30, 70))}
NETWORKS = {"profiles": None, "and ties": tl.LatentSpace(2)}
TIED = 0.12
"""The quantile of distances at which a tie is as likely as not."""


def two_of(data: tl.Dataset, names: tuple[str, str]) -> tl.Dataset:
    """Return two of the files."""
    keep = np.isin(np.array(data.files)[data.records.file_of], names)
    records = Records({name: ids for name, ids in zip(data.files, data.records.ids, strict=True) if name in names})
    columns = {name: replace(column, codes=column.codes[keep]) for name, column in data.columns.items()}
    ties = {name: data.ties[name] for name in names}
    none = np.empty((0, 2), dtype=np.int64)
    return tl.Dataset(records, ties, columns, tl.Linkage(records, np.arange(len(records))), none)


def f1(found: set[Pair], true: set[Pair]) -> float:
    return 2 * len(found & true) / max(len(found) + len(true), 1)


def pairs(linkage: tl.Linkage) -> set[Pair]:
    return {(linkage.records[int(a)], linkage.records[int(b)]) for a, b in linkage.pair_numbers}


def fitted(model: tl.Model, data: tl.Dataset, seed: int, length: int) -> tuple[tl.Posterior, set[Pair]]:
    """Fit two chains; return them and the links."""
    posterior = tl.sample(model, data, chains=2, warmup=length, draws=200, seed=seed, workers=0)
    return posterior, pairs(tl.estimate(posterior))


def row(
    seed: int, truth: tl.Linkage, how: str, found: set[Pair], against: int, posterior: tl.Posterior | None = None
) -> tuple[object, ...]:
    """Return a row of the table."""
    true = pairs(truth)
    persons = spread = ""
    if posterior is not None:
        persons = "{:,} to {:,}".format(*posterior.persons().interval)
        spread = f"{posterior.diagnose().rhat['persons N']:.2f}"
    return seed, len(true), how, len(found), f"{f1(found, true):.3f}", against, persons, spread, truth.persons


def together_or_not(seed: int) -> Iterator[tuple[object, ...]]:
    """Yield what three files at once give, and two at a time."""
    rng = np.random.default_rng(seed)
    model = tl.Model(network=None, linkage=tl.OnePerFile(60, 40), fields=FIELDS)
    sizes = {"a": 120, "b": 120, "c": 120}
    drawn = from_prior(rng, model, sizes, {"name": usernames(rng, 400), "place": list(PLACES)})
    model = replace(drawn.model, linkage=tl.OnePerFile())
    posterior, found = fitted(model, drawn.dataset, seed, 100)
    yield row(seed, drawn.truth, "all at once", found, 0, posterior)
    found = set()
    for names in combinations(drawn.dataset.files, 2):
        found |= fitted(replace(model, linkage=tl.MatchRate()), two_of(drawn.dataset, names), seed, 100)[1]
    closed = pairs(tl.Linkage.from_pairs(drawn.dataset, sorted(found, key=str)))
    yield row(seed, drawn.truth, "two at a time", found, len(closed) - len(found))


def with_ties(seed: int) -> Iterator[tuple[object, ...]]:
    """Yield what ties add to profiles."""
    rng = np.random.default_rng(seed)
    vocabularies = {"name": usernames(rng, 60), "place": list(PLACES)}
    data = blank(dict.fromkeys("abc", 60), vocabularies)
    model = tl.Model(network=NETWORKS["and ties"], linkage=tl.OnePerFile(60, 40), fields=WORSE)
    model = replace(model, fields=fixed_frequencies(model, data, vocabularies))
    parameters = draw_parameters(rng, tl.Problem.compile(model, data))
    intercepts = np.full(3, np.quantile(pdist(parameters.positions), TIED))
    drawn = draw_data(rng, model, data, replace(parameters, intercepts=intercepts))
    for how, network in NETWORKS.items():
        model = replace(drawn.model, network=network, linkage=tl.OnePerFile())
        posterior, found = fitted(model, drawn.dataset, seed, 200)
        yield row(seed, drawn.truth, how, found, 0, posterior)


def measure() -> Iterator[tuple[object, ...]]:
    """Yield the rows of every seed."""
    for part in (together_or_not, with_ties):
        for seed in SEEDS:
            yield from part(seed)
