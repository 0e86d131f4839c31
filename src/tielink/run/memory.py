"""Whether a run fits into memory, told before it begins."""

from __future__ import annotations

import os

from tielink.faults import Fault, InputError
from tielink.model.problem import LatentSpaceProblem
from tielink.run.job import Job
from tielink.run.rounds import MOST_DRAWS

__all__ = ["check_memory", "machine_memory"]


def check_memory(job: Job) -> None:
    """Raise an `InputError` if what a run must hold at the least is more than this machine has."""
    problem, run = job.problem, job.run
    records = problem.records
    dimension = problem.network.dimension if isinstance(problem.network, LatentSpaceProblem) else 0
    of_a_draw, draws = 4 * records + 8 * len(problem.rates), run.draws or MOST_DRAWS
    needed = {
        "the draws": (run.chains * draws * of_a_draw, "Keep fewer draws (thin more), or run fewer chains."),
        "the positions": (run.chains * min(draws, 100) * 4 * records * dimension, "Use fewer dimensions."),
        "the distances between all records": (
            8 * records**2 if dimension else 0,
            "A latent space is for some thousands of records: use shared ties, or take parts of the files at a time.",
        ),
    }
    there = machine_memory()
    faults = [
        Fault("sample", f"{what} alone take {size / 1e9:,.1f} GB; this machine has {there / 1e9:,.1f} GB.", do)
        for what, (size, do) in needed.items()
        if size > there
    ]
    if faults:
        raise InputError(faults)


def machine_memory() -> float:
    """Return the bytes of memory of this machine; where it does not say, no run is too large."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")
