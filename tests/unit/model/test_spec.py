"""Specifications: checked when made, written out whole, read back the same."""

from __future__ import annotations

import dataclasses
import math
import pickle
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tielink as tl
from tielink.data.sources import Sources
from tielink.faults import Faults
from tielink.project import Project, Run

POSITIVE = st.floats(1e-3, 1e3)
BETAS = st.builds(tl.Beta, POSITIVE, POSITIVE)
FREQUENCIES = st.just("empirical") | st.dictionaries(st.text(max_size=5), POSITIVE, min_size=1)
CLOSED = st.builds(
    tl.String,
    distortion=BETAS,
    vocabulary=st.just("closed"),
    frequencies=FREQUENCIES,
    sharpness=POSITIVE,
    distance=st.sampled_from(["levenshtein", "osa", "jaro_winkler"]),
    max_distance=st.sampled_from(["auto", "none"]) | POSITIVE,
)
STRINGS = CLOSED | st.builds(tl.String, distortion=BETAS, frequencies=FREQUENCIES, another=BETAS, edits=BETAS)
CATEGORIES = st.builds(
    tl.Categorical,
    distortion=BETAS,
    concentration=POSITIVE,
    by_file=st.booleans(),
)
MEASURES = st.builds(tl.Number, BETAS, POSITIVE, BETAS, by_file=st.booleans()) | st.builds(
    tl.Date, BETAS, st.integers(0, 9), format=st.sampled_from(["auto", "%d/%m/%Y"])
)
FIELDS = STRINGS | CATEGORIES | MEASURES
NETWORKS = st.builds(
    tl.LatentSpace,
    dimension=st.integers(1, 9),
    link=st.sampled_from(["logit", "probit"]),
    intercept_sd=POSITIVE | st.dictionaries(st.text("abc", min_size=1), POSITIVE, min_size=1),
    spread=st.builds(tl.Elicited, POSITIVE) | st.builds(tl.InverseGamma, POSITIVE, POSITIVE),
)
MODELS = st.builds(
    tl.Model,
    network=st.none() | NETWORKS,
    linkage=st.just(tl.Uniform()) | st.builds(tl.MatchRate, POSITIVE, POSITIVE, st.booleans()),
    fields=st.none() | st.dictionaries(st.text("xyz", min_size=1), FIELDS),
    kinds=st.fixed_dictionaries({}, optional={"string": STRINGS}),
    careless=st.none() | st.builds(tl.Careless, BETAS, BETAS),
)


@given(model=MODELS, chains=st.integers(1, 9), seed=st.integers(0, 2**40))
def test_a_project_file_keeps_every_choice(tmp_path_factory, model, chains, seed):
    path = tmp_path_factory.mktemp("project") / "project.toml"
    sources = Sources(
        path.parent, {"a": "a.csv"}, {"a": "t.csv"}, ids={"a": "key"}, fields={"x": tl.String()}, missing=["NA"],
        ignore=["y"], guess=True,
    )  # fmt: skip
    project = Project(sources, model, Run(chains=chains, seed=seed))
    project.write(path)
    assert Project.read(path) == project


