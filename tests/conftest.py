"""What several test files need: matchings to enumerate over, and where real data may be."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "tielink",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("tielink")


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with a seed of its own for every test."""
    return np.random.default_rng(20261115)


@pytest.fixture
def real_data() -> Path:
    """The folder of real data; tests that need it are skipped, visibly, where it is absent."""
    folder = os.environ.get("TIELINK_DATA")
    if not folder:
        pytest.skip("needs real data: set TIELINK_DATA to its folder")
    return Path(folder)
