"""`link`: from data to links, their probabilities, and a folder that says why."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage
from tielink.estimation.losses import Binder
from tielink.faults import Faults
from tielink.model.spec import Model
from tielink.project import Project, Run
from tielink.report.folder import LOG, check_folder
from tielink.report.result import Result
from tielink.report.words import versions
from tielink.run.sample import sample

__all__ = ["CHECKPOINT", "QUICK", "link"]

QUICK: dict[str, int] = {"chains": 2, "warmup": 200, "draws": 200}
"""Settings of a first, rough look."""
CHECKPOINT = "checkpoint"
"""The folder, inside the result's, from which an interrupted run goes on."""

Say = Callable[[str], object]


def link(
    data: Dataset | Project | str | PathLike[str],
    model: Model | None = None,
    *,
    truth: Linkage | Any = None,
    out: str | PathLike[str] | None = None,
    quick: bool = False,
    loss: Binder | None = None,
    workers: int | None = None,
    progress: bool | None = None,
    say: Say | None = None,
    read: Dataset | None = None,
    **settings: Any,
) -> Result:
    """Link records: sample, diagnose, decide, and, with `out`, write a folder with tables and a report.

    Parameters
    ----------
    data
        A data set, a project, or the path of a project file.
    model
        The model; by default the project's, or `Model()`.
    truth
        The true matches, for scoring only; by default those the project names.
    out
        A folder to write to. An interrupted run keeps checkpoints there, and the same call goes on.
    quick
        A first, rough look: 2 chains of 200 draws after 200 sweeps, unless `settings` say otherwise.
    loss
        What mistakes cost; by default `Binder()`, where a false link costs as much as a missed one.
    workers, progress
        As in `tl.sample`.
    say
        Told what happens, line by line (`print`, say); everything also goes to `run.log` in `out`.
    read
        The project's data, where they have been read already.
    settings
        Those of `Run`: chains, warmup, draws, thin, seed, sampler.

    Returns
    -------
    Result
        `.links()`, `.persons()`, `.posterior`, `.evaluation`; `print` for the verdict, `.report(path)` for the page.
    """
    project, dataset, true = _inputs(data, truth, read)
    run = replace(project.run if project is not None else Run(), **((QUICK if quick else {}) | settings))
    chosen = model or (project.model if project is not None else Model())
    folder = None if out is None else Path(out)
    if folder is not None:
        check_folder(folder)
    tell = _Teller(folder, say)
    tell.log(f"{versions()}\n{dataset!r}\n{chosen.describe(dataset)}\n{run!r}")
    begun = time.monotonic()
    posterior = sample(
        chosen,
        dataset,
        **{name: getattr(run, name) for name in ("sampler", "chains", "warmup", "draws", "thin", "seed")},
        workers=workers,
        checkpoint=None if folder is None else folder / CHECKPOINT,
        progress=progress,
    )
    tell.log(f"sampled in {time.monotonic() - begun:.1f} s")
    written = None if project is None else replace(project, sources=_spelt(project, dataset), model=chosen, run=run)
    result = Result.of(posterior, dataset, loss=loss, truth=true, project=written, quick=quick)
    tell(f"{result}\n\n{result.diagnosis}")
    if folder is not None:
        result.save(folder)
        if not result.interrupted:
            shutil.rmtree(folder / CHECKPOINT, ignore_errors=True)
        tell.log(f"written after {time.monotonic() - begun:.1f} s")
    return result


def _inputs(data: Any, truth: Any, read: Dataset | None) -> tuple[Project | None, Dataset, Linkage | None]:
    """Return the project (if there is one), its data, and the truth."""
    if isinstance(data, str | PathLike):
        data = Project.read(data)
    project: Project | None = data if isinstance(data, Project) else None
    true: Linkage | None = None
    if project is None:
        dataset = data
    elif read is not None:
        dataset = read
    else:
        faults = Faults()
        dataset = Dataset.assembled(*project.sources.load(faults))
        true = project.sources.read_truth(dataset, faults) if not faults.errors else None
        faults.raise_errors()
    if truth is not None:
        true = truth if isinstance(truth, Linkage) else Linkage.from_pairs(dataset, truth)
    return project, dataset, true


def _spelt(project: Project, dataset: Dataset) -> Any:
    """Return the sources with fields written out as they were understood: a guess is made once."""
    return replace(project.sources, fields=dict(dataset.fields))


class _Teller:
    """Says things to whoever listens and to `run.log`, at once, so that a crash leaves what came before it."""

    def __init__(self, folder: Path | None, say: Say | None) -> None:
        self.path = None if folder is None else folder / LOG
        self.say = say
        if self.path is not None:
            self.path.write_text("", encoding="utf-8")

    def log(self, text: str) -> None:
        if self.path is not None:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S")
            with self.path.open("a", encoding="utf-8") as file:
                file.writelines(f"{stamp}  {line}\n" for line in text.splitlines())

    def __call__(self, text: str) -> None:
        self.log(text)
        if self.say is not None:
            self.say(text)
