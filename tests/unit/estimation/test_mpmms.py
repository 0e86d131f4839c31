"""Most probable maximal matching sets against plain counting."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import tielink as tl
from posteriors import posterior_of, random_draws
from tielink.data.records import Records

RECORDS = Records({"x": [1, 2], "y": [1, 2], "z": [1, 2]})


def most_frequent(draws) -> dict[int, tuple[int, ...]]:
    """Each record's most frequent cluster; ties: the smaller set, then the smaller numbers."""
    best = {}
    for record in range(draws.shape[1]):
        counts = Counter(tuple(np.flatnonzero(draw == draw[record]).tolist()) for draw in draws)
        best[record] = min(counts, key=lambda group: (-counts[group], len(group), group))
    return best


@pytest.mark.parametrize("allowed", ["pairs", "one_per_file", "free"])
def test_shared_sets_are_those_that_all_members_name(allowed):
    rng = np.random.default_rng(2)
    seen_disagreement = False
    for _ in range(20):
        draws = random_draws(rng, RECORDS, allowed, count=15)
        best = most_frequent(draws)
        shared = {group for group in best.values() if all(best[member] == group for member in group)}
        links = tl.estimate(posterior_of(RECORDS, draws), tl.SharedMPMMS())
        groups = {tuple(group.tolist()) for group in links.members}
        assert {group for group in groups if len(group) > 1} == {group for group in shared if len(group) > 1}
        seen_disagreement |= len(set(best.values())) > len(shared)
    assert seen_disagreement, "the draws must put the rule to work"


def test_without_sharing_the_surer_set_goes_first():
    draws = np.array([[0, 1, 2, 3, 4, 5]] * 3 + [[0, 1, 0, 3, 4, 5]] * 4 + [[0, 1, 0, 3, 0, 5]] * 5)
    posterior = posterior_of(RECORDS, draws)
    # Records 0 and 2 name {0, 2, 4}; so does nobody else: 4 was alone 7 times of 12.
    assert most_frequent(draws)[4] == (4,)
    assert tl.estimate(posterior, tl.SharedMPMMS()).persons == 6
    # {4} (7 draws) is surer than {0, 2, 4} (5), so the latter cannot have 4, and 0 and 2 stay alone.
    assert tl.estimate(posterior, tl.MPMMS()).persons == 6
    draws = np.array([[0, 1, 0, 3, 4, 5]] * 5 + [[0, 1, 2, 0, 4, 5]] * 4 + [[0, 1, 2, 3, 4, 3]] * 3)
    # 0 names {0, 2}, but 2 was alone more often; 3 names {0, 3} or {3, 5} or itself, seen 4, 3 and 5 times.
    posterior = posterior_of(RECORDS, draws)
    assert [most_frequent(draws)[record] for record in (0, 2, 3)] == [(0, 2), (2,), (3,)]
    assert tl.estimate(posterior, tl.SharedMPMMS()).persons == tl.estimate(posterior, tl.MPMMS()).persons == 6


def test_of_two_overlapping_sets_the_surer_is_taken():
    draws = np.array([[0, 1, 0, 3, 4, 5]] * 6 + [[0, 1, 2, 3, 2, 5]] * 5)
    posterior = posterior_of(RECORDS, draws)
    # 0 and 2 name {0, 2}; 4 names itself (6 draws of 11), and 2 is not free for {2, 4}.
    assert tl.estimate(posterior, tl.MPMMS()).pair_numbers.tolist() == [[0, 2]]
    assert tl.estimate(posterior, tl.SharedMPMMS()).pair_numbers.tolist() == [[0, 2]]


def test_every_mpmms_estimate_is_made_of_sets_that_some_record_names():
    rng = np.random.default_rng(8)
    for _ in range(20):
        draws = random_draws(rng, RECORDS, "free", count=15)
        named = set(most_frequent(draws).values())
        links = tl.estimate(posterior_of(RECORDS, draws), tl.MPMMS())
        assert all(tuple(group.tolist()) in named for group in links.members if len(group) > 1)
        shared = tl.estimate(posterior_of(RECORDS, draws), tl.SharedMPMMS())
        assert {tuple(group.tolist()) for group in shared.members if len(group) > 1} <= {
            tuple(group.tolist()) for group in links.members
        }, "a set that all its members name overlaps no other that is named"


def test_a_table_has_no_clusters():
    import polars as pl

    table = pl.DataFrame({"file_a": ["x"], "id_a": [1], "file_b": ["y"], "id_b": [1], "probability": [0.9]})
    with pytest.raises(tl.InputError, match="needs draws of linkages"):
        tl.estimate(table, tl.MPMMS(), data=RECORDS)
