"""Candidates: found without visiting every pair, and the same as if every pair had been scored."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import tielink as tl
from tielink.data.columns import MISSING
from tielink.logp.profiles import log_evidence
from tielink.sampler.candidates import find_candidates

FIELDS = {"name": tl.String(vocabulary="closed"), "city": tl.Categorical(), "year": tl.Categorical()}


def files(seed: int, sizes: tuple[int, ...] = (40, 30), missing: float = 0.1) -> dict[str, pl.DataFrame]:
    rng = np.random.default_rng(seed)
    names = ["".join(rng.choice(list("abcd"), size=rng.integers(3, 7))) for _ in range(30)]

    def column(values, size):
        drawn = rng.choice(values, size=size)
        return [None if rng.random() < missing else str(value) for value in drawn]

    return {
        f"file{number}": pl.DataFrame(
            {
                "id": range(size),
                "name": column(names, size),
                "city": column(["x", "y", "z"], size),
                "year": column(range(20), size),
            }
        )
        for number, size in enumerate(sizes)
    }


def compiled(sizes: tuple[int, ...] = (40, 30), seed: int = 1, linkage=None, **known) -> tl.Problem:
    data = tl.Dataset.from_frames(files(seed, sizes), fields=FIELDS, **known)
    return tl.Problem.compile(tl.Model(linkage=linkage), data)


def scores(problem: tl.Problem) -> np.ndarray:
    """The evidence of every two records at the start, by definition."""
    left, right = (grid.ravel() for grid in np.indices((problem.records,) * 2))
    total = sum(
        log_evidence(field, field.start(), problem.rates[place].prior.mean, left, right)
        for place, field in enumerate(problem.fields)
    )
    return total.reshape(problem.records, problem.records)


def of(pairs: np.ndarray, record: int) -> np.ndarray:
    """The records that one record is paired with."""
    return pairs[(pairs == record).any(axis=1)].sum(axis=1) - record


@pytest.mark.parametrize("within", [False, True])
def test_the_likeliest_pairs_are_found(within):
    problem = compiled((40, 30, 20), linkage=tl.EwensPitman() if within else tl.MatchRate())
    exact = scores(problem)
    np.fill_diagonal(exact, -np.inf)
    if not within:
        exact[problem.file_of[:, None] == problem.file_of[None, :]] = -np.inf
    found = find_candidates(problem, most=100, doubt=np.log(90 - (1 if within else 20)), every_pair=0)
    listed = np.zeros_like(exact, dtype=bool)
    listed[tuple(found.T)] = True
    listed |= listed.T
    # Values that are not near share one number a field, so that pairs at the very edge may fall on either side.
    assert not (listed & (exact < -0.5)).any()
    assert not (~listed & (exact > 0.5)).any()
    assert listed.sum() > 50


def test_a_record_keeps_its_best_and_every_pair_stands_once():
    problem = compiled()
    exact = scores(problem)
    found = find_candidates(problem, most=3, doubt=50.0, every_pair=0)
    for record in range(problem.records):
        others = problem.file_of != problem.file_of[record]
        best = np.flatnonzero(others)[np.argmax(exact[record][others])]
        if exact[record, best] > 0:  # else nothing need agree with it
            assert exact[record, of(found, record)].max() > exact[record, best] - 0.5
    assert (found[:, 0] < found[:, 1]).all()
    assert np.array_equal(found, np.unique(found, axis=0))
    assert len(found) <= 3 * problem.records


def test_known_nonmatches_are_no_candidates():
    apart = [(0, 0), (3, 4)]
    for every_pair in (0, 10_000):
        problem = compiled(nonmatches=apart)
        found = find_candidates(problem, doubt=100.0, most=70, every_pair=every_pair)
        assert 40 not in of(found, 0)
        assert 44 not in of(found, 3)
    assert len(find_candidates(problem)) == 40 * 30 - 2


def test_records_without_any_value_have_no_candidates():
    frames = files(2)
    frames["file0"] = frames["file0"].with_columns(
        pl.when(pl.col("id") == 5).then(None).otherwise(pl.col(name)).alias(name) for name in ("name", "city", "year")
    )
    problem = tl.Problem.compile(tl.Model(), tl.Dataset.from_frames(frames, fields=FIELDS))
    assert all(field.codes[5] == MISSING for field in problem.fields)
    assert not len(of(find_candidates(problem, doubt=100.0, every_pair=0), 5))
