"""`link`: from data to links, their probabilities, and a folder that says why."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage
from tielink.estimation.losses import Binder
from tielink.faults import Faults, refuse
from tielink.files import append_lines, write_whole
from tielink.large.engines import Engine, choose_engine, remove_tables, variational
from tielink.model.spec import Model
from tielink.posterior.posterior import FINISHED
from tielink.project import Project, Run
from tielink.report.folder import LOG, check_folder
from tielink.report.result import Result
from tielink.report.words import versions
from tielink.run.checkpoint import locked, remove
from tielink.run.job import Job
from tielink.run.sample import run_job

__all__ = ["CHECKPOINT", "link", "quick_settings"]

CHECKPOINT = "checkpoint"
"""The folder, inside the result's, from which an interrupted run goes on."""

QUICK_CHAINS, QUICK_SWEEPS, QUICK_RECORDS = 2, 200, 300
"""The quick run: number of chains, sweeps of warm-up (as many follow for draws), and the number of records up to which
there are so many sweeps; with more records there are fewer."""

Say = Callable[[str], object]


def link(
    data: Dataset | Project | str | PathLike[str],
    model: Model | None = None,
    *,
    chains: int | None = None,
    warmup: int | None = None,
    draws: int | None = None,
    thin: int | None = None,
    seed: int | None = None,
    sampler: str | None = None,
    minutes: float | None = None,
    engine: str | Engine | None = None,
    truth: Linkage | Any = None,
    out: str | PathLike[str] | None = None,
    quick: bool = False,
    loss: Binder | None = None,
    workers: int | None = None,
    interval: float = 10.0,
    progress: bool | None = None,
    say: Say | None = None,
    project_data: Dataset | None = None,
    exact_text: bool = False,
    allow_outside: bool = False,
) -> Result:
    """Link records: sample, diagnose, decide, and, with `out`, write a folder with tables and a report.

    Parameters
    ----------
    data
        A data set, a project, or the path of a project file.
    model
        The model; by default the project's, or `Model()`.
    chains, warmup, draws, thin, seed, sampler, minutes
        How to sample, as in `tl.sample`. What is None comes from the project, or else from the defaults of `Run`: until
        the number of persons and the links have settled, for 10 minutes at most.
    engine
        "exact", the sampler; "duckdb" or "spark", variational inference for large files; `DuckDB(...)` or `Spark(...)`
        with settings of their own; "auto" chooses by what each would cost. By default what the project says, or "auto".
    truth
        The true matches, for scoring only; by default those the project names.
    out
        A folder to write to. A run that was interrupted or out of time keeps checkpoints there, and the same call goes
        on.
    quick
        A first, rough look: 2 chains of 200 draws after 200 sweeps (fewer beyond 300 records), unless `chains`,
        `warmup` or `draws` are given.
    loss
        What mistakes cost; by default `Binder()`, where a false link costs as much as a missed one.
    workers, interval, progress
        As in `tl.sample`.
    say
        A function that is called with each message, for example `print`; messages also go to `run.log` in `out`.
    project_data
        The data set of the project in `data`, if it has been read already; by default it is read here.
    exact_text
        Write CSV cells as they are, including those that a spreadsheet would run as formulas.
    allow_outside
        Let a project file read files outside its folder.

    Returns
    -------
    Result
        `.links()`, `.persons()`, `.profiles()`, `.posterior`, `.evaluation`; `print` for a summary in words,
        `.report(path)` for the page.

    Raises
    ------
    InputError
        With every fault of the data, the model or the settings.

    Examples
    --------
    >>> import polars as pl, tielink as tl
    >>> shop = pl.DataFrame({"id": [1, 2, 3], "name": ["quillmaker", "sunnyowl", "liam"]})
    >>> club = pl.DataFrame({"id": [7, 8, 9], "name": ["sunny_owl", "quillmaker", "zoe"]})
    >>> data = tl.Dataset.from_frames({"shop": shop, "club": club}, fields={"name": tl.String()})
    >>> result = tl.link(data, chains=2, warmup=50, draws=50, seed=1, workers=0)
    >>> result.links().select("id_a", "id_b", "decision").row(0)
    (1, 8, 'link')
    """
    given = {
        "chains": chains, "warmup": warmup, "draws": draws, "thin": thin, "seed": seed, "minutes": minutes,
        "sampler": sampler,
    }  # fmt: skip
    settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    project, dataset, true = _inputs(data, truth, project_data, allow_outside)
    short = quick_settings(len(dataset.records)) if quick else {}
    run = replace(project.run if project is not None else Run(), **(short | settings))
    chosen = model or (project.model if project is not None else Model())
    folder = None if out is None else Path(out)
    if folder is not None:
        check_folder(folder)
    checkpoint = None if folder is None else _checkpoint(folder)
    with nullcontext() if checkpoint is None else locked(checkpoint):
        tell = _Teller(folder, say)
        tell.log(f"{versions()}\n{dataset!r}\n{chosen.describe(dataset)}\n{run!r}")
        begun = time.monotonic()
        chosen_engine, why = choose_engine(run.engine if engine is None else engine, chosen, dataset, run)
        run = replace(run, engine="exact" if chosen_engine is None else chosen_engine.kind)
        if chosen_engine is None:
            tell.log(why)
            posterior = run_job(Job.make(chosen, dataset, run), workers, checkpoint, interval, progress)
        else:
            tell(why)
            hear = tell.log if progress is False else tell
            posterior = variational(chosen_engine, chosen, dataset, run, checkpoint, hear)
        tell.log(f"sampled in {time.monotonic() - begun:.1f} s")
        written = None if project is None else _spelt(project, dataset, chosen, run)
        result = Result.of(posterior, dataset, loss=loss, truth=true, project=written, quick=quick)
        tell(f"{result}\n\n{result.diagnosis}")
        if folder is not None and checkpoint is not None:
            result.save(folder, exact_text=exact_text)
            if posterior.ended == FINISHED:
                remove_tables(checkpoint)
                remove(checkpoint)
            tell.log(f"written after {time.monotonic() - begun:.1f} s")
    return result


