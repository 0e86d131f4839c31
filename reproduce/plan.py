"""What is fitted, and how long: the quick look, the default of a few hours, and the full night."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reproduce.fits import Effort, Fit
from reproduce.folders import COPY, ego_folders, read
from reproduce.methods import ADDITIONS, BASELINES, LATENT, PRIORS, SHARED

__all__ = ["FRACTIONS", "LEVELS", "Level", "plan"]

FRACTIONS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.8)


@dataclass(frozen=True)
class Level:
    """How much is done."""

    many: int
    """Draws of anchors for the paper's model with K = 2, BARTUNOV and our models."""
    few: int
    """Draws of anchors for everything else."""
    fractions: tuple[float, ...]
    dimensions: tuple[int, ...]
    """K of the curves of information criteria."""
    small: Effort
    """For ego networks and other small data."""
    large: Effort
    """For several hundred records."""
    largest: Effort
    """For more than a thousand."""


_QUICK, _FULL = Effort(2, (60,)), Effort(4, (1000, 4000))
_EFFORTS = Effort(2, (200,)), Effort(2, (500, 1000)), Effort(2, (300,))
LEVELS = {
    "quick": Level(1, 1, (0.0, 0.5), (2, 3), _QUICK, _QUICK, _QUICK),
    "default": Level(10, 3, FRACTIONS, tuple(range(2, 9)), *_EFFORTS),
    "full": Level(10, 10, FRACTIONS, tuple(range(2, 11)), _FULL, _FULL, _FULL),
}


def plan(root: Path, level: Level) -> list[tuple[Fit, Effort]]:
    """Return every fit in the order in which it is done: what takes longest comes last."""
    tasks = [*identity(level), *criteria(level), *more_data(level), *ceiling(root), *egos(root, level)]
    efforts = {"pkdd12": level.large, "citeseer": level.largest}
    return [(task, efforts.get(task.folder, level.small)) for task in tasks]


def identity(level: Level) -> list[Fit]:
    """YouTube and Twitter: the choice of K, and what profiles and ties say under the paper's prior and ours."""
    choice = [Fit("identity", "pkdd12", f"paper K={k}") for k in level.dimensions]
    chosen = "paper K=4" if 4 in level.dimensions else "paper K=2"
    tasks = [*choice, Fit("identity", "pkdd12", chosen), Fit("identity", "pkdd12", chosen, uses="profiles")]
    ours = [LATENT, SHARED, *PRIORS]
    tasks += [Fit("identity", "pkdd12", name, uses=uses) for name in ours for uses in ("profiles", "both")]
    tasks += [
        Fit("identity", "pkdd12", name, uses="baseline")
        for name in ("equal username", "best username", "Fellegi–Sunter", *BASELINES)
    ]
    return list(dict.fromkeys(tasks))


def egos(root: Path, level: Level) -> list[Fit]:
    """Ego networks: every method at every share of anchors."""
    often = ["paper K=2", LATENT, SHARED, "BARTUNOV"]
    seldom = ["paper K=5", "paper K=10", *ADDITIONS, *(name for name in BASELINES if name not in often)]
    tasks = []
    for draw in range(max(level.many, level.few)):
        for method in [*often, *seldom]:
            if draw >= (level.many if method in often else level.few):
                continue
            for share in level.fractions:
                if share == 0.0 and draw > 0:
                    continue  # there is one way to know nothing
                tasks += [
                    Fit("egos", f"uir/{folder.name}", method, share, draw)
                    for folder in ego_folders(root)
                    if folder.name != COPY
                ]
    return tasks


def ceiling(root: Path) -> list[Fit]:
    """Ego networks with all matches known but one, which is to be found: no method can hope for more."""
    tasks = []
    for folder in ego_folders(root):
        if folder.name == COPY:
            continue
        found = read(folder)
        pairs = [pair for pair in found.truth.clusters() if len(pair) == 2]
        tasks += [
            Fit("ceiling", f"uir/{folder.name}", method, 1.0, 0, hidden=number)
            for method in ("paper K=2", "paper K=4", LATENT, SHARED)
            for number, pair in enumerate(pairs)
            if pair != found.ego
        ]
    return tasks


def criteria(level: Level) -> list[Fit]:
    """WAIC against K for the two seeds that the paper shows, at several shares of anchors."""
    shares = [share for share in level.fractions if share <= 0.5]
    return [
        Fit("criteria", f"uir/{seed}", f"paper K={k}", share)
        for seed in ("11209", "5099")
        for k in level.dimensions
        for share in shares
    ]


def more_data(level: Level) -> list[Fit]:
    """Other real data: profiles, ties, both, and every baseline."""
    shares = (0.0, 0.1, 0.3) if len(level.fractions) > 2 else (0.3,)
    tasks = []
    for folder in ("highschool", "aucs_work_lunch", "aucs_facebook_lunch", "citeseer"):
        names = ["Fellegi–Sunter", *BASELINES]
        if folder == "citeseer":
            names += ["equal name", "best name"]
        for share in shares:
            for draw in range(1 if share == 0.0 or folder == "citeseer" else level.few):
                tasks += [Fit("more", folder, LATENT, share, draw, uses) for uses in ("profiles", "ties", "both")]
                tasks += [Fit("more", folder, SHARED, share, draw, uses) for uses in ("profiles", "ties", "both")]
                tasks += [Fit("more", folder, name, share, draw, "baseline") for name in names]
    return tasks
