"""Specifications beyond the paper's model: switches, egos, activity, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import tielink as tl
from partitions import matches, pairings
from tielink.faults import Faults
from tielink.logp.linkage import log_linkage

FILES = {"a": 5, "b": 6}


def dataset(**known):
    stars = {"a": [(0, other) for other in range(1, 5)], "b": [(1, 2), (2, 3), (3, 4), (1, 3)]}
    frames = {name: pl.DataFrame({"id": range(size)}) for name, size in FILES.items()}
    return tl.Dataset.from_frames(frames, stars, fields={}, **known)


def test_true_is_short_for_the_defaults_and_false_is_the_paper():
    on = tl.LatentSpace(tie_correlation=True, sociality=True)
    assert on == tl.LatentSpace(tie_correlation=tl.TieCorrelation(sd=2.0), sociality=tl.Sociality(scale=1.0))
    assert tl.MatchRate(1, 1, activity=True) == tl.MatchRate(1, 1, activity=tl.Activity(sd=1.0))
    assert tl.Model.paper().network == tl.LatentSpace(2, "logit", 100.0, tl.Elicited(0.5), False, False)
    assert tl.Problem.compile(tl.Model(), dataset()).network.correlation_sd is None


@pytest.mark.parametrize(
    "model",
    [
        tl.Model(network=tl.LatentSpace(tie_correlation=tl.TieCorrelation(1.0, egos={"a": ["0"]}), sociality=True)),
        tl.Model(linkage=tl.MatchRate(activity=tl.Activity(0.5))),
        tl.Model(network=tl.LatentSpace(tie_correlation=True)),
    ],
)
def test_tables_and_back(model):
    assert tl.Model.from_table(model.to_table(), "model", Faults()) == model
    assert hash(model.network) == hash(tl.Model.from_table(model.to_table(), "model", Faults()).network)


def test_a_project_file_may_say_true():
    faults = Faults()
    table = {"network": {"tie_correlation": True, "sociality": {"scale": 0.5}}, "linkage": {"kind": "match_rate"}}
    model = tl.Model.from_table(table, "model", faults)
    faults.raise_errors()
    assert model.network == tl.LatentSpace(tie_correlation=True, sociality=tl.Sociality(0.5))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: tl.LatentSpace(tie_correlation=2.0), "tie_correlation is 2.0"),
        (lambda: tl.LatentSpace(sociality="yes"), "sociality is 'yes'"),
        (lambda: tl.TieCorrelation(sd=0), "sd is 0"),
        (lambda: tl.TieCorrelation(egos="guess"), "egos is 'guess'"),
        (lambda: tl.TieCorrelation(egos={"a": "12"}), "egos is"),
        (lambda: tl.Sociality(-1), "scale is -1"),
        (lambda: tl.MatchRate(activity=tl.Activity(0)), "sd is 0"),
        (lambda: tl.MatchRate(activity=1), "activity is 1"),
    ],
)
def test_wrong_settings_are_refused(make, said):
    with pytest.raises(tl.InputError, match=said):
        make()


def test_egos_are_detected_and_said():
    model = tl.Model(network=tl.LatentSpace(tie_correlation=True))
    problem = tl.Problem.compile(model, dataset())
    assert np.flatnonzero(~problem.network.correlated).tolist() == [0]
    assert "Egos left out of it (tied to everybody in their file): a/0." in model.describe(dataset())


def test_egos_may_be_declared():
    declared = tl.Model(network=tl.LatentSpace(tie_correlation=tl.TieCorrelation(egos={"b": ["3", 4]})))
    problem = tl.Problem.compile(declared, dataset())
    assert np.flatnonzero(~problem.network.correlated).tolist() == [8, 9]
    assert "Egos left out of it: b/3 and b/4." in declared.describe(dataset())
    nobody = tl.Model(network=tl.LatentSpace(tie_correlation=tl.TieCorrelation(egos={})))
    assert tl.Problem.compile(nobody, dataset()).network.correlated.all()
    unknown = tl.Model(network=tl.LatentSpace(tie_correlation=tl.TieCorrelation(egos={"b": [77], "c": [1]})))
    with pytest.raises(tl.InputError, match=r"unknown id 77 in file 'b'.*\n.*unknown file 'c'"):
        tl.Problem.compile(unknown, dataset())


def test_what_is_not_defined_for_three_files_or_duplicates_is_refused():
    frame = pl.DataFrame({"id": range(4)})
    data = tl.Dataset.from_frames(dict.fromkeys("abc", frame), {name: [(0, 1)] for name in "abc"}, fields={})
    model = tl.Model(network=tl.LatentSpace(tie_correlation=True, sociality=True), linkage=tl.MatchRate(activity=True))
    with pytest.raises(tl.InputError, match="activity is defined for two files") as caught:
        tl.Problem.compile(model, data)
    assert "tie_correlation" not in str(caught.value)
    assert "sociality" not in str(caught.value)
    both = tl.Problem.compile(replace(model, linkage=tl.OnePerFile()), data).network
    assert (both.correlation_sd, both.sociality_scale) == (2.0, 1.0)
    duplicates = replace(model, linkage=tl.EwensPitman(max_size=3))
    with pytest.raises(tl.InputError, match="tie_correlation is not defined for persons with several records in one"):
        tl.Problem.compile(duplicates, data)


@pytest.mark.parametrize("inform", [False, True])
@pytest.mark.parametrize("alpha", [-1.5, 0.0, 0.8])
def test_probabilities_of_all_linkages_sum_to_one_whatever_degrees_weigh(alpha, inform):
    data = dataset(anchors=[(("a", 1), ("b", 2))])
    whole = tl.Problem.compile(tl.Model(linkage=tl.MatchRate(2, 1, inform, activity=True)), data)
    plain = tl.Problem.compile(tl.Model(linkage=tl.MatchRate(2, 1, inform)), data)
    linkages = [one for one in pairings(np.repeat([0, 1], [5, 6]).tolist()) if one[1] == one[7]]
    logs = np.array([log_linkage(whole, one, activity=alpha) for one in linkages])
    if alpha == 0:
        assert logs == pytest.approx([log_linkage(plain, one) for one in linkages])
    if not inform:
        by_matches = np.bincount([matches(one) - 1 for one in linkages], weights=np.exp(logs))
        assert by_matches == pytest.approx(np.exp(plain.linkage.log_matches))
        assert np.exp(logs).sum() == pytest.approx(1)
    if alpha > 0:
        z = np.concatenate(whole.linkage.activity.scores)
        busy, quiet = np.argmax(z[:5]), np.argmin(np.where(np.arange(5) == 1, np.inf, z[:5]))
        linked = [
            np.exp(logs)[[sum(label == one[a] for label in one) == 2 for one in linkages]].sum() for a in (busy, quiet)
        ]
        assert linked[0] > linked[1]


def test_activity_with_informing_anchors_is_the_whole_prior_restricted():
    """All linkages of all records sum to one; those that hold the anchors have the same weights as if told of them."""
    told = tl.Problem.compile(tl.Model(linkage=tl.MatchRate(2, 1, True, activity=True)), dataset())
    known = tl.Problem.compile(
        tl.Model(linkage=tl.MatchRate(2, 1, True, activity=True)), dataset(anchors=[(("a", 1), ("b", 2))])
    )
    linkages = list(pairings(np.repeat([0, 1], [5, 6]).tolist()))
    assert np.exp([log_linkage(told, one, activity=0.8) for one in linkages]).sum() == pytest.approx(1)
    for one in linkages:
        if one[1] == one[7]:
            assert log_linkage(known, one, activity=0.8) == pytest.approx(log_linkage(told, one, activity=0.8))
