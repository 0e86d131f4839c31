"""The project file: data, model and run in one TOML file with every choice written out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import ClassVar, Self

import tomli_w

from tielink.data.dataset import Dataset
from tielink.data.sources import Sources, read_toml, sub_table
from tielink.faults import Faults
from tielink.files import write_whole
from tielink.model.spec import Model
from tielink.specification import Complaint, Specification, is_number, is_whole

__all__ = ["Project", "Run"]


ENGINES = ("auto", "exact", "duckdb", "spark")
LIMITS = {"chains": (1, 1000), "warmup": (0, 10**9), "draws": (0, 10**9), "thin": (1, 10**9), "seed": (0, 2**64 - 1)}
"""The least and the most of each whole number."""
MOST_MINUTES = 10**6


@dataclass(frozen=True)
class Run(Specification):
    """How to sample: which sampler, how many chains, how long.

    Parameters
    ----------
    sampler
        "exact", the default sampler, or "paper", the paper's own algorithm.
    chains, warmup, draws, thin
        Number of chains; sweeps thrown away first; draws kept of each chain; sweeps for each draw. With `draws=0`, the
        default, chains go on until the number of persons and the links have settled.
    seed
        The same seed gives the same draws.
    minutes
        With `draws=0`: the time limit of sampling; the draws made by then are used, and warnings say what they lack.
    engine
        For `link`: "exact", the sampler; "duckdb" or "spark", variational inference for large files; or "auto", by what
        each would cost.
    """

    kind: ClassVar[str] = "run"
    sampler: str = "exact"
    chains: int = 4
    warmup: int = 100
    draws: int = 0
    thin: int = 1
    seed: int = 1
    minutes: float = 10.0
    engine: str = "auto"

    def complaints(self) -> Iterator[Complaint]:
        """Check each setting on its own."""
        if self.sampler not in ("exact", "paper"):
            yield "sampler", '"exact" or "paper"'
        if self.engine not in ENGINES:
            yield "engine", " or ".join(f'"{name}"' for name in ENGINES)
        if not is_number(self.minutes, above=0) or self.minutes > MOST_MINUTES:
            yield "minutes", f"a number above 0 (and at most {MOST_MINUTES:,})"
        for name, (least, most) in LIMITS.items():
            if not is_whole(getattr(self, name), least=least, most=most):
                yield name, f"a whole number of at least {least} (and at most {most:,})"


@dataclass
class Project:
    """Everything needed to do the work again."""

    sources: Sources
    model: Model = field(default_factory=Model)
    run: Run = field(default_factory=Run)

    @classmethod
    def read(cls, path: str | PathLike[str], faults: Faults | None = None, *, allow_outside: bool = False) -> Self:
        """Read a project file; raise one error with all its faults, or put them on the list if there is one.

        Files that it names must lie in its folder, unless `allow_outside`.
        """
        path, mine = Path(path), Faults("project file") if faults is None else faults
        table = read_toml(path, mine)
        sources = Sources.from_table(table, path, mine)
        sources.inside = not allow_outside
        model = Model.from_table(sub_table(table, "model", path.name, mine), "model", mine)
        run = Run.from_table(sub_table(table, "run", path.name, mine), "run", mine)
        if faults is None:
            mine.raise_errors()
        return cls(sources, model or Model(), run or Run())

    def dataset(self) -> Dataset:
        """Read and check the data."""
        return Dataset.checked(*self.sources.load())

    def write(self, path: str | PathLike[str]) -> None:
        """Write the project file with every choice out; a crash leaves the old file or the new one."""
        path = Path(path)
        run = {key: value for key, value in self.run.to_table().items() if key != "kind"}
        sources = self.sources.moved(path.parent) if path.parent != self.sources.folder else self.sources
        table = {**sources.to_table(), "model": self.model.to_table(), "run": run}
        write_whole(path, lambda file: tomli_w.dump(table, file))
