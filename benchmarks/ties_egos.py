"""The sixteen ego networks of the paper, by shared ties alone; the ego, whom everybody knows, is the only known match.

Hardly anything can be recovered from these ties by anybody; the question is whether a model knows that. Links are pairs
with p > ½ besides the ego; 2 chains of 150 + 150 sweeps. Needs `TIELINK_DATA` (or `--data folder`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from reproduce.folders import COPY, ego_folders, read

import tielink as tl
from benchmarks.fits import Effort, data_folder, rhat

TITLE = "Ego networks: links that ties alone make"
COLUMNS = ("seed", "records", "matches besides the ego", "links", "wrong among them", "power", "R-hat of N")
EFFORT = Effort(2, 150, 150)


def row(folder: Path) -> tuple[object, ...]:
    """Return the row of one pair of networks."""
    found = read(folder)
    assert found.ego is not None
    data = replace(found.dataset, anchors=tl.Linkage.from_pairs(found.dataset, [found.ego]))
    posterior = tl.sample(tl.Model(fields={}), data, **EFFORT._asdict(), seed=1, workers=0)
    rates = tl.evaluate(posterior, found.truth, resamples=0).without_anchors
    return (
        folder.name, "{} + {}".format(*data.records.sizes), rates.matches, rates.links, rates.links - rates.correct,
        f"{posterior.power:.2f}", f"{rhat(posterior):.2f}",
    )  # fmt: skip


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each ego, and the sums."""
    root = data_folder()
    if root is None:
        return
    rows = []
    for folder in ego_folders(root):
        if folder.name != COPY:
            rows.append(row(folder))
            yield rows[-1]
    yield ("all", "", *(sum(int(str(one[place])) for one in rows) for place in (2, 3, 4)), "", "")
