"""Which engine links: the exact sampler, or variational inference by DuckDB or Spark; chosen by what it would cost."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np

from tielink.data.dataset import Dataset
from tielink.data.stored import stored_dataset
from tielink.faults import Fault, InputError
from tielink.files import open_regular, write_whole
from tielink.large.tables import DuckTables, SparkTables, Tables
from tielink.model.network import LatentSpace, SharedTies
from tielink.model.spec import Model
from tielink.posterior.posterior import Posterior
from tielink.project import Run
from tielink.run.memory import machine_memory

__all__ = ["DuckDB", "Engine", "Spark", "choose_engine", "remove_tables", "variational"]

SECONDS = 5e-5
"""CPU seconds of the exact sampler for a record and sweep, with ties and a few fields."""
PATIENCE = 3600.0
"""Seconds of the exact sampler, on all cores, up to which it is chosen."""
BYTES = 6_000
"""Memory of a chain for a record."""
USUAL_DRAWS = 900
"""Sweeps after warm-up that a run may need until it has settled, where their number is not given."""
TEACHERS, MANY = 100, 1_000
"""Without fields, so many known matches among more records than this teach variational inference what ties are worth;
then it is better than the exact sampler, which learns one power for all of what ties say."""
VALUE = 3e-4
"""Seconds to compare a value with all others of its field, where they are texts."""
TABLES, MARK = "tables", "run.sha256"


@dataclass(frozen=True)
class DuckDB:
    """Variational inference by DuckDB, embedded: it spills to disk what does not fit into memory.

    Parameters
    ----------
    path
        The folder of its tables; by default inside the result's folder, or a temporary one.
    memory
        What DuckDB may use: "8GB"; by default 80 % of the machine's.
    threads
        By default one for each core.

    Examples
    --------
    >>> DuckDB(memory="8GB")
    DuckDB(path=None, memory='8GB', threads=None)
    """

    kind: ClassVar[str] = "duckdb"
    path: str | PathLike[str] | None = None
    memory: str | None = None
    threads: int | None = None

    def open(self, folder: Path) -> Tables:
        """Return its tables in a folder."""
        return DuckTables(folder, self.memory, self.threads)


@dataclass(frozen=True)
class Spark:
    """Variational inference by Apache Spark: the same SQL on a cluster.

    Parameters
    ----------
    session
        A `pyspark.sql.SparkSession`; by default the active one, or a local one.
    path
        The folder of its tables, which driver and workers must share; by default inside the result's folder.
    """

    kind: ClassVar[str] = "spark"
    session: Any = None
    path: str | PathLike[str] | None = None

    def open(self, folder: Path) -> Tables:
        """Return its tables in a folder."""
        return SparkTables(folder, _spark_session() if self.session is None else self.session)


Engine = DuckDB | Spark


def _spark_session() -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        what = "this needs the package pyspark, which is not installed."
        raise InputError([Fault("--engine spark", what, "Install it: pip install 'tielink[spark]'.")]) from None
    try:
        session = SparkSession.builder.appName("tielink").config("spark.ui.enabled", "false").getOrCreate()
    except Exception as error:  # whatever keeps Java from starting
        what = f"Spark does not start: {str(error).splitlines()[0]}"
        raise InputError([Fault("--engine spark", what, "Install Java 17, or set JAVA_HOME.")]) from None
    if str(session.sparkContext.master).startswith("local"):  # 200 partitions, the default, would be nearly all empty
        session.conf.set("spark.sql.shuffle.partitions", str(session.sparkContext.defaultParallelism))
    return session


def choose_engine(wanted: str | Engine, model: Model, dataset: Dataset, run: Run) -> tuple[Engine | None, str]:
    """Return the engine, None for the exact sampler, and why it is this one.

    Parameters
    ----------
    wanted
        "auto", "exact", "duckdb", "spark", or an engine.
    model, dataset, run
        What is to be done.

    Returns
    -------
    engine, str
    """
    if wanted == "exact":
        return None, "The exact sampler, as asked for."
    cannot = _cannot(model, dataset, run)
    if wanted != "auto":
        if cannot:
            raise InputError([Fault("engine", f"variational inference {cannot}.", "Use --engine exact.")])
        by_name: dict[str, Engine] = {"duckdb": DuckDB(), "spark": Spark()}
        chosen = by_name[wanted] if isinstance(wanted, str) else wanted
        return chosen, f"Variational inference by {type(chosen).__name__}, as asked for."
    if not cannot and _taught(model, dataset):
        if find_spec("duckdb") is not None:
            return DuckDB(), "Ties alone, and known matches that teach: variational inference by DuckDB is better here."
        cannot = "needs DuckDB (pip install 'tielink[duckdb]')"
    from tielink.run.pilot import pilot_sweeps

    records, cores = len(dataset.records), os.cpu_count() or 1
    draws = run.draws or USUAL_DRAWS
    sweeps = run.chains * (run.warmup + draws * run.thin) + (0 if model.network is None else pilot_sweeps(records))
    seconds = records * sweeps * SECONDS / min(cores, run.chains)
    size = run.chains * records * (BYTES + 4 * draws)
    forecast = f"{records:,} records: the exact sampler would take about {_time(seconds)} and {size / 1e9:.1f} GB"
    if seconds <= PATIENCE and size <= 0.5 * machine_memory():
        return None, f"{forecast}, so it is used."
    if cannot:
        return None, f"{forecast}; it is used all the same, for variational inference {cannot}."
    why = f"{forecast}, so variational inference by DuckDB is used, an approximation (--engine exact for the other)."
    return DuckDB(), why


def _taught(model: Model, dataset: Dataset) -> bool:
    """Whether there are ties alone, and enough known matches to learn from."""
    ties = isinstance(model.network, SharedTies) and model.network.power == "learn"
    alone = (
        ties and not model.fields_for(dataset.fields) and all(dataset.ties[file] is not None for file in dataset.files)
    )
    return alone and len(dataset.records) > MANY and len(dataset.anchors.pair_numbers) >= TEACHERS


def _cannot(model: Model, dataset: Dataset, run: Run) -> str:
    """Say what keeps variational inference from being used, if anything does."""
    if len(dataset.files) != 2 or model.linkage_for(2).allowed == "free":
        return "links pairs of two files, and no duplicates"
    if isinstance(model.network, LatentSpace):
        return "has no latent space"
    if model.careless is not None:
        return "knows no careless records"
    return "is not the paper's algorithm" if run.sampler == "paper" else ""


def _time(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 100 else f"{seconds / 60:,.0f} min"


def variational(
    engine: Engine, model: Model, dataset: Dataset, run: Run, folder: Path | None, report: Callable[[str], object]
) -> Posterior:
    """Link by an engine, in a folder from which a stopped run goes on, and return probabilities and joint draws."""
    from tielink.large.draws import variational_posterior
    from tielink.large.rounds import infer
    from tielink.model.problem import Problem

    with TemporaryDirectory() as scratch:
        place = Path(engine.path) if engine.path is not None else (folder or Path(scratch)) / TABLES
        _claim(place, engine, model, dataset, run)
        values = sum(len(column.values) for column in dataset.columns.values())
        report(f"Comparing {values:,} different values: about {values * VALUE:,.0f} s …")
        problem = Problem.compile(model, dataset)
        tables = engine.open(place)
        try:
            found = infer(model, dataset, problem, run, tables, report)
        finally:
            tables.close()
    return variational_posterior(model, dataset, problem, run, found, report)


def remove_tables(folder: Path) -> None:
    """Remove the tables that a finished run kept in a folder."""
    if (folder / TABLES / MARK).is_file():
        shutil.rmtree(folder / TABLES, ignore_errors=True)


def _claim(place: Path, engine: Engine, model: Model, dataset: Dataset, run: Run) -> None:
    """Make the folder this run's; one that holds another run is refused."""
    digest = hashlib.sha256()
    arrays, values = stored_dataset(dataset)
    for name, array in sorted(arrays.items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    settings = {"data": values, "model": model.to_table(), "seed": run.seed, "engine": engine.kind}
    digest.update(json.dumps(settings | {"version": version("tielink")}, sort_keys=True, default=str).encode())
    mark = place / MARK
    try:
        place.mkdir(parents=True, exist_ok=True)
        known = None
        if mark.exists():
            with open_regular(mark) as file:
                known = file.read().decode(errors="replace")
    except OSError as error:
        what = f"cannot be used: {error.strerror}."
        raise InputError([Fault(str(place), what, "Name another folder.")]) from None
    if known is None and any(place.iterdir()):
        raise InputError([Fault(str(place), "is not empty, and no run of tielink's.", "Name a new folder.")])
    if known not in (None, digest.hexdigest()):
        what = "holds another run (other data, model, settings or version of tielink)."
        raise InputError([Fault(str(place), what, "Remove it, or name another folder.")])
    write_whole(mark, lambda file: file.write(digest.hexdigest().encode()))
