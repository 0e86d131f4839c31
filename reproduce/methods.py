"""The methods that are compared, by the names that tables give them."""

from __future__ import annotations

from dataclasses import replace

import tielink as tl

__all__ = ["ADDITIONS", "BASELINES", "LATENT", "PAPER", "PRIORS", "SHARED", "model"]

PAPER = {f"paper K={k}": tl.Model.paper(k) for k in range(2, 11)}
LATENT, SHARED = "tielink", "tielink, shared ties"
"""Ours: with the paper's latent space, which was the default when the first rows were fitted, and as it is now."""
_OURS = {LATENT: tl.Model(network=tl.LatentSpace()), SHARED: tl.Model()}
_BASE = tl.Model.paper(2)
ADDITIONS = {"+ match-rate prior": replace(_BASE, linkage=tl.MatchRate())}
"""Each is the paper's model with K = 2 and one thing more."""
PRIORS = {
    "paper K=4, match-rate prior": replace(PAPER["paper K=4"], linkage=tl.MatchRate()),
    "tielink, uniform prior": replace(_OURS[LATENT], linkage=tl.Uniform()),
}
"""The paper's model with our prior, and ours with the paper's."""
BASELINES = ("BARTUNOV", "degree rank", "anchor neighbours")


def model(method: str, uses: str = "both") -> tl.Model:
    """Return the model of a method that uses profiles, ties or both."""
    chosen = (PAPER | ADDITIONS | PRIORS | _OURS)[method]
    if uses == "profiles":
        return replace(chosen, network=None)
    return replace(chosen, fields={}) if uses == "ties" else chosen
