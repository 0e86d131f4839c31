"""A few persons with places that tell each other, and data drawn from a compiled tree of fields."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

import tielink as tl
from tielink.logp.dependence import joint_ratio

KINDS = {
    "categorical": {name: tl.Categorical() for name in ("suburb", "postcode", "state", "colour")},
    "mixed": {
        "suburb": tl.String(affixes=False),
        "postcode": tl.Number(),
        "state": tl.Categorical(),
        "colour": tl.Categorical(),
    },
    "closed": {
        "suburb": tl.String(vocabulary="closed"),
        "postcode": tl.Number(tolerance=1.0),
        "state": tl.Categorical(),
        "colour": tl.Categorical(),
    },
}
SUBURBS = ["carlton", "fitzroy", "brunswick", "kew", "malvern", "toorak", "coburg", "preston", "balwyn", "hawthorn"]


def frame(rng: np.random.Generator, size: int, missing: float = 0.1, told: float = 0.95) -> pl.DataFrame:
    """Make records whose suburb tells the postcode, and that the state, but for a few; a colour tells nothing."""
    suburb = rng.integers(10, size=size)
    postcode = np.where(rng.random(size) < told, suburb // 2, rng.integers(5, size=size))
    state = np.where(rng.random(size) < told, postcode % 3, rng.integers(3, size=size))
    columns = {
        "suburb": [SUBURBS[code] for code in suburb],
        "postcode": [str(3050 + 7 * code) for code in postcode],
        "state": [("vic", "nsw", "qld")[code] for code in state],
        "colour": [("red", "blue", "green")[code] for code in rng.integers(3, size=size)],
    }
    gaps = {name: [None if rng.random() < missing else value for value in values] for name, values in columns.items()}
    return pl.DataFrame({"id": [f"r{number}" for number in range(size)], **gaps})


def dataset(kinds: str = "categorical", sizes=(120, 90), seed: int = 1, **options) -> tl.Dataset:
    rng = np.random.default_rng(seed)
    files = {name: frame(rng, size, **options) for name, size in zip("abc", sizes, strict=False)}
    return tl.Dataset.from_frames(files, id="id", fields=KINDS[kinds])


def with_codes(problem: tl.Problem, codes: np.ndarray) -> tl.Problem:
    """Return the problem with other values (records × fields); what was learnt of them stays."""
    fields = tuple(replace(field, codes=codes[:, place]) for place, field in enumerate(problem.fields))
    trees = []
    for tree in problem.trees:
        mine = tuple(fields[place] for place in tree.places)
        first = np.cumsum([0, *(channel.levels for channel in mine)])
        own = [
            np.where(channel.codes < 0, -1, channel.codes + begin) for channel, begin in zip(mine, first, strict=False)
        ]
        place = np.column_stack(own)
        trees.append(replace(tree, channels=mine, _place=place))
    return replace(problem, fields=fields, trees=tuple(trees))


def few(model: tl.Model, kinds: str = "categorical", sizes=(3, 3)) -> tl.Problem:
    """Return a problem with few records, the first of each file, that knows what was learnt of many."""
    every = tl.Problem.compile(model, dataset(kinds, (120, 90, 80)[: len(sizes)]))
    records = np.concatenate([np.flatnonzero(every.file_of == file)[:size] for file, size in enumerate(sizes)])
    small = tl.Problem.compile(model, dataset(kinds, sizes))
    codes = np.column_stack([field.codes[records] for field in every.fields])
    return with_codes(replace(every, sizes=small.sizes, file_of=small.file_of, linkage=small.linkage), codes)


def draw_values(rng, problem: tl.Problem, labels: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Draw what records say of categorical fields in one tree: true values, who is of another time, and errors."""
    (tree,) = problem.trees
    codes = np.zeros((problem.records, len(problem.fields)), dtype=np.int64)
    changed = rng.random(problem.records) < rates[problem.tree_rates[0]]
    labels = np.where(changed, labels.max() + 1 + np.arange(problem.records), labels)
    for label in np.unique(labels):
        records, truth = np.flatnonzero(labels == label), {}
        for child in range(len(tree.places) - 1, -1, -1):
            p, parent = tree.channels[child].code_probability(), tree.parents[child]
            weight = p if parent < 0 else p * joint_ratio(tree, child)[:-1, truth[parent]]
            truth[child] = int(rng.choice(len(p), p=weight / weight.sum()))
            wrong = rng.random(len(records)) < rates[problem.rate_of[tree.places[child], 0]]
            codes[records, tree.places[child]] = np.where(wrong, rng.choice(len(p), len(records), p=p), truth[child])
    return codes
