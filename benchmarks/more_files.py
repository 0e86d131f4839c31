"""Three files at once against the same files two at a time, on made data.

There are 120 records a file, a username and a place with many mistakes (rates near .3), and persons drawn from the
prior. All at once, a person's third record is held to the other two together. F₁ is over all true pairs; two at a
time, the links of the three runs are put together. No data set with three real files and a truth was at hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

import tielink as tl
from tielink.data.records import Records
from tielink.simulate import from_prior
from tielink.simulate.vocabulary import PLACES, usernames

TITLE = "More than two files: all at once, or two at a time"
COLUMNS = ("seed", "true pairs", "how", "links", "F₁", "links that contradict each other")
SEEDS = (1, 2)
FIELDS = {"name": tl.String(tl.Beta(30, 70)), "place": tl.Categorical(tl.Beta(30, 70))}


def two_of(data: tl.Dataset, names: tuple[str, str]) -> tl.Dataset:
    """Return two of the files."""
    keep = np.isin(np.array(data.files)[data.records.file_of], names)
    records = Records({name: ids for name, ids in zip(data.files, data.records.ids, strict=True) if name in names})
    columns = {name: replace(column, codes=column.codes[keep]) for name, column in data.columns.items()}
    ties = {name: data.ties[name] for name in names}
    none = np.empty((0, 2), dtype=np.int64)
    return tl.Dataset(records, ties, columns, tl.Linkage(records, np.arange(len(records))), none)


def f1(found: set[tuple[object, object]], true: set[tuple[object, object]]) -> float:
    return 2 * len(found & true) / max(len(found) + len(true), 1)


def pairs(linkage: tl.Linkage) -> set[tuple[object, object]]:
    return {(linkage.records[int(a)], linkage.records[int(b)]) for a, b in linkage.pair_numbers}


def measure() -> Iterator[tuple[object, ...]]:
    """Yield two rows for each seed."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        model = tl.Model(network=None, linkage=tl.OnePerFile(60, 40), fields=FIELDS)
        sizes = {"a": 120, "b": 120, "c": 120}
        drawn = from_prior(rng, model, sizes, {"name": usernames(rng, 400), "place": list(PLACES)})
        data, true = drawn.dataset, pairs(drawn.truth)
        model = replace(drawn.model, linkage=tl.OnePerFile())
        together = tl.sample(model, data, chains=2, warmup=100, draws=200, seed=seed, workers=0)
        found = pairs(tl.estimate(together))
        yield seed, len(true), "all at once", len(found), f"{f1(found, true):.3f}", 0
        found = set()
        for names in combinations(data.files, 2):
            part = two_of(data, names)
            alone = tl.sample(
                replace(model, linkage=tl.MatchRate()), part, chains=2, warmup=100, draws=200, seed=seed, workers=0
            )
            found |= pairs(tl.estimate(alone))
        closed = pairs(tl.Linkage.from_pairs(data, sorted(found, key=str)))
        yield seed, len(true), "two at a time", len(found), f"{f1(found, true):.3f}", len(closed) - len(found)
