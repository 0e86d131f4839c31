"""Audits of made linkages whose true precision and recall are known: 95 % intervals cover them."""

from __future__ import annotations

import numpy as np
import pytest

import tielink as tl
from posteriors import posterior_of
from tielink.data.records import Records
from tielink.evaluation.audit import NOBODY, OTHER, RIGHT, audit_plan
from tielink.posterior.pairs import PairProbabilities

REPETITIONS, SIZE, QUESTIONS = 200, 600, 100


ANY = posterior_of(Records({"a": ["0"], "b": ["0"]}), [[0, 1]])


class Made:
    """Pairs with probabilities, a truth drawn from them (or from others), and the linkage at one half."""

    def __init__(self, rng: np.random.Generator, honest: bool, easy: bool) -> None:
        ends = (0.3, 0.3) if not easy else (0.05, 0.02)
        claimed = rng.beta(*ends, size=SIZE)
        chance = claimed if honest else np.clip(claimed, 0.03, 0.9)
        same = rng.random(SIZE) < chance
        # Now and then the partner is another one than the likeliest: that of the next record, if that is free.
        names = [str(number) for number in range(SIZE)]
        records = Records({"a": names, "b": names})
        number = np.arange(SIZE)
        self.partner = np.where(same, number, -1)
        moved = (number % 7 == 0) & ~same & (rng.random(SIZE) < 0.15)
        moved &= ~same[(number + 1) % SIZE]
        self.partner[moved] = (number[moved] + 1) % SIZE
        self.linked = claimed > 0.5
        pairs = np.column_stack([number, number + SIZE])
        labels = np.arange(2 * SIZE)
        labels[SIZE:][self.linked] = number[self.linked]
        conditional = PairProbabilities(pairs, claimed, np.zeros(SIZE))
        known = {"records": records, "person": labels[None, None], "conditional": conditional}
        self.posterior = tl.Posterior(**{**vars(ANY), **known})
        self.linkage = tl.Linkage(records, labels)
        right = self.linked & same
        self.precision = right.sum() / self.linked.sum()
        self.recall = right.sum() / (self.partner >= 0).sum()

    def answer(self, record: int) -> int:
        if self.linked[record] and self.partner[record] == record:
            return RIGHT
        return NOBODY if self.partner[record] < 0 else OTHER


@pytest.mark.parametrize(("honest", "easy"), [(True, False), (False, False), (True, True)])
def test_intervals_cover_the_truth(honest, easy):
    covered = np.zeros(2)
    widths = []
    for repetition in range(REPETITIONS):
        made = Made(np.random.default_rng(repetition), honest, easy)
        plan = audit_plan(made.posterior, made.linkage, questions=QUESTIONS, seed=repetition)
        found = plan.estimate({int(r): made.answer(int(r)) for r in plan.units[:QUESTIONS]})
        for place, (true, (low, high)) in enumerate(
            [(made.precision, found.precision_interval), (made.recall, found.recall_interval)]
        ):
            covered[place] += low - 1e-9 <= true <= high + 1e-9
            widths.append(high - low)
    # A share of 95 % falls below 90 % in 200 repetitions once in about a thousand times.
    assert (covered >= 0.9 * REPETITIONS).all(), covered
    assert np.mean(widths) < 0.35, "and they say something"


def test_planted_error_a_sample_that_is_not_weighted_does_not_cover():
    missed = 0
    for repetition in range(40):
        made = Made(np.random.default_rng(repetition), honest=False, easy=False)
        plan = audit_plan(made.posterior, made.linkage, questions=QUESTIONS, seed=repetition)
        flat = type(plan)(plan.units, plan.stratum, np.maximum(np.bincount(plan.stratum[plan.units], minlength=5), 1))
        found = flat.estimate({int(r): made.answer(int(r)) for r in plan.units[:QUESTIONS]})
        low, high = found.recall_interval
        missed += not low <= made.recall <= high
    assert missed > 10


def test_every_first_part_of_a_plan_is_a_sample_of_every_stratum():
    made = Made(np.random.default_rng(1), honest=True, easy=False)
    plan = audit_plan(made.posterior, made.linkage, questions=200)
    assert len(set(plan.units.tolist())) == len(plan.units)
    assert set(plan.stratum[plan.units[:50]]) == set(plan.stratum[plan.units])
    assert (plan.units < SIZE).all(), "records of the first file: each link is counted once"
    half = plan.estimate({int(r): made.answer(int(r)) for r in plan.units[:50]})
    whole = plan.estimate({int(r): made.answer(int(r)) for r in plan.units})
    assert np.ptp(whole.recall_interval) < np.ptp(half.recall_interval)
    assert whole.complete


def test_asking_everybody_leaves_no_doubt():
    made = Made(np.random.default_rng(2), honest=True, easy=False)
    plan = audit_plan(made.posterior, made.linkage, questions=10 * SIZE)
    found = plan.estimate({int(r): made.answer(int(r)) for r in plan.units})
    assert found.precision == pytest.approx(made.precision)
    assert found.recall == pytest.approx(made.recall)
    assert found.recall_interval == pytest.approx((made.recall, made.recall))
    assert "precision" in str(found)


def test_nothing_asked_is_nothing_known():
    made = Made(np.random.default_rng(2), honest=True, easy=False)
    found = audit_plan(made.posterior, made.linkage).estimate({})
    assert np.isnan(found.precision)
    assert not found.complete
    assert "Nothing" in str(found)