def test_everything_is_written_out():
    assert tl.Model().to_table()["linkage"] == "by_files"
    table = tl.Model(network=tl.LatentSpace(), linkage=tl.MatchRate()).to_table()
    assert set(table) == {"network", "linkage", "fields", "kinds", "careless", "dependence"}
    assert set(table["network"]) == {"kind", *(f.name for f in dataclasses.fields(tl.LatentSpace))}
    assert set(table["linkage"]) == {"kind", *(f.name for f in dataclasses.fields(tl.MatchRate))}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: tl.LatentSpace(dimension=0, link="cauchit"), ["dimension is 0.", "link is 'cauchit'."]),
        (lambda: tl.LatentSpace(dimension=True), ["dimension is True."]),
        (lambda: tl.LatentSpace(intercept_sd={"a": -1}), ["intercept_sd is {'a': -1}."]),
        (lambda: tl.LatentSpace(spread=3), ["spread is 3."]),
        (lambda: tl.MatchRate(0, math.nan), ["a is 0.", "b is nan."]),
        (lambda: tl.MatchRate(1, 1, "yes"), ["anchors_inform is 'yes'."]),
        (lambda: tl.Beta(-1, "x"), ["a is -1.", "b is 'x'."]),
        (
            lambda: tl.String(vocabulary="closed", sharpness=0, distance="hamming"),
            ["sharpness is 0.", "distance is 'hamming'."],
        ),
        (lambda: tl.String(sharpness=2, max_distance=3), ["sharpness is 2.", "max_distance is 3."]),
        (lambda: tl.String(vocabulary="closed", edits=tl.Beta(1, 1)), [f"edits is {tl.Beta(1, 1)!r}."]),
        (lambda: tl.String(frequencies={}), ["frequencies is {}."]),
        (lambda: tl.String(distortion=0.1, vocabulary="half"), ["distortion is 0.1.", "vocabulary is 'half'."]),
        (lambda: tl.Categorical(concentration=-2), ["concentration is -2."]),
        (lambda: tl.Categorical(concentration=0, by_file=1), ["by_file is 1.", "concentration is 0."]),
        (lambda: tl.Number(tolerance=-1, another=2), ["another is 2.", "tolerance is -1."]),
        (lambda: tl.Date(tolerance="x", format="%d/%m"), ["tolerance is 'x'.", "format is '%d/%m'."]),
        (lambda: tl.Careless(share=0.1), ["share is 0.1."]),
        (lambda: tl.Model(careless="careless"), ["careless is 'careless'."]),
        (lambda: tl.Model(network="yes", linkage=3), ["network is 'yes'.", "linkage is 3."]),
        (lambda: tl.Model(kinds={"string": tl.Categorical()}), [f"kinds is {{'string': {tl.Categorical()!r}}}."]),
        (lambda: tl.Run(chains=0, draws=1.5), ["chains is 0.", "draws is 1.5."]),
        (lambda: tl.InverseGamma(0, 1), ["shape is 0."]),
        (lambda: tl.Elicited(0), ["cv is 0."]),
    ],
)
def test_every_complaint_at_once(make, said):
    with pytest.raises(tl.InputError) as error:
        make()
    assert [fault.what for fault in error.value.faults] == said
    assert all(fault.do.startswith("Give ") for fault in error.value.faults)


def test_specifications_are_frozen_and_hashable():
    with pytest.raises(dataclasses.FrozenInstanceError):
        tl.Model().network = None
    assert hash(tl.Model()) == hash(tl.Model())
    assert tl.Model.paper(3) != tl.Model.paper(4)


def test_the_paper_is_the_paper():
    model = tl.Model.paper(dimension=4)
    assert model.linkage == tl.Uniform()
    assert model.network == tl.LatentSpace(4, "logit", 100.0, tl.Elicited(0.5))
    declared = {"u": tl.String(edits=tl.Beta(9, 9), distortion=tl.Beta(5, 5)), "c": tl.Categorical(concentration=3)}
    fields = model.fields_for(declared)
    assert fields["u"] == tl.String(tl.Beta(1, 99), "closed", "empirical", 1.0, "levenshtein", "none")
    assert fields["c"] == tl.Categorical(tl.Beta(1, 99), 1.0, by_file=False)
    assert model.careless is None


def test_specifications_keep_their_own_copies():
    fields = {"x": tl.String(frequencies={"a": 1.0})}
    model = tl.Model(fields=fields, network=tl.LatentSpace(np.int64(3), intercept_sd={"a": 2.0}))
    fields["y"] = tl.Categorical()
    assert set(model.fields) == {"x"}
    assert hash(model) == hash(pickle.loads(pickle.dumps(model)))
    with pytest.raises(TypeError, match="cannot be changed"):
        model.fields["y"] = tl.Categorical()
    assert type(model.network.dimension) is int


