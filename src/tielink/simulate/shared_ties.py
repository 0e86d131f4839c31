"""Files whose networks share ties, drawn sparsely: time and memory grow with records and ties, not with dyads.

The model is that of `SharedTies`: dyad (i, i') of a file has a Poisson count of rate θ_i θ_i', and is tied if that is
not 0. A part of the count, of rate ρ·c_p·c_q with c_p the smallest θ of person p, is common to all files that hold both
persons; the rest is each file's own. All dyads of a person together are drawn as so many events, whose two ends are
persons chosen in proportion to θ. Communities and triangles, which the model does not know of, are options.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage
from tielink.faults import Faults, listed
from tielink.logp.parameters import Parameters
from tielink.model.spec import Model
from tielink.simulate.people import FIELDS, people
from tielink.simulate.prior import Simulated, blank
from tielink.simulate.scenario import known_matches, labels_with_overlap

__all__ = ["Together", "check_settings", "draw_shared_ties", "rates_of_records", "shared_ties"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

SHAPE = 2.0
"""Of the gamma distribution of how sociable persons are: degrees have a long tail, and few are 0."""
WITHIN = 0.8
"""Where there are communities: the share of ties whose two ends are chosen within one."""


def shared_ties(
    rng: np.random.Generator,
    sizes: Mapping[str, int] | None = None,
    overlap: int = 40,
    *,
    ties: float = 10.0,
    sharing: float = 0.5,
    communities: int = 0,
    closure: float = 0.0,
    anchors: float = 0.0,
    fields: Sequence[str] = FIELDS,
    missing: float = 0.04,
) -> Simulated:
    """Draw files of people whose networks share a part of their ties.

    Parameters
    ----------
    rng
        Source of randomness.
    sizes
        The number of records of each file; by default 60 in `a` and 60 in `b`.
    overlap
        How many persons have a record in the first and in the second file.
    ties
        The expected number of ties of a record. A few less are made: a dyad is tied once, however often drawn.
    sharing
        ρ, the share of ties between persons of both files that the files have in common.
    communities
        The number of communities, to which persons belong at random; four ties in five then stay within one. 0: none.
    closure
        The share of ties that close a triangle, in what is common and in what is each file's own.
    anchors
        The share of true matches that are known beforehand.
    fields
        Which fields of `simulate.people` the records have; `()` for ties alone. Such profiles are for two files.
    missing
        The share of profile values that are missing.

    Returns
    -------
    Simulated
        `.dataset`, `.truth` and the parameters behind them.

    >>> made = shared_ties(np.random.default_rng(1), {"a": 50, "b": 40}, overlap=30, fields=())
    >>> made.dataset.records, len(made.truth.pair_numbers)
    (Records(a: 50, b: 40), 30)
    """
    sizes = dict(sizes or {"a": 60, "b": 60})
    check_settings(
        sizes, overlap, ties=ties, sharing=sharing, communities=communities, closure=closure, anchors=anchors,
        missing=missing, fields=fields,
    )  # fmt: skip
    if fields:
        dataset, truth = _people(rng, sizes, overlap, fields, missing)
    else:
        dataset = blank(sizes, {})
        truth = Linkage(dataset.records, labels_with_overlap(rng, list(sizes.values()), overlap))
    together = Together(truth.labels, dataset.records.file_of, sharing, closure)
    if communities:
        together.community = rng.integers(communities, size=truth.persons)
    theta = rates_of_records(rng, together, ties)
    drawn = dict(zip(sizes, draw_shared_ties(rng, together, theta), strict=True))
    dataset = replace(dataset, ties=drawn, anchors=known_matches(rng, truth, anchors))
    nowhere, nothing = np.zeros((truth.persons, 0)), np.empty(0)
    return Simulated(dataset, truth, Parameters(truth.labels, nowhere, np.zeros(len(sizes)), 1.0, nothing), Model())


class Together:
    """Who is whom, what persons have in common, and how their ties depend on each other."""

    def __init__(self, labels: Codes, file_of: Codes, sharing: float, closure: float = 0.0) -> None:
        self.labels, self.file_of = labels, file_of
        self.sharing, self.closure = sharing, closure
        self.community: Codes | None = None
        """The community of every person."""


def draw_shared_ties(rng: np.random.Generator, together: Together, theta: Floats) -> list[Codes]:
    """Draw the ties of every file, as pairs of its own record numbers, given θ of every record.

    Of two files without duplicates, communities and closure, exactly as `SharedTies` has it. Of more files, what is
    common to any two of them is common to all.
    """
    labels, sharing = together.labels, together.sharing
    least = np.full(int(labels.max(initial=-1)) + 1, np.inf)
    np.minimum.at(least, labels, theta)
    common = _closed(rng, _events(rng, least, sharing, together, together.community), together.closure)
    drawn = []
    for file in range(int(together.file_of.max(initial=-1)) + 1):
        here = np.flatnonzero(together.file_of == file)
        person, rate = labels[here], theta[here]
        community = None if together.community is None else together.community[person]
        own = _events(rng, rate, 1.0, together, community)
        kept = 1 - sharing * np.prod(least[person[own]] / rate[own], axis=1)
        own = _closed(rng, own[rng.random(len(own)) < kept], together.closure)
        drawn.append(_different(np.concatenate([own, *_in_file(common, person, len(least))]), len(here)))
    return drawn


def rates_of_records(rng: np.random.Generator, together: Together, ties: float) -> Floats:
    """Return θ of every record: persons are more or less sociable, in every file alike, and files have the mean."""
    theta = rng.gamma(SHAPE, size=int(together.labels.max()) + 1)[together.labels]
    for file in range(int(together.file_of.max()) + 1):
        here = together.file_of == file
        theta[here] *= math.sqrt(ties * here.sum()) / theta[here].sum()
    return theta


def _events(
    rng: np.random.Generator, weight: Floats, share: float, together: Together, community: Codes | None
) -> Codes:
    """Draw the counts of all dyads, of rate share·w_i w_i', as a list of them; some room is left for closure.

    With communities, the second end is mostly chosen in that of the first, again in proportion to weight.
    """
    order = np.arange(len(weight)) if community is None else np.argsort(community, kind="stable")
    bounds = np.concatenate([[0.0], np.cumsum(weight[order])])
    count = rng.poisson(share * (1 - together.closure) * bounds[-1] ** 2 / 2)
    first = np.searchsorted(bounds, rng.random(count) * bounds[-1], side="right") - 1
    low, high = np.zeros(count), np.full(count, bounds[-1])
    if community is not None:
        edges = np.searchsorted(community[order], np.arange(community.max(initial=0) + 2))
        within, mine = rng.random(count) < WITHIN, community[order[first]]
        low[within], high[within] = bounds[edges[mine[within]]], bounds[edges[mine[within] + 1]]
    second = np.searchsorted(bounds, low + rng.random(count) * (high - low), side="right") - 1
    ends = np.column_stack([order[first], order[np.minimum(second, len(weight) - 1)]])
    return np.asarray(ends[ends[:, 0] != ends[:, 1]])


def _closed(rng: np.random.Generator, ties: Codes, closure: float) -> Codes:
    """Add ties between two neighbours of somebody, so that they are about a share `closure` of all."""
    count = rng.poisson(closure / (1 - closure) * len(ties)) if len(ties) else 0
    both = np.concatenate([ties, ties[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    start, middle = both[rng.integers(len(both), size=count)].T if count else np.empty((2, 0), dtype=np.int64)
    begin, end = (np.searchsorted(both[:, 0], middle, side=side) for side in ("left", "right"))
    last = both[begin + (rng.random(count) * (end - begin)).astype(np.int64), 1]
    new = np.column_stack([start, last])
    return np.concatenate([ties, new[start != last]])


def _in_file(common: Codes, person: Codes, persons: int) -> list[Codes]:
    """Return ties between persons as ties between their records in a file; duplicates have all of them."""
    order, found = np.argsort(person, kind="stable"), []
    number = np.bincount(person, minlength=persons)
    begin = np.cumsum(number) - number
    for a in range(number.max(initial=0)):
        for b in range(number.max(initial=0)):
            both = common[(number[common[:, 0]] > a) & (number[common[:, 1]] > b)]
            found.append(order[begin[both] + np.array([a, b])])
    return found


def _different(ties: Codes, records: int) -> Codes:
    """Return every tie once, the smaller number first."""
    keys = np.unique(ties.min(axis=1) * max(records, 1) + ties.max(axis=1))
    return np.column_stack(np.divmod(keys, max(records, 1))).astype(np.int64)


def _people(
    rng: np.random.Generator, sizes: Mapping[str, int], overlap: int, fields: Sequence[str], missing: float
) -> tuple[Dataset, Linkage]:
    """Make the profiles of two files, under these names."""
    (first, left), (second, right) = sizes.items()
    made = people(rng, (left, right), overlap, missing)
    named = {first: made.frames["original"], second: made.frames["copy"]}
    frames = {name: frame.select("id", *fields) for name, frame in named.items()}
    dataset = Dataset.from_frames(frames, id="id")
    return dataset, Linkage.from_pairs(dataset, made.matches)


def check_settings(
    sizes: Mapping[str, int],
    overlap: int,
    *,
    ties: float,
    communities: int,
    fields: Sequence[str] = (),
    **shares: float,
) -> None:
    """Raise one error with everything that cannot be drawn."""
    faults = Faults()
    for name, size in sizes.items():
        if size < 1:
            faults.error("shared_ties", f"file {name!r} has {size} records.", "Give at least 1.")
    most = min([*sizes.values()][:2]) if len(sizes) > 1 else 0
    if not 0 <= overlap <= most:
        faults.error("shared_ties", f"overlap is {overlap}.", f"Give a number from 0 to {most}.")
    fewest = min(sizes.values(), default=0)
    if not 0 <= ties < max(fewest, 1):
        faults.error("shared_ties", f"ties is {ties!r}.", f"Give a number from 0 to below {fewest}, the smallest file.")
    if communities < 0:
        faults.error("shared_ties", f"communities is {communities!r}.", "Give a number of communities, or 0 for none.")
    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        faults.error("shared_ties", f"fields names {listed(unknown)}.", f"Choose from {listed(list(FIELDS), 8)}.")
    if fields and len(sizes) != 2:
        faults.error(
            "shared_ties", f"profiles are made for two files, not {len(sizes)}.", "Give fields=() for ties alone."
        )
    for name, value in shares.items():
        whole = name in ("anchors", "missing")
        if not (0 <= value < 1 or (whole and value == 1)):
            faults.error(
                "shared_ties", f"{name} is {value!r}.", f"Give a share from 0 to {'' if whole else 'below '}1."
            )
    faults.raise_errors()
