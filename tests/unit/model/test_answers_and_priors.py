"""Matches that a person was asked about: the posterior is the one without them, given that they match."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

import tielink as tl
from posteriors import partitions
from tielink.logp.linkage import log_linkage
from tielink.review import Answer

FRAMES = {
    name: pl.DataFrame({"id": [f"{name}{i}" for i in range(size)]}) for name, size in zip("abc", (4, 4, 1), strict=True)
}
KNOWN = [(("a", "a0"), ("b", "b0"))]
ASKED = [Answer(("a", "a1"), ("b", "b1"), (("b", "b1"),)), Answer(("a", "a2"), "none", (("b", "b1"), ("b", "b2")))]


@pytest.mark.parametrize(
    ("prior", "files"),
    [
        *product([tl.MatchRate(2, 3), tl.Uniform(), tl.MatchRate(1, 1, anchors_inform=True)], ["ab"]),
        (tl.OnePerFile(), "abc"),
        (tl.EwensPitman(concentration=1.0, discount=0.2, max_size=3), "ab"),
    ],
)
def test_the_prior_given_answers_is_the_prior_conditioned_on_them(prior, files):
    frames = {name: FRAMES[name] for name in files}
    free = prior.allowed == "free"
    before = tl.Dataset.from_frames(frames, fields={}, anchors=KNOWN, duplicates=free)
    after = tl.Dataset.from_frames(frames, fields={}, anchors=KNOWN, answers=ASKED, duplicates=free)
    assert len(after.anchors.pair_numbers) == 2
    problems = [tl.Problem.compile(tl.Model(network=None, linkage=prior), data) for data in (before, after)]
    number = before.records.number
    a1, b1, a2, b2, a0, b0 = (number((name[0], name)) for name in ("a1", "b1", "a2", "b2", "a0", "b0"))
    allowed = [
        labels
        for labels in partitions(before.records, prior.allowed)
        if labels[a1] == labels[b1] and labels[a2] not in (labels[b1], labels[b2]) and labels[a0] == labels[b0]
        and np.bincount(labels).max() <= 3
    ]  # fmt: skip
    assert len(allowed) > 3
    one, two = (np.array([log_linkage(problem, labels) for labels in allowed]) for problem in problems)
    assert np.isfinite(two).all()
    np.testing.assert_allclose(two - two[0], one - one[0], atol=1e-9)


def test_as_anchors_they_would_not_be():
    frames = {name: FRAMES[name] for name in "ab"}
    known = tl.Dataset.from_frames(frames, fields={}, anchors=[*KNOWN, (("a", "a1"), ("b", "b1"))])
    asked = tl.Dataset.from_frames(frames, fields={}, anchors=KNOWN, answers=ASKED[:1])
    steps = [
        np.diff(tl.Problem.compile(tl.Model(network=None), data).linkage.log_by_matches) for data in (known, asked)
    ]
    assert steps[1][0] > steps[0][0], "a match that was asked about speaks for more matches"
