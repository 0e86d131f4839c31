"""A job: everything a chain needs, in one object that travels to worker processes and checkpoints."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tielink.data.dataset import Dataset
from tielink.data.records import Records
from tielink.model.problem import Problem
from tielink.model.spec import Model
from tielink.posterior.dyads import tail_size
from tielink.posterior.predictive import observed_figures
from tielink.project import Run

__all__ = ["Job"]


@dataclass(frozen=True, eq=False)
class Job:
    """A compiled problem, how to sample it, and what the posterior must remember of the data."""

    problem: Problem
    records: Records
    model: Model
    run: Run
    figures: list[list[float]]
    """The observed network figures of each file, for predictive checks."""
    frame_kind: str
    loo_tail: int = 0
    """How many of the largest importance ratios of each dyad to keep; 0 for none."""

    @classmethod
    def make(cls, model: Model, dataset: Dataset, run: Run, *, loo: bool = False) -> Job:
        """Compile the model for the data; with `loo`, chains gather what leave-one-out needs."""
        figures = [
            observed_figures(size, dataset.ties[name])
            for name, size in zip(dataset.files, dataset.records.sizes, strict=True)
        ]
        tail = tail_size(run.chains * run.draws) if loo else 0
        return cls(Problem.compile(model, dataset), dataset.records, model, run, figures, dataset.frame_kind, tail)

    def fingerprint(self) -> str:
        """Return a digest of data, model and settings: equal for jobs that give the same draws."""
        digest = hashlib.sha256()
        for part in _parts((self.problem, self.records.files, self.records.ids, self.run, self.loo_tail)):
            digest.update(part)
        return digest.hexdigest()


def _parts(value: Any) -> Iterator[bytes]:
    """Yield the content of nested dataclasses, containers and arrays, in a fixed order."""
    yield type(value).__name__.encode()
    if is_dataclass(value):
        for field in fields(value):
            yield from _parts(getattr(value, field.name))
    elif isinstance(value, Mapping):
        yield from _parts(tuple(value.items()))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _parts(item)
    elif isinstance(value, np.ndarray):
        yield repr((value.shape, value.dtype.str)).encode()
        yield np.ascontiguousarray(value).tobytes()
    elif sparse.issparse(value):
        yield from _parts((value.data, value.indices, value.indptr))
    else:
        yield repr(value).encode()
