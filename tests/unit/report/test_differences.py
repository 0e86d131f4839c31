"""What known matches and sure links say of the priors, and matches that nobody can name."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import tielink as tl
from tielink.report.differences import rests_on_priors, surprising_fields
from tielink.report.result import Result


def result(wrong: float, known: int, prior: tl.Beta | None = None, names: bool = True) -> Result:
    rng = np.random.default_rng(1)
    name = [f"{a}{b}{c}" for a, b, c in rng.choice(list("abcdefghijklmnopqrstuvwxyz"), (40, 3))]
    habit = rng.integers(4, size=40)
    later = np.where(rng.random(40) < wrong, (habit + 1) % 4, habit)
    frames = {
        file: pl.DataFrame({"id": range(40), "name": name, "habit": [f"h{value}" for value in values]})
        for file, values in (("a", habit), ("b", later))
    }
    fields = {"habit": tl.Categorical(*() if prior is None else (prior,))} | ({"name": tl.String()} if names else {})
    data = tl.Dataset.from_frames(frames, id="id", fields=fields, anchors=[(k, k) for k in range(known)])
    model = tl.Model(network=None)
    posterior = tl.sample(model, data, chains=1, warmup=50, draws=100, seed=2, workers=0, progress=False)
    return Result.of(posterior, data)


@pytest.mark.parametrize(("known", "what"), [(12, "known matches"), (0, "sure links")])
def test_a_field_that_differs_more_than_its_prior_expects_is_named(known, what):
    (said,) = surprising_fields(result(0.7, known, tl.Beta(1, 99)))
    assert what in said
    assert "'habit'" in said
    assert surprising_fields(result(0.05, known, tl.Beta(1, 99))) == []
    assert surprising_fields(result(0.7, known, tl.Beta(1, 2))) == []


def test_matches_that_are_counted_but_not_seen_are_said():
    (said,) = rests_on_priors(result(0.4, 0, names=False))
    assert "are sure" in said
    assert rests_on_priors(result(0.4, 0)) == []
