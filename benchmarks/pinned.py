"""The data that benchmarks run on: the paper's where it is at hand, otherwise a made pair of the same size."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import tielink as tl
from tielink.data.sources import Sources
from tielink.simulate import scenario


def youtube_twitter() -> tuple[str, tl.Dataset]:
    """Return 184 + 420 records with usernames and sparse ties, and how to call them."""
    folder = os.environ.get("TIELINK_DATA")
    if folder:
        sources = Sources(
            Path(folder) / "pkdd12",
            {"youtube": "nodes_a.csv", "twitter": "nodes_b.csv"},
            {"youtube": "edges_a.csv", "twitter": "edges_b.csv"},
            fields={"username": tl.String()},
        )
        return "pkdd12", tl.Dataset.checked(*sources.load())
    return "made, 184 + 420", made(184, 420, overlap=19)


def made(first: int, second: int, overlap: int, dimension: int = 2) -> tl.Dataset:
    """Draw files with usernames at a mean degree of about five."""
    model = tl.Model(network=tl.LatentSpace(dimension))
    rng = np.random.default_rng(12)
    density = {"a": min(0.3, 3 / first), "b": min(0.3, 5 / second)}
    return scenario(rng, model, {"a": first, "b": second}, overlap=overlap, density=density).dataset
