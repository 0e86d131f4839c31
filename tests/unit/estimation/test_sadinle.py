"""Sadinle's loss against every decision there is, the undecided ones included."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

import tielink as tl
from posteriors import posterior_of, random_draws
from tielink.data.records import Records

RECORDS = Records({"x": [1, 2, 3], "y": [1, 2, 3]})
ALONE, UNDECIDED = -1, -2


def expected_loss(answer, draws, loss: tl.Sadinle) -> float:
    """The definition: answer[j] is a record of the first file, ALONE or UNDECIDED."""
    total = 0.0
    for draw in draws:
        for j, said in enumerate(answer):
            match = next((i for i in range(3) if draw[i] == draw[3 + j]), ALONE)
            if said == UNDECIDED:
                total += loss.undecided
            elif said != match:
                total += (
                    loss.false_nonmatch if said == ALONE else loss.false_match if match == ALONE else loss.wrong_match
                )
    return total / len(draws)


def answer_of(decision) -> list[int]:
    labels = decision.linkage.labels
    review = set(decision.review.pairs[:, 1].tolist())
    linked = [next((i for i in range(3) if labels[i] == labels[3 + j]), ALONE) for j in range(3)]
    return [UNDECIDED if 3 + j in review else linked[j] for j in range(3)]


@pytest.mark.parametrize(
    "loss", [tl.Sadinle(), tl.Sadinle(1, 1, 2, 0.1), tl.Sadinle(3, 1, 1.5, 0.8), tl.Sadinle(1, 1, 2, 9)], ids=str
)
def test_no_decision_has_a_smaller_expected_loss(loss):
    rng = np.random.default_rng(4)
    undecided = 0
    for _ in range(12):
        draws = random_draws(rng, RECORDS, "pairs")
        decision = tl.estimate(posterior_of(RECORDS, draws), loss)
        answers = [
            answer
            for answer in product((0, 1, 2, ALONE, UNDECIDED), repeat=3)
            if len({said for said in answer if said >= 0}) == sum(said >= 0 for said in answer)
        ]
        least = min(expected_loss(answer, draws, loss) for answer in answers)
        assert expected_loss(answer_of(decision), draws, loss) == pytest.approx(least)
        undecided += answer_of(decision).count(UNDECIDED)
    assert (undecided > 0) == (loss.undecided < 1)


def test_undecided_pairs_come_as_a_frame_to_look_at():
    draws = [[0, 1, 2, 0, 3, 4]] * 5 + [[0, 1, 2, 1, 3, 4]] * 5
    decision = tl.estimate(posterior_of(RECORDS, draws), tl.Sadinle())
    assert decision.undecided.rows() == [("x", 1, "y", 1, 0.5), ("x", 2, "y", 1, 0.5)]
    assert decision.linkage.persons == 6
    assert "1 records, 2 pairs" in repr(decision)


def test_probabilities_that_cannot_be_one_to_one_are_refused():
    table = pl.DataFrame({"id_a": [1, 2], "id_b": [1, 1], "probability": [0.7, 0.6]})
    with pytest.raises(tl.InputError, match="y/1 add up to more than 1"):
        tl.estimate(table, tl.Sadinle(), data=RECORDS)
    three = Records({"x": [1], "y": [1], "z": [1]})
    with pytest.raises(tl.InputError, match="here are 3"):
        tl.estimate(posterior_of(three, [[0, 1, 2]]), tl.Sadinle())
