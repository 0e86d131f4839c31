"""Sampling one file, and three: what users do with clusters, end to end."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import tielink as tl
from command_line import run
from tielink.posterior.posterior import Posterior

NAMES = [
    "carsten",
    "gerd",
    "carsten",
    "robert",
    "gerda",
    "stefan",
    "robert",
    "stefan",
    "stefann",
    "ilse",
    "gerd",
    "uwe",
]
YEARS = ["49", "68", "49", "30", "57", "67", "30", "67", "67", "55", "68", "41"]
DUPLICATES = tl.Model(network=None, linkage=tl.EwensPitman(max_size=3))


def one_file(**known):
    frame = pl.DataFrame({"id": range(12), "name": NAMES, "year": YEARS})
    return tl.Dataset.from_frames({"rl": frame}, fields={"name": tl.String(), "year": tl.Categorical()}, **known)


def three_files(ties=False):
    frames = {
        name: pl.DataFrame({"id": range(4), "name": NAMES[4 * j : 4 * j + 4]}) for j, name in enumerate(("a", "b", "c"))
    }
    networks = {name: [(0, 1), (1, 2)] for name in ("a", "b")} if ties else None
    return tl.Dataset.from_frames(frames, networks, fields={"name": tl.String()})


def test_duplicates_of_one_file(tmp_path):
    anchors = [(("rl", 0), ("rl", 2)), (("rl", 5), ("rl", 7)), (("rl", 7), ("rl", 8))]
    data = one_file(anchors=anchors, nonmatches=[(("rl", 3), ("rl", 6))])
    posterior = tl.sample(DUPLICATES, data, chains=2, warmup=30, draws=150, seed=2, workers=0)
    assert (posterior.person[:, :, 0] == posterior.person[:, :, 2]).all()
    assert not (posterior.person[:, :, 3] == posterior.person[:, :, 6]).any()
    assert posterior.anchors.tolist() == [[0, 2], [5, 7], [5, 8], [7, 8]]
    sizes = [len(group) for group, _ in posterior.clusters()]
    assert max(sizes) <= 3
    truth = tl.Linkage.from_labels(data, {("rl", i): label for i, label in enumerate("abacdefeefbg"[:12])})
    assert truth.members[0].tolist() == [0, 2]
    links = tl.estimate(posterior)
    assert links.labels[0] == links.labels[2]
    assert links.labels[5] == links.labels[7]
    assert links.labels[3] != links.labels[6]
    posterior.save(tmp_path / "p.nc")
    again = Posterior.load(tmp_path / "p.nc")
    assert again.nonmatches.tolist() == [[3, 6]]
    assert again.prior.keys() == {"concentration", "discount"}
    assert again.prior["discount"] == pytest.approx(posterior.prior["discount"])
    assert again.model == posterior.model
    assert "prior's discount" in str(posterior.diagnose())


def test_known_non_matches_hold_in_larger_clusters():
    """Two records whose links to a third are sure stay apart when they are known to be two persons."""
    data = one_file(nonmatches=[(("rl", 5), ("rl", 8))])
    posterior = tl.sample(DUPLICATES, data, chains=1, warmup=0, draws=4, seed=1, workers=0)
    person = np.tile(np.arange(12), (1, 4, 1))
    person[0, :2, 7], person[0, 2:, 8] = 5, 7
    person[0, :1, 8] = 5
    wrong = tl.estimate(_with(posterior, person, np.empty((0, 2), dtype=np.int64)), tl.Binder(1, 4))
    right = tl.estimate(_with(posterior, person, posterior.nonmatches), tl.Binder(1, 4))
    assert wrong.labels[5] == wrong.labels[8]
    assert right.labels[5] != right.labels[8]


def _with(posterior, person, nonmatches):
    from dataclasses import replace

    return replace(posterior, person=person.astype(np.int16), nonmatches=nonmatches, conditional=None)


@pytest.mark.parametrize("network", [None, tl.LatentSpace(1), tl.SharedTies(power=0.5)])
def test_a_run_goes_on_where_it_stopped(network):
    """Half a run, a checkpoint, the other half: the draws of a whole run."""
    from tielink.project import Run
    from tielink.run.chain import Chain
    from tielink.run.job import Job

    linkage = tl.NegativeBinomial(max_size=3) if network is None else tl.OnePerFile()
    job = Job.make(tl.Model(network=network, linkage=linkage), three_files(network is not None), Run(seed=5))
    whole = Chain(job, 0)
    whole.begin()
    for sweep in range(6):
        whole.advance(sweep)
    arrays, values = whole.snapshot()
    other = Chain(job, 0)
    other.restore(arrays, values)
    for _ in range(6):
        whole.advance(None)
        other.advance(None)
        assert (whole.person() == other.person()).all()
    assert whole.log_likelihood() == other.log_likelihood()
    for name, value in whole.series().items():
        assert np.array_equal(value, other.series()[name])


def test_three_files():
    for prior in (tl.OnePerFile(), tl.MatchRate()):
        posterior = tl.sample(
            tl.Model(network=None, linkage=prior), three_files(), chains=1, warmup=20, draws=100, seed=1, workers=0
        )
        for linkage in posterior.draws():
            assert linkage.is_valid(prior.allowed)
        assert tl.estimate(posterior).is_valid(prior.allowed)
        assert posterior.intercepts.shape == (1, 100, 0)


def test_what_cannot_be_sampled_is_said():
    with pytest.raises(tl.InputError, match="only links records of different files"):
        tl.sample(tl.Model(network=None, linkage=tl.MatchRate()), one_file(), workers=0)
    with pytest.raises(tl.InputError, match="pairs between two files"):
        tl.sample(DUPLICATES, one_file(), sampler="paper", workers=0)


def test_anchors_inside_a_file_while_linking():
    frame = pl.DataFrame({"id": range(3), "name": NAMES[:3]})
    known = {"anchors": [(("a", 0), ("a", 2))]}
    with pytest.raises(tl.InputError, match="duplicates=True"):
        tl.Dataset.from_frames({"a": frame, "b": frame}, fields={"name": tl.String()}, **known)
    data = tl.Dataset.from_frames({"a": frame, "b": frame}, fields={"name": tl.String()}, duplicates=True, **known)
    tl.Problem.compile(DUPLICATES, data)
    with pytest.raises(tl.InputError, match="allows one record, or two of different files"):
        tl.Problem.compile(tl.Model(), data)


def test_a_truth_of_clusters_is_read(tmp_path):
    pl.DataFrame({"id": range(12), "name": NAMES, "year": YEARS}).write_csv(tmp_path / "rl.csv")
    pl.DataFrame({"id": range(12), "cluster": list("abacdefeegbh")}).write_csv(tmp_path / "truth.csv")
    text = '[files.rl]\nrecords = "rl.csv"\n[fields]\nname = "string"\n[data]\ntruth = "truth.csv"\n'
    text += '[model]\nnetwork = "none"\n[model.linkage]\nkind = "negative_binomial"\nmax_size = 3\n'
    (tmp_path / "project.toml").write_text(text)
    result = run("check", tmp_path / "project.toml")
    assert result.returncode == 0, result.stderr
    assert "8 persons" in result.stdout
    assert "microclustering" in result.stdout
    pl.DataFrame({"id": [1, 1, 99], "cluster": ["a", "b", "c"]}).write_csv(tmp_path / "truth.csv")
    result = run("check", tmp_path / "project.toml")
    assert result.returncode == 2
    assert "stands already in" in result.stderr
    assert "unknown id '99'" in result.stderr
