"""A job: everything a chain needs, and how it is kept and sent as data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version

from tielink.data.dataset import Dataset
from tielink.data.records import Records
from tielink.data.stored import read_stored, stored_dataset
from tielink.faults import Fault, Faults, InputError
from tielink.model.problem import LatentSpaceProblem, Problem, SharedTiesProblem
from tielink.model.spec import Model
from tielink.posterior.dyads import tail_size
from tielink.posterior.predictive import observed_figures
from tielink.project import Run
from tielink.run.bundle import Bundle
from tielink.run.rounds import MOST_DRAWS
from tielink.run.start import Start

__all__ = ["Job"]


@dataclass(frozen=True, eq=False)
class Job:
    """A model, the data it was compiled for, and how to sample."""

    model: Model
    dataset: Dataset
    run: Run
    problem: Problem
    power: float = 0.0
    """The power of shared ties: as given, or as a pilot run found it."""
    loo: bool = False
    """Whether chains gather what leave-one-out needs."""
    start: Start | None = None
    """Where an earlier run stood, for chains that go on from there; they then have its power of ties."""

    @classmethod
    def make(cls, model: Model, dataset: Dataset, run: Run, *, loo: bool = False) -> Job:
        """Compile the model for the data; with `loo`, chains gather what leave-one-out needs."""
        problem = Problem.compile(model, dataset)
        power = (problem.network.power or 0.0) if isinstance(problem.network, SharedTiesProblem) else 0.0
        return cls(model, dataset, run, problem, power, loo)

    def check(self) -> None:
        """Raise an `InputError` for what cannot be sampled."""
        problem = self.problem
        if len(problem.sizes) == 1 and problem.linkage.allowed != "free":
            fault = Fault(
                "sample",
                "one file is given, and the linkage prior only links records of different files.",
                "To find duplicates, use EwensPitman(max_size=4) or NegativeBinomial(max_size=4).",
            )
            raise InputError([fault])
        pairs = len(problem.sizes) == 2 and problem.linkage.clusters is None
        if self.run.sampler == "paper" and not (pairs and isinstance(problem.network, LatentSpaceProblem)):
            fault = Fault(
                "sample",
                "the paper's algorithm links pairs between two files in a latent space.",
                'Use sampler="exact", or Model(network=LatentSpace()).',
            )
            raise InputError([fault])

    @property
    def records(self) -> Records:
        """Who the records are."""
        return self.dataset.records

    @property
    def loo_tail(self) -> int:
        """How many of the largest importance ratios of each dyad to keep; 0 for none."""
        return tail_size(self.run.chains * (self.run.draws or MOST_DRAWS)) if self.loo else 0

    @cached_property
    def figures(self) -> list[list[float]]:
        """The observed network figures of each file, for predictive checks."""
        sizes = self.records.sizes
        return [observed_figures(size, ties) for size, ties in zip(sizes, self.dataset.ties.values(), strict=True)]

    def stored(self) -> Bundle:
        """Return the job as data: equal for jobs that give the same draws, if they have time for them."""
        arrays, values = stored_dataset(self.dataset)
        run = {name: value for name, value in self.run.to_table().items() if name != "minutes"}
        settings = {"model": self.model.to_table(), "run": run, "loo": self.loo}
        if self.start is not None:
            arrays |= self.start.stored()
            settings |= {"power": self.power}
        return arrays, {"data": values, "version": version("tielink"), **settings}

    @classmethod
    def read(cls, bundle: Bundle) -> Job:
        """Make the job from data, which are checked as any input is; a `ValueError` says what is wrong.

        `power` is there where a pilot run has found it.
        """
        arrays, values = bundle
        if values["version"] != version("tielink"):
            raise ValueError(f"tielink {values['version']} wrote it, and this is tielink {version('tielink')}")
        faults = Faults()
        model = Model.from_table(values["model"], "model", faults)
        run = Run.from_table(values["run"], "run", faults)
        faults.raise_errors()
        assert model is not None
        assert run is not None
        job = cls.make(model, read_stored(arrays, values["data"]), run, loo=values["loo"] is True)
        start = Start.read(arrays, run.chains, len(job.records))
        return replace(job, start=start, power=float(values["power"])) if "power" in values else job
