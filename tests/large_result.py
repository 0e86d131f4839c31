"""A result of ten thousand links, made without sampling, for tests of what stays usable at that size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

import tielink as tl
from posteriors import posterior_of

NASTY = [
    "</script><script>document.title='broken'</script>",
    "<img src=x onerror=alert(1)>",
    "‮abc",
    "ليلى",
    "😀👩‍👩‍👧",
    "\"'&amp;",
]


def large_result(links: int = 10_000) -> tl.Result:
    """Two files of as many accounts as links, some with names that a careless page would stumble over."""
    rng = np.random.default_rng(1)
    names = [*NASTY, *(f"account {number:05d}" for number in range(links - len(NASTY)))]
    places = [f"place {number % 40}" for number in range(links)]
    frames = {name: pl.DataFrame({"id": names, "place": places}) for name in ("left", "right")}
    ties = {name: rng.integers(0, links, size=(3 * links, 2)) for name in frames}
    tied = {name: sorted({(min(a, b), max(a, b)) for a, b in pairs.tolist() if a != b}) for name, pairs in ties.items()}
    data = tl.Dataset.from_frames(
        frames,
        {name: [(names[a], names[b]) for a, b in pairs] for name, pairs in tied.items()},
        fields={"place": tl.Categorical()},
    )
    chance = np.linspace(1.0, 0.0, links) ** 0.3
    draws = np.tile(np.arange(2 * links), (40, 1))
    drawn = rng.random((40, links)) < chance
    draws[:, links:] = np.where(drawn, np.arange(links), draws[:, links:])
    small = posterior_of(data.records, draws[:1])
    posterior = replace(
        small,
        model=tl.Model(network=None, fields={}),  # nothing to explain by, so the prior speaks alone
        run=replace(small.run, draws=len(draws)),
        person=draws[None],
        log_likelihood=np.zeros((1, len(draws))),
    )
    return tl.Result.of(posterior, data)
