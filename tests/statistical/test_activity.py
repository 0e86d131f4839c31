"""Joint-distribution tests of the activity prior. Declared false-alarm rate: 1e-4 per test."""

import numpy as np
import pytest
from scipy.stats import norm

from sampler.active import STATISTICS, replicate_z
from tielink.exact.activity import Activity

LIMIT = norm.isf(1e-4 / (2 * len(STATISTICS)))


class WithoutPolynomials(Activity):
    """A planted error: as if the weights of the matchings of m records summed to the same whatever alpha is."""

    def log_prior(self, alpha):
        return self._log_by_matches


def test_links_and_alpha_leave_the_joint_unchanged():
    z = replicate_z(1500, 4)
    assert np.abs(z).max() < LIMIT, dict(zip(STATISTICS, z.round(1), strict=True))


def test_a_forgotten_normaliser_is_caught():
    z = replicate_z(1500, 4, kind=WithoutPolynomials)
    assert np.abs(z).max() > 6.0, z


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"correlation_sd": 1.5, "sociality_scale": 0.7}, {"link": 1}])
def test_links_and_alpha_leave_the_joint_unchanged_long(options):
    z = replicate_z(10000, 8, seed=7, **options)
    print(f"activity, {sorted(options)}: largest |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() < LIMIT, dict(zip(STATISTICS, z.round(1), strict=True))