def _checkpoint(folder: Path) -> Path:
    """Return the folder for checkpoints; a link to somewhere else is refused."""
    checkpoint = folder / CHECKPOINT
    if checkpoint.is_symlink():
        refuse(str(checkpoint), "is a link to another place.", "Remove it: it is not ours.")
    return checkpoint


def quick_settings(records: int) -> dict[str, int]:
    """Return the settings of a rough look: a sweep takes longer with more records, so there are fewer.

    >>> quick_settings(270), quick_settings(600)["draws"]
    ({'chains': 2, 'warmup': 200, 'draws': 200}, 100)
    """
    sweeps = max(50, min(QUICK_SWEEPS, QUICK_SWEEPS * QUICK_RECORDS // max(records, 1)))
    return {"chains": QUICK_CHAINS, "warmup": sweeps, "draws": sweeps}


def _inputs(
    data: Any, truth: Any, project_data: Dataset | None, allow_outside: bool
) -> tuple[Project | None, Dataset, Linkage | None]:
    """Return the project (if there is one), its data, and the truth."""
    if isinstance(data, str | PathLike):
        data = Project.read(data, allow_outside=allow_outside)
    project: Project | None = data if isinstance(data, Project) else None
    true: Linkage | None = None
    if project is None:
        dataset = data
    elif project_data is not None:
        dataset = project_data
    else:
        faults = Faults("project file")
        dataset = Dataset.assembled(*project.sources.load(faults))
        true = project.sources.read_truth(dataset, faults) if not faults.errors else None
        faults.raise_errors()
    if truth is not None:
        true = truth if isinstance(truth, Linkage) else Linkage.from_pairs(dataset, truth)
    return project, dataset, true


def _spelt(project: Project, dataset: Dataset, model: Model, run: Run) -> Project:
    """Return the project with fields and prior written out as they were understood: a guess is made once."""
    sources = replace(project.sources, fields=dict(dataset.fields))
    return replace(
        project, sources=sources, model=replace(model, linkage=model.linkage_for(len(dataset.files))), run=run
    )


class _Teller:
    """Says things to whoever listens and to `run.log`, at once, so that a crash leaves what came before it."""

    def __init__(self, folder: Path | None, say: Say | None) -> None:
        self.path = None if folder is None else folder / LOG
        self.say = say
        if self.path is not None:
            write_whole(self.path, lambda file: None)

    def log(self, text: str) -> None:
        if self.path is not None:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S")
            append_lines(self.path, (f"{stamp}  {line}" for line in text.splitlines()))

    def __call__(self, text: str) -> None:
        self.log(text)
        if self.say is not None:
            self.say(text)
