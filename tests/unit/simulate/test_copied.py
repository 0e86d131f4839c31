"""Made networks of which one is partly a copy of the other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tielink as tl
from tielink.simulate import scenario


def test_ties_between_shared_persons_are_copied():
    made = scenario(np.random.default_rng(2), overlap=40, vocabularies={}, spread=50.0, copied=1.0)
    pairs = made.truth.pair_numbers - np.array([0, 60])
    ties = [{tuple(tie) for tie in made.dataset.ties[name].tolist()} for name in "ab"]
    for (a, b), (c, d) in itertools.combinations(pairs.tolist(), 2):
        assert ((min(a, c), max(a, c)) in ties[0]) == ((min(b, d), max(b, d)) in ties[1])
    assert made.dataset.ties["b"].dtype == np.int64


@pytest.mark.parametrize(
    ("model", "sizes", "copied"),
    [
        (tl.Model(), None, 1.5),
        (tl.Model(), {"a": 60}, 0.5),
        (tl.Model(network=None), None, 0.5),
    ],
)
def test_a_share_that_cannot_be_copied_is_refused(rng, model, sizes, copied):
    with pytest.raises(tl.InputError, match=f"copied is {copied}"):
        scenario(rng, model, sizes, overlap=0, copied=copied)
