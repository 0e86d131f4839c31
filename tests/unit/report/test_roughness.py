"""What a quick look says of itself."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tielink.report.words import roughness


@pytest.mark.parametrize(
    ("ess", "review", "said"),
    [
        (np.nan, [False, False], "The number of persons never changed, no pair is uncertain, and"),
        (
            12.4,
            [False, True],
            "persons rests on about 12 effective draws, uncertain probabilities have a Monte Carlo error of up to 0.04",
        ),
    ],
)
def test_a_quick_look_says_what_it_rests_on(ess, review, said):
    result = SimpleNamespace(
        decided=SimpleNamespace(error=np.array([0.01, 0.04]), review=np.array(review)),
        posterior=SimpleNamespace(chains=2, draws_per_chain=30),
        diagnosis=SimpleNamespace(ess={"persons N": ess}, rhat={"persons N": np.nan, "log-likelihood": 1.2}),
    )
    assert said in roughness(result)
    assert "nan" not in roughness(result)
