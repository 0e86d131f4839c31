"""The methods that are compared, by the names that tables give them."""

from __future__ import annotations

from dataclasses import replace

import tielink as tl

__all__ = ["ADDITIONS", "BASELINES", "DEFAULT", "PAPER", "PRIORS", "model"]

PAPER = {f"paper K={k}": tl.Model.paper(k) for k in range(2, 11)}
DEFAULT = "tielink"
_BASE = tl.Model.paper(2)
assert _BASE.network is not None
ADDITIONS = {
    "+ match-rate prior": replace(_BASE, linkage=tl.MatchRate()),
    "+ activity": replace(_BASE, linkage=tl.MatchRate(activity=True)),
    "+ tie correlation": replace(_BASE, network=replace(_BASE.network, tie_correlation=True)),
    "+ sociality": replace(_BASE, network=replace(_BASE.network, sociality=True)),
}
"""Each is the paper's model with K = 2 and one thing more; activity is a part of the match-rate prior."""
PRIORS = {
    "paper K=4, match-rate prior": replace(PAPER["paper K=4"], linkage=tl.MatchRate()),
    "tielink, uniform prior": tl.Model(linkage=tl.Uniform()),
}
"""The paper's model with our prior, and ours with the paper's."""
BASELINES = ("BARTUNOV", "degree rank", "anchor neighbours")


def model(method: str, uses: str = "both") -> tl.Model:
    """Return the model of a method that uses profiles, ties or both."""
    chosen = tl.Model() if method == DEFAULT else (PAPER | ADDITIONS | PRIORS)[method]
    if uses == "profiles":
        return replace(chosen, network=None)
    return replace(chosen, fields={}) if uses == "ties" else chosen
