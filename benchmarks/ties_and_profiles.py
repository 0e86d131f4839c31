"""What ties add to profiles on real data: profiles alone / latent space / shared ties, in that order in every cell.

Everything at its default but the length of chains (2 of 200 + 400 sweeps); means over three draws of the known
matches (with none of them known, three seeds), the worst R-hat, and every power that was learnt. The latent space is
slow: with `--latent` it is fitted to the first draw (2 chains of 200 + 200 sweeps); – is not run. F₁ and average
precision leave anchors out; calibration error is over pairs with p ≥ .05. N is the number of persons; with two files,
its interval holds the truth if that of the number of links does. The truth of `pkdd12` is incomplete. In the last
rows the ties of the second file were given to other records at random: they say nothing, and should cost nothing. The
last row is over all other fits, with the share whose R-hat is below 1.05; calibration leaves out `pkdd12` there.
Nothing is tuned on these truths. Kernels are compiled beforehand if anything like this ran before. Needs
`TIELINK_DATA` (or `--data folder`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from reproduce.fits import FIELDS
from reproduce.folders import anchored, read

import tielink as tl
from benchmarks.fits import (
    NETWORKS,
    NOT_RUN,
    SCORES,
    Effort,
    Found,
    data_folder,
    fit,
    powers,
    shuffled,
    side_by_side,
    with_latent_space,
)

TITLE = "Ties and profiles: profiles alone / latent space / shared ties"
COLUMNS = ("data", "anchors", *SCORES, "power")
FOLDERS = ("aucs_work_lunch", "aucs_facebook_lunch", "highschool", "pkdd12", "citeseer")
SHUFFLED = ("aucs_work_lunch", "highschool")
SHARES = (0.0, 0.1, 0.3)
DRAWS = 3
EFFORT, LATENT_EFFORT = Effort(2, 200, 400), Effort(2, 200, 200)


def compared(folder: str, share: float, draws: int = DRAWS, *, shuffle: bool = False) -> list[list[Found]]:
    """Return the fits of every method to a folder with a share of anchors."""
    root = data_folder()
    assert root is not None
    found = read(root / folder, FIELDS[folder])
    methods: list[list[Found]] = []
    for name, network in NETWORKS.items():
        latent = name == "latent space"
        wanted = draws if not latent else min(1, draws) if with_latent_space() and not shuffle else 0
        fits = []
        for draw in range(wanted):
            data = anchored(found, share, draw)
            if shuffle:
                data = shuffled(np.random.default_rng(draw), data)
            model = tl.Model(network=network)
            fits.append(fit(model, data, found.truth, 1 + draw, LATENT_EFFORT if latent else EFFORT))
        methods.append(fits)
    return methods


def overall(cells: dict[tuple[str, float], list[list[Found]]]) -> tuple[object, ...]:
    """Return the row over all fits of every method."""
    calibration, inside, agree = [], [], []
    for place in range(len(NETWORKS)):
        fits = [one for methods in cells.values() for one in methods[place]]
        told = [one.calibration_error for (folder, _), of in cells.items() if folder != "pkdd12" for one in of[place]]
        calibration.append(f"{np.nanmean(told):.3f}" if told else NOT_RUN)
        inside.append(f"{sum(one.inside for one in fits)} of {len(fits)}" if fits else NOT_RUN)
        agree.append(f"{np.mean([one.rhat < 1.05 for one in fits]):.0%} below 1.05" if fits else NOT_RUN)
    return "all but shuffled", "", "", "", *(" / ".join(cell) for cell in (calibration, inside, agree)), "", ""


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each folder and share of anchors, then those with shuffled ties."""
    if data_folder() is None:
        return
    cells = {}
    for folder in FOLDERS:
        for share in SHARES:
            methods = cells[folder, share] = compared(folder, share)
            yield folder, f"{share:.0%}", *side_by_side(methods), powers(methods[-1])
    for folder in SHUFFLED:
        for share in SHARES:
            methods = compared(folder, share, shuffle=True)
            yield f"{folder}, ties shuffled", f"{share:.0%}", *side_by_side(methods), powers(methods[-1])
    yield overall(cells)
