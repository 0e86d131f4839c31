"""How often two records of one person differ in a field, held against what the prior of its distortion rate expects.

Sure links are pairs that agree in most fields, so that they differ less than links do; known matches need not agree in
any. Where even these differ more than the prior says, links that differ are missed, and the number of persons is too
high.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import bdtrc, betaincinv

from tielink.data.columns import MISSING
from tielink.fields import Measured, PersonName

if TYPE_CHECKING:
    from tielink.report.result import Result
    from tielink.specification import Beta

__all__ = ["rests_on_priors", "surprising_fields"]

SURE = 0.9
SURPRISING = 0.01
"""As seldom would the prior let as many pairs differ."""
NODES = (np.arange(200) + 0.5) / 200


def surprising_fields(result: Result) -> list[str]:
    """Say which fields differ more often, in known matches or in sure links, than their priors expect."""
    dataset, found, said = result.dataset, result.posterior.pair_probabilities, []
    known = dataset.anchors.pair_numbers
    sources = (("known matches", known), ("sure links", found.pairs[found.probability >= SURE]))
    for name, field in result.posterior.model.fields_for(dataset.fields).items():
        if isinstance(field, PersonName) or (isinstance(field, Measured) and field.tolerance):
            continue  # honest values differ, too
        codes = dataset.columns[name].codes
        for what, pairs in sources:
            both = codes[pairs[(codes[pairs] != MISSING).all(axis=1)]]
            differ = int((both[:, 0] != both[:, 1]).sum())
            if _tail(field.distortion, differ, len(both)) < SURPRISING:
                prior = field.distortion
                said.append(
                    f"{differ:,} of {len(both):,} {what} differ in {name!r}, more than its prior of distortion "
                    f"(Beta({prior.a:g}, {prior.b:g})) expects: links that differ there may be missed, and persons "
                    "counted twice. Give it a weaker prior, such as Beta(1, 2), or leave it out."
                )
                break
    return said


def _tail(prior: Beta, differ: int, of: int) -> float:
    """Return the prior probability that at least so many pairs differ, each with 1 − (1 − ψ)².

    >>> from tielink.specification import Beta
    >>> _tail(Beta(1, 99), 4, 10) < 0.001 < _tail(Beta(1, 9), 4, 10)
    True
    """
    rate = betaincinv(prior.a, prior.b, NODES)
    return float(bdtrc(differ - 1, of, 1 - (1 - rate) ** 2).mean())


def rests_on_priors(result: Result) -> list[str]:
    """Say so where few of the matches that the number of persons counts are sure links or known matches."""
    found = result.posterior.pair_probabilities.probability
    expected, sure = float(found.sum()), int((found >= SURE).sum())
    if expected < 1 or sure > expected / 2:
        return []
    return [
        f"Of the about {expected:,.0f} matches that this counts, {sure:,} are sure: the others are spread over many "
        "pairs, and their number rests on the priors as much as on the data. Known matches would tell."
    ]