def test_a_project_written_elsewhere_still_finds_its_files(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("id\n1\n")
    (tmp_path / "data" / "p.toml").write_text('[files.a]\nrecords = "a.csv"\n[data]\ndirected = "mutual"\n')
    project = Project.read(tmp_path / "data" / "p.toml")
    assert project.sources.directed == {"a": "mutual"}
    project.write(tmp_path / "q.toml")
    assert Project.read(tmp_path / "q.toml").dataset().records.sizes == (1,)


@pytest.mark.parametrize(
    "text",
    [
        'fields.x = {kind = ["string"]}',
        'model.network.spread = {kind = "inverse_gamma"}',
        "model.network.spread = {kind = 'elicited', cv = 1e-200}",
        f"fields.x = {{kind = 'string', sharpness = {'9' * 400}}}",
        "fields.x = {kind = 'string', frequencies = {p = 1e308, q = 1e308}}",
        "run.kind = 'walk'",
        "x = " + "[" * 5000,
    ],
)
def test_strange_project_files_are_faults(text, tmp_path):
    assert project_faults(text + '\nfiles.a.records = "a.csv"\n', tmp_path)


def test_four_hundred_dimensions():
    assert tl.LatentSpace(dimension=400).spread_prior(100).scale > 0


@pytest.mark.parametrize("records", [5, 9, 16, 17, 604])
def test_the_crowding_factor(records):
    mean = math.sqrt(records) / (math.sqrt(records) - 2) * 2 * records**2
    assert tl.LatentSpace(dimension=1).spread_prior(records).scale == pytest.approx(5 * mean)


def test_the_papers_elicitation():
    spread = tl.LatentSpace(dimension=2).spread_prior(604)
    mean = math.sqrt(604) / (math.sqrt(604) - 2) * math.pi * 604
    assert spread.shape == 6
    assert spread.scale / (spread.shape - 1) == pytest.approx(mean)
    assert tl.LatentSpace(dimension=1).spread_prior(4).scale == pytest.approx(5 * 2 * 16)


def test_fields_by_name_by_kind_or_as_declared():
    declared = {"u": tl.String(), "c": tl.Categorical()}
    sharp, flat = tl.String(edits=tl.Beta(5, 5)), tl.Categorical(concentration=9)
    assert tl.Model().fields_for(declared) == declared
    assert tl.Model(fields={}).fields_for(declared) == {}
    assert tl.Model(fields={"u": flat}).fields_for(declared) == {"u": flat}
    assert tl.Model(fields=declared | {"u": sharp}).fields_for(declared) == {"u": sharp, "c": tl.Categorical()}
    assert tl.Model(kinds={"string": sharp}).fields_for(declared) == {"u": sharp, "c": tl.Categorical()}
    with pytest.raises(tl.InputError, match="Did you mean 'user'"):
        tl.Model(fields={"usr": sharp}).fields_for({"user": tl.String()})


def project_faults(text: str, folder: Path) -> list[str]:
    path = folder / "project.toml"
    path.write_text(text)
    with pytest.raises(tl.InputError) as error:
        Project.read(path)
    return [str(fault) for fault in error.value.faults]


def test_a_bad_project_file_names_every_fault_and_the_nearest_names(tmp_path):
    found = project_faults(
        """
        colour = "red"
        [files.a]
        recrds = "a.csv"
        [files.b]
        records = 7
        directed = "both"
        [fields]
        username = "strng"
        [fields.city]
        kind = "categorical"
        concentration = -1
        [data]
        missing = 7
        faulty_ties = "ignore"
        [model]
        netwrk = "none"
        [model.network]
        kind = "latent_space"
            dimention = 3
        [model.linkage]
        kind = "match_rate"
        a = "one"
        [run]
        chains = 0
        """,
        tmp_path,
    )
    for expected in [
        "unknown table [colour]",
        "[files.a]: unknown setting 'recrds'. Did you mean 'records'?",
        "[files.a]: has no records",
        "[files.b]: records is 7",
        "directed is 'both'",
        "unknown kind 'strng'. Did you mean 'string'?",
        "[fields.city]: concentration is -1",
        "missing is 7",
        "faulty_ties is 'ignore'",
        "model: unknown setting 'netwrk'. Did you mean 'network'?",
        "model.network: unknown setting 'dimention'. Did you mean 'dimension'?",
        "model.linkage: a is 'one'",
        "run: chains is 0",
    ]:
        assert any(expected in fault for fault in found), (expected, found)


@pytest.mark.parametrize(
    "text",
    ["not toml", "[files]\na = 3", "files = 3", "[files.a]\nrecords='a.csv'\n[model]\nfields = 'some'\n", "model = 3"],
)
def test_other_bad_project_files(text, tmp_path):
    assert project_faults(text, tmp_path)


def test_a_function_cannot_be_written_out():
    model = tl.Model(fields={"x": tl.String(vocabulary="closed", distance=lambda a, b: abs(len(a) - len(b)))})
    with pytest.raises(tl.InputError, match="a function, which a project file cannot hold"):
        model.to_table()


def test_descriptions_say_what_the_prior_implies():
    frame = pl.DataFrame({"id": range(40), "name": [f"n{i}" for i in range(40)], "city": ["x", "y"] * 20})
    data = tl.Dataset.from_frames({"a": frame, "b": frame}, {"a": [(0, 1)]}, anchors=[(0, 0)])
    text = tl.Model(fields={"name": tl.String()}).describe(data)
    assert "expects 59.5 persons" in text
    assert "No network in: b." in text
    assert "Not used by this model: city." in text
    assert "how likely a true string is comes from frequencies in the files" in text
    assert "the paper's prior" in tl.Model.paper().describe(data)
    assert "Ties: not used" in tl.Model(network=None, fields={}).describe(data)
    bare = tl.Dataset.from_frames({"a": frame, "b": frame}, fields={})
    assert "linking rests on profiles alone" in tl.Model().describe(bare)


def test_models_that_do_not_fit_the_data():
    frame = pl.DataFrame({"id": [1, 2], "name": ["p", "q"]})
    data = tl.Dataset.from_frames({"a": frame, "b": frame}, {"a": [(1, 2)]}, fields={"name": tl.String()})
    model = tl.Model(
        network=tl.LatentSpace(intercept_sd={"a": 1, "c": 1}),
        fields={"name": tl.String(vocabulary="closed", frequencies={"p": 1})},
    )
    with pytest.raises(tl.InputError) as error:
        tl.Problem.compile(model, data)
    assert [fault.where for fault in error.value.faults] == ["model.network", "field 'name'"]
    assert Faults().errors == ()


@pytest.mark.parametrize(
    ("setting", "meant"),
    [
        ("shared_ties", tl.SharedTies()),
        ("latent_space", tl.LatentSpace()),
        ("none", None),
        ({"kind": "shared_ties", "power": 0.5, "sharing": {"a": 2.0, "b": 3.0}}, tl.SharedTies(0.5, tl.Beta(2, 3))),
        ({"kind": "shared_ties", "sharing": 0.7}, tl.SharedTies(sharing=0.7)),
    ],
)
def test_a_project_file_names_the_model_of_ties(setting, meant):
    faults = Faults()
    model = tl.Model.from_table({"network": setting}, "model", faults)
    assert not faults.errors
    assert model.network == meant
    assert tl.Model.from_table(model.to_table(), "model", Faults()) == model


def test_shared_ties_are_described_in_words():
    people = {name: pl.DataFrame({"id": [1, 2], "name": ["x", "y"]}) for name in "ab"}
    ties = {name: pl.DataFrame({"source": [1], "target": [2]}) for name in "ab"}
    data = tl.Dataset.from_frames(people, ties, fields={"name": tl.String()})
    text = tl.Model().describe(data)
    assert "tied in one file are often tied in another" in text
    assert "in common ~ Beta(1, 1), mean 0.5." in text
    assert "learnt by a pilot run" in text
    fixed = tl.Model(network=tl.SharedTies(power=0.4, sharing=0.8)).describe(data)
    assert "in common is 0.8." in fixed
    assert "a power from 0 to 1: 0.4" in fixed
