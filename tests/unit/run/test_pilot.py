"""The permutation test of the pilot run: ties count where files share them, and not where they are anybody's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tielink as tl
from tielink.project import Run
from tielink.run.job import Job
from tielink.run.pilot import learn_power, pilot_sweeps


def files_with_ties():
    rng = np.random.default_rng(1)
    return tl.simulate.shared_ties(rng, {"a": 50, "b": 50}, overlap=35, ties=6, fields=("surname", "state")).dataset


def given_to_others(data):
    """Return the data with the ties of the second file between other records, at random."""
    other = np.random.default_rng(2).permutation(50)[data.ties["b"]]
    return replace(data, ties={**data.ties, "b": np.sort(other, axis=1)})


@pytest.mark.parametrize("shuffle", [False, True])
def test_ties_count_only_if_they_beat_chance(shuffle):
    data, heard = files_with_ties(), []
    job = Job.make(tl.Model(), given_to_others(data) if shuffle else data, Run(seed=1))
    power = learn_power(job, heard.append)
    assert (power == 0.0) if shuffle else (power > 0.2)
    assert heard[-1].total == pilot_sweeps(100)
