"""Sums over true values of groups of values, and the table that keeps them, against their definition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import tielink as tl
from tielink.data.columns import MISSING
from tielink.logp.profiles import log_group, log_single
from tielink.sampler.groups import FORGET_AFTER, Groups
from tielink.sampler.listed import ListedPairs
from tielink.sampler.profiles import Profiles
from tielink.sampler.table import find

NAMES = ["anna", "ana", "bob", None, "anna", "bo", "bob", "hanna"]
PLACES = ["x", "x", "y", "z", None, "y", "y", "x"]


@pytest.fixture
def groups():
    frame = pl.DataFrame({"id": range(8), "name": NAMES, "place": PLACES})
    data = tl.Dataset.from_frames(
        {"a": frame[:5], "b": frame[5:]}, fields={"name": tl.String(vocabulary="closed"), "place": tl.Categorical()}
    )
    profiles = Profiles(tl.Problem.compile(tl.Model(network=None, linkage=tl.EwensPitman(max_size=5)), data))
    state = profiles.start()
    state.rates = np.array([0.2, 0.35])
    return Groups(profiles, 5, state)


def ask(groups, *wanted):
    """Ask for groups as kernels do."""
    for records in wanted:
        groups.wanted[groups.missing[0]] = [*records, *[-1] * (groups.largest - len(records))]
        groups.missing[0] += 1
    groups.supply()


def defined(groups, records):
    total = 0.0
    for place, field in enumerate(groups.profiles.fields):
        known = np.array([record for record in records if field.codes[record] != MISSING])
        rate, own = groups.state.rates[place], groups.state.fields[place]
        if len(known):
            total += log_group(field, own, rate, field.codes[known])
            total -= log_single(field, own, rate, field.codes[known]).sum()
    return total


@pytest.mark.parametrize("records", [[0, 1], [2, 6], [0, 3], [3, 4], [0, 1, 7], [2, 5, 6], [0, 3, 4], [0, 1, 2, 5, 6]])
def test_evidence_of_a_group_is_its_definition(groups, records):
    assert groups.evidence(np.array([records]))[0] == pytest.approx(defined(groups, records), abs=1e-12)


def row_of(groups, records):
    return groups.table.bucket[find(groups.table, np.array(records), len(records))]


def test_groups_enter_the_table_are_renewed_and_forgotten(groups):
    assert row_of(groups, [0, 1, 7]) == -1
    ask(groups, [0, 1, 7], [0, 1], [2, 6], [0, 3])
    row = row_of(groups, [0, 1, 7])
    assert groups.table.value[row] == pytest.approx(defined(groups, [0, 1, 7]))
    groups.state.rates = np.array([0.05, 0.1])
    groups.refresh(groups.state)
    for records in ([0, 1], [2, 6], [0, 3], [0, 1, 7]):
        assert groups.table.value[row_of(groups, records)] == pytest.approx(defined(groups, records))
    for _ in range(2 * FORGET_AFTER):
        groups.refresh(groups.state)
    assert row_of(groups, [0, 1, 7]) == -1
    assert groups.count == 0


def test_careless_records_have_their_rates_in_pairs_too():
    frame = pl.DataFrame({"id": range(8), "name": NAMES, "place": PLACES})
    data = tl.Dataset.from_frames({"a": frame}, fields={"name": tl.String(), "place": tl.Categorical()})
    model = tl.Model(network=None, linkage=tl.EwensPitman(max_size=3), careless=tl.Careless())
    profiles = Profiles(tl.Problem.compile(model, data))
    state = profiles.start()
    pairs = np.array(list(combinations(range(8), 2)))
    listed, groups = ListedPairs(profiles, pairs, np.zeros(len(pairs))), Groups(profiles, 3, state)
    listed.refresh(state)
    nobody = listed.evidence.copy()
    state.careless[[0, 2, 5]] = True
    listed.refresh(state)
    assert listed.evidence == pytest.approx(groups.evidence(pairs), abs=1e-12)
    assert np.abs(listed.evidence - nobody).max() > 0.1


def test_rates_may_differ_by_file(groups):
    """Terms hold no rate: those of each record are put in when they are mixed."""
    field, own = groups.profiles.fields[0], groups.state.fields[0]
    records, rates = np.array([0, 1, 7]), np.array([0.1, 0.3, 0.6])
    terms = field.group(own, field.codes[records][None])[:, 0]
    bits = (np.arange(8)[:, None] >> np.arange(3)) & 1
    mixed = (terms * np.where(bits, rates, 1 - rates).prod(axis=1)).sum()
    assert np.log(mixed) == pytest.approx(log_group(field, own, rates, field.codes[records]))
