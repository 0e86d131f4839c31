"""What ties add to profiles on made people (`simulate.shared_ties`): profiles alone / shared ties in every cell.

500 + 500 records, 300 of them shared, ten ties each of which half are common. Communities are 25; where triangles are
planted, two ties in five close one: neither is known to the model. Weak profiles are a postcode and a state, strong
ones a surname, a suburb and a date of birth. Shuffled: the ties of the second file were given to other records at
random. Five in a hundred matches are known. Means over three seeds, 4 chains of 500 + 500 sweeps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tielink as tl
from benchmarks.fits import SCORES, Effort, fit, powers, shuffled, side_by_side
from tielink.simulate import shared_ties

TITLE = "Ties of made people: profiles alone / shared ties"
COLUMNS = ("profiles", "networks", *SCORES, "power")
PROFILES = {"weak": ("postcode", "state"), "strong": ("surname", "suburb", "date_of_birth")}
NETWORKS = {
    "as the model has it": {},
    "communities": {"communities": 25},
    "triangles": {"closure": 0.4},
    "communities and triangles": {"communities": 25, "closure": 0.4},
    "nothing shared": {"sharing": 0.0},
    "communities, nothing shared": {"communities": 25, "sharing": 0.0},
    "shuffled": {"communities": 25, "closure": 0.4},
}
SEEDS = range(500, 503)
EFFORT = Effort(4, 500, 500)


def compared(profiles: str, network: str, seeds: range = SEEDS, records: int = 500) -> tuple[object, ...]:
    """Return the row of one kind of profiles and one of networks."""
    methods = []
    for model in (tl.Model(network=None), tl.Model()):
        fits = []
        for seed in seeds:
            rng, sizes = np.random.default_rng(seed), {"a": records, "b": records}
            made = shared_ties(
                rng, sizes, 3 * records // 5, anchors=0.05, fields=PROFILES[profiles], **NETWORKS[network]
            )
            data = shuffled(rng, made.dataset) if network == "shuffled" else made.dataset
            fits.append(fit(model, data, made.truth, seed, EFFORT))
        methods.append(fits)
    return profiles, network, *side_by_side(methods), powers(methods[-1])


def measure() -> Iterator[tuple[object, ...]]:
    """Yield every row."""
    for profiles in PROFILES:
        for network in NETWORKS:
            yield compared(profiles, network)
