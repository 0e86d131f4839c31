"""Ties in words: whom both know, by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.explanation.contributions import Pair, Weights
from tielink.fields import PersonName, String
from tielink.posterior.posterior import Posterior

__all__ = ["Row", "called", "degrees", "neighbours_in_common", "tie_rows"]

MOST_NAMED = 5
LEAST_NAMED = 0.05
"""Neighbours with a row of their own: at most so many, each of at least so much log-odds."""

Row = tuple[str, float, str]
"""A part of the log-odds, its value, and a detail."""


def called(data: Dataset, *records: int) -> str:
    """Return what a person with these records is called: by a name, else by the most telling string, or by an id."""
    for name in [*_most_values_first(data, PersonName), *_most_values_first(data, String)]:
        column = data.columns[name]
        for record in records:
            if column.codes[record] >= 0:
                return column.values[int(column.codes[record])]
    return str(data.records[records[0]][1])


def _most_values_first(data: Dataset, kind: type) -> list[str]:
    names = [name for name, field in data.fields.items() if isinstance(field, kind) and name in data.columns]
    return sorted(names, key=lambda name: -len(data.columns[name].values))


def tie_rows(data: Dataset, counts: NDArray[np.int64], pair: Pair, weights: Weights) -> list[Row]:
    """Return a row for each neighbour that says much, one for the others whom both know, and one each for the rest.

    The rest are linked people whom one of the two knows, and those whom neither knows.
    """
    draws, total = len(weights.ties), float(np.mean(weights.ties))
    means = {who: sum(gains) / draws for who, gains in weights.shared.items()}
    order = sorted(means, key=lambda who: (-abs(means[who]), who))
    named = [who for who in order[:MOST_NAMED] if abs(means[who]) >= LEAST_NAMED]
    others = order[len(named) :]
    rows = []
    for who in named:
        share = len(weights.shared[who]) / draws
        names = dict.fromkeys(f"{file}/{key}" for file, key in (data.records[record] for record in who))
        linked = f", one person in {share:.0%} of draws" if len(names) > 1 else ""
        part = f"both know {called(data, *who)} ({_ties(counts[list(who)])})"
        rows.append((part, means[who], " and ".join(names) + linked))
    if others:
        part = f"both know {_people(len(others), 'more ' if named else '')}"
        rows.append((part, sum(means[who] for who in others), "some of them in few draws"))
    files = data.records.file_of[list(pair)]
    linked = "" if files[0] == files[1] else "linked "
    if any(weights.strangers):
        strangers = max(1, round(float(np.mean(weights.strangers))))
        part = f"one knows {_people(strangers, linked)} whom the other does not"
        rows.append((part, float(np.mean(weights.unshared)), "a mean over draws"))
    missing = [data.files[file] for file in files if data.ties[data.files[file]] is None]
    detail = f"no network in {missing[0]}" if missing else "they have in common whom they do not know"
    rows.append((f"neither knows other {linked}people", total - sum(value for _, value, _ in rows), detail))
    return rows


def degrees(data: Dataset) -> NDArray[np.int64]:
    """Return the number of ties of every record."""
    counts = [
        np.zeros(size, dtype=np.int64) if ties is None else np.bincount(ties.ravel(), minlength=size)
        for size, ties in zip(data.records.sizes, data.ties.values(), strict=True)
    ]
    return np.concatenate(counts)


def _people(number: int, kind: str = "") -> str:
    return f"{number:,} {kind}{'person' if number == 1 else 'people'}"


def _ties(counts: NDArray[np.int64]) -> str:
    """Say how many ties the records have: those of people with few ties say most."""
    said = " and ".join(dict.fromkeys(f"{count:,}" for count in counts))
    return f"{said} {'tie' if (counts == 1).all() else 'ties'}"


def _around(data: Dataset, record: int) -> set[int]:
    """Return the records that a record is tied to."""
    file = int(data.records.file_of[record])
    ties, offset = data.ties[data.files[file]], data.records.offsets[file]
    if ties is None:
        return set()
    mine = ties[(ties == record - offset).any(axis=1)] + offset
    return set(mine.ravel().tolist()) - {record}


def neighbours_in_common(posterior: Posterior, data: Dataset, pair: Pair) -> str:
    """Say how many neighbours of the two are probably one person with each other, and of how many."""
    if any(data.ties[data.files[int(data.records.file_of[record])]] is None for record in pair):
        return "one file has no network"
    left, right = (_around(data, record) for record in pair)
    found = posterior.pair_probabilities
    likely = found.pairs[found.probability > 0.5].tolist()
    shared = len(left & right) + sum((a in left and b in right) or (a in right and b in left) for a, b in likely)
    return f"{shared} neighbours in common (linked with p > ½), of {len(left)} and {len(right)} ties"
