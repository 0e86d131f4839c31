"""Profile evidence: closed forms against sums, sums against the uncollapsed joint."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, product

import numpy as np
import polars as pl
import pytest
from scipy.special import logsumexp

import tielink as tl
from tielink.logp import Parameters, log_joint, log_joint_terms
from tielink.logp.profiles import (
    log_collapsed,
    log_distortion,
    log_evidence,
    log_group,
    log_pair,
    log_single,
    log_uncollapsed,
)

NAMES = ["ann", "anna", "bob", None, "bo", "ann", "anna"]
CITIES = ["x", "y", "x", "z", None, "x", "y"]


def problem(cap="none"):
    frame = pl.DataFrame({"id": range(7), "name": NAMES, "city": CITIES})
    data = tl.Dataset.from_frames(
        {"a": frame[:4], "b": frame[4:]},
        fields={"name": tl.String(vocabulary="closed", max_distance=cap), "city": tl.Categorical()},
    )
    return tl.Problem.compile(tl.Model(), data)


NOTHING = np.empty(0)
FREQUENCIES = (NOTHING, np.array([0.5, 0.3, 0.2]))


@pytest.mark.parametrize("cap", ["none", 2])
@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("rate", [0.01, 0.4, 0.99])
def test_closed_forms_are_the_sums_over_true_values(cap, index, rate):
    field, frequencies = problem(cap).fields[index], FREQUENCIES[index]
    values = np.arange(field.levels)
    singles = [log_group(field, frequencies, rate, np.array([v])) for v in values]
    assert log_single(field, frequencies, rate, values) == pytest.approx(singles)
    assert logsumexp(singles) == pytest.approx(0, abs=1e-12)
    left, right = (grid.ravel() for grid in np.meshgrid(values, values))
    pairs = [log_group(field, frequencies, rate, np.array(pair)) for pair in zip(left, right, strict=True)]
    assert log_pair(field, frequencies, rate, left, right) == pytest.approx(pairs)
    triples = [log_group(field, frequencies, rate, np.array(triple)) for triple in product(values, repeat=3)]
    assert logsumexp(triples) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("index", [0, 1])
def test_evidence_is_the_change_of_the_collapsed_probability(index):
    field, frequencies = problem().fields[index], FREQUENCIES[index]
    alone = log_collapsed(field, frequencies, 0.2, np.arange(7))
    left, right = np.array([0, 0, 1, 2, 3, 3]), np.array([5, 6, 5, 4, 4, 6])
    for a, b, evidence in zip(left, right, log_evidence(field, frequencies, 0.2, left, right), strict=True):
        labels = np.arange(7)
        labels[b] = a
        assert log_collapsed(field, frequencies, 0.2, labels) - alone == pytest.approx(evidence)
        assert (evidence == 0) == (field.codes[a] < 0 or field.codes[b] < 0)


@pytest.mark.parametrize("labels", [[0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 2, 0, 1], [0, 0, 0, 1, 1, 0, 2]])
def test_summing_true_values_and_distortions_gives_the_collapsed_probability(labels):
    """Σ_π Σ_w p(values, w, π | ξ) = Π m(…), one person at a time because persons are independent."""
    full, labels = problem(), np.array(labels)
    for index, field in enumerate(full.fields):
        total = 0.0
        for person in range(labels.max() + 1):
            members = np.flatnonzero((labels == person) & (field.codes >= 0))
            only = replace(full, file_of=full.file_of[members])
            only = replace(only, fields=tuple(replace(each, codes=each.codes[members]) for each in full.fields))
            logs = [
                log_uncollapsed(
                    only,
                    index,
                    Parameters(
                        labels=np.zeros(len(members), dtype=np.int64),
                        positions=np.zeros((1, 0)),
                        intercepts=np.zeros(2),
                        spread=1.0,
                        distortion=np.array([0.3, 0.2]),
                        fields=FREQUENCIES,
                        true_values=np.full((1, 2), value),
                        distorted=np.repeat(np.array(w, dtype=bool).reshape(-1, 1), 2, axis=1),
                    ),
                )
                for value in range(field.levels)
                for w in product([False, True], repeat=len(members))
            ]
            total += logsumexp(logs)
        rate = (0.3, 0.2)[index]
        assert log_collapsed(field, FREQUENCIES[index], rate, labels) == pytest.approx(total)


def test_the_papers_worked_example():
    """Three files of gender, state and race (section 3.1 of the paper): 4 + 5 + 4 records of 4 persons."""
    columns = ["gender", "state", "race"]
    files = {
        "one": ["F CA Black", "M RI Asian", "M CA White", "F MA White"],
        "two": ["F LA White", "M MI Asian", "F NJ Black", "M CA White", "M CA White"],
        "three": ["M IA White", "F PA White", "F NV Black", "M MI Asian"],
    }
    records = {
        name: pl.DataFrame([row.split() for row in rows], schema=columns, orient="row").with_row_index("id", 1)
        for name, rows in files.items()
    }
    data = tl.Dataset.from_frames(records, fields={name: tl.Categorical() for name in columns})
    truth = tl.Linkage.from_labels(data, [2, 3, 4, 1, 1, 3, 2, 4, 4, 4, 1, 2, 3])
    assert truth.persons == 4
    assert (("one", 4), ("two", 1), ("three", 2)) in truth.clusters()
    assert truth.is_valid("free")
    assert truth.violations("one_per_file") == [(("one", 3), ("two", 4), ("two", 5), ("three", 1))]
    problem = tl.Problem.compile(tl.Model(network=None, linkage=tl.Uniform()), data)
    parameters = Parameters(
        labels=truth.labels,
        positions=np.zeros((4, 0)),
        intercepts=np.zeros(3),
        spread=1.0,
        distortion=np.array([0.01, 0.5, 0.01]),
        fields=tuple(np.full(field.levels, 1 / field.levels) for field in problem.fields),
    )
    apart = replace(parameters, labels=np.arange(13), positions=np.zeros((13, 0)))

    def profiles(p):
        return sum(value for name, value in log_joint_terms(problem, p) if name.startswith("values"))

    assert profiles(parameters) > profiles(apart) + 10
    assert log_joint(problem, parameters) == -np.inf  # four records are no pair: outside the paper's own class
    true_values = {"gender": "FFMM", "state": ["CA", "NY", "MI", "CA"], "race": ["White", "Black", "Asian", "White"]}
    assert "NY" not in data.columns["state"].values, true_values
    distorted = [
        [value != true_values[name][label - 1] for name, value in zip(columns, row.split(), strict=True)]
        for label, row in zip([2, 3, 4, 1, 1, 3, 2, 4, 4, 4, 1, 2, 3], chain(*files.values()), strict=True)
    ]
    assert np.array(distorted).sum(axis=0).tolist() == [0, 8, 0]


def test_edges_are_finite_or_plainly_impossible():
    field = problem().fields[0]
    assert log_distortion(tl.Beta(1, 99), 0.0) == pytest.approx(np.log(99))
    assert np.isfinite(log_group(field, NOTHING, 0.3, np.zeros(3_000, dtype=np.int64)))
    assert log_group(field, NOTHING, 0.0, np.array([0, 1])) == -np.inf
    assert log_pair(field, NOTHING, 0.0, np.array([0]), np.array([1])) == -np.inf
