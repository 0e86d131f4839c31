"""The project file: data, model and run in one TOML file with every choice written out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import ClassVar, Self

import tomli_w

from tielink.data.dataset import Dataset
from tielink.data.sources import Sources, read_toml, sub_table
from tielink.faults import Faults
from tielink.model.spec import Model
from tielink.specification import Complaint, Specification, is_whole

__all__ = ["Project", "Run"]


@dataclass(frozen=True)
class Run(Specification):
    """How to sample: which sampler, how many chains, how long.

    Parameters
    ----------
    sampler
        "exact", the default sampler, or "paper", the paper's own algorithm.
    chains, warmup, draws, thin
        Number of chains; sweeps thrown away first; draws kept of each chain; sweeps for each draw.
    seed
        The same seed gives the same draws.
    """

    kind: ClassVar[str] = "run"
    sampler: str = "exact"
    chains: int = 4
    warmup: int = 1000
    draws: int = 1000
    thin: int = 1
    seed: int = 1

    def complaints(self) -> Iterator[Complaint]:
        """Check each setting on its own."""
        if self.sampler not in ("exact", "paper"):
            yield "sampler", '"exact" or "paper"'
        for name, least in (("chains", 1), ("warmup", 0), ("draws", 1), ("thin", 1), ("seed", 0)):
            if not is_whole(getattr(self, name), least=least):
                yield name, f"a whole number of at least {least}"


@dataclass
class Project:
    """Everything needed to do the work again."""

    sources: Sources
    model: Model = field(default_factory=Model)
    run: Run = field(default_factory=Run)

    @classmethod
    def read(cls, path: str | PathLike[str], faults: Faults | None = None) -> Self:
        """Read a project file; raise one error with all its faults, or put them on the list if there is one."""
        path, mine = Path(path), Faults() if faults is None else faults
        table = read_toml(path, mine)
        sources = Sources.from_table(table, path, mine)
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
        draft = path.with_name(path.name + ".part")
        draft.write_text(tomli_w.dumps(table), encoding="utf-8")
        os.replace(draft, path)
