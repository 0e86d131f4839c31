"""`Result`: what was found out about who is whom, all in one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage
from tielink.data.scores import pair_keys
from tielink.estimation.estimate import estimate
from tielink.estimation.losses import Binder
from tielink.evaluation.audit import Audit
from tielink.evaluation.evaluate import Evaluation, evaluate
from tielink.notebook import html_view
from tielink.posterior.diagnosis import Diagnosis
from tielink.posterior.posterior import INTERRUPTED, Posterior
from tielink.project import Project
from tielink.report.evidence import Evidence, gather_evidence

__all__ = ["DOUBT", "Decided", "Result"]

DOUBT = (0.1, 0.9)
"""A pair whose probability lies between these is worth a look by a person, whatever was decided."""

RESAMPLED = 50_000_000
"""Records times bootstrap resamples at most: with many records intervals are narrow, and few resamples tell."""

SHOWN = 10
"""Pairs in the view of a notebook."""


@dataclass(frozen=True, eq=False)
class Decided:
    """Every pair that somebody may ask about: links, anchors, and what could have been links, the surest first."""

    pairs: NDArray[np.int64]
    """Record numbers r < r', one row a pair."""
    probability: NDArray[np.float64]
    error: NDArray[np.float64]
    """Monte Carlo error of the probability."""
    linked: NDArray[np.bool_]
    known: NDArray[np.bool_]
    """Anchors: given, not found."""

    @property
    def review(self) -> NDArray[np.bool_]:
        """Which pairs a person should look at."""
        return (self.probability > DOUBT[0]) & (self.probability < DOUBT[1]) & ~self.known

    @property
    def words(self) -> list[str]:
        """The decision on each pair: known, link or no link."""
        return [
            "known" if known else "link" if linked else "no link"
            for known, linked in zip(self.known, self.linked, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Result:
    """Links, their probabilities and the evidence for them; `save` writes a folder, `report` one page.

    Made by `tl.link`.
    """

    dataset: Dataset
    posterior: Posterior
    linkage: Linkage
    """Who is whom, at the costs in `loss`."""
    loss: Binder = field(default_factory=Binder)
    truth: Linkage | None = None
    """The true linkage, for scoring only."""
    project: Project | None = None
    """Where the data are and how all was set; None for data that came as frames."""
    quick: bool = False
    """Whether this was a first, rough look."""
    audit: Audit | None = None
    """What people found out about a random sample (`tielink review`)."""

    @classmethod
    def of(
        cls,
        posterior: Posterior,
        dataset: Dataset,
        *,
        loss: Binder | None = None,
        truth: Linkage | None = None,
        project: Project | None = None,
        quick: bool = False,
        audit: Audit | None = None,
    ) -> Result:
        """Decide on links and keep all that belongs to them."""
        loss = loss or Binder()
        linkage = estimate(posterior, loss)
        return cls(dataset, posterior, linkage, loss, truth, project, quick, audit)

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before all its draws were made."""
        return self.posterior.ended == INTERRUPTED

    @cached_property
    def decided(self) -> Decided:
        """The pairs that were linked, and those that could have been."""
        found = self.posterior.pair_probabilities
        linked = np.isin(pair_keys(found.pairs), pair_keys(self.linkage.pair_numbers))
        known = np.isin(pair_keys(found.pairs), pair_keys(self.dataset.anchors.pair_numbers))
        kept = linked | known | (found.probability > DOUBT[0])
        return Decided(found.pairs[kept], found.probability[kept], found.error[kept], linked[kept], known[kept])

    @cached_property
    def evidence(self) -> Evidence:
        """Why pairs are, or are not, linked."""
        decided = self.decided
        return gather_evidence(self.posterior, self.dataset, decided.pairs, decided.probability)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """Whether the draws can be trusted."""
        return self.posterior.diagnose()

    @cached_property
    def evaluation(self) -> Evaluation | None:
        """Scores against the truth, where there is one."""
        if self.truth is None:
            return None
        resamples = max(20, min(500, RESAMPLED // len(self.dataset.records)))
        return evaluate(self.posterior, self.truth, anchors=self.dataset.anchors, resamples=resamples)

    @cached_property
    def clusters(self) -> list[tuple[tuple[int, ...], float]]:
        """The record numbers of every person, and the share of draws in which just these are one person."""
        from tielink.report.persons import numbered_persons

        return numbered_persons(self)

    def links(self) -> Any:
        """Return the links and near-links as a frame: ids, probability, decision, values and evidence."""
        from tielink.report.tables import links_table

        return links_table(self)

    def persons(self) -> Any:
        """Return every record with the number of its person as a frame."""
        from tielink.report.persons import persons_table

        return persons_table(self)

    def profiles(self) -> Any:
        """Return the merged profile of every linked person as a frame."""
        from tielink.report.tables import profiles_table

        return profiles_table(self)

    def report(self, path: str | PathLike[str]) -> Path:
        """Write the report: one HTML file that needs nothing else, on line or off."""
        from tielink.report.page import write_page

        return write_page(self, Path(path))

    def save(self, folder: str | PathLike[str], *, exact_text: bool = False) -> Path:
        """Write everything to a folder: tables, posterior, report, and the project file where there is a project.

        In the CSV tables an apostrophe stands before texts that a spreadsheet would run as formulas, unless
        `exact_text`.
        """
        from tielink.report.folder import write_folder

        return write_folder(self, Path(folder), exact_text=exact_text)

    def __str__(self) -> str:
        from tielink.report.words import verdict

        return "\n".join(verdict(self))

    def __repr__(self) -> str:
        return f"Result({len(self.linkage.pair_numbers):,} links; {self.posterior.persons()})"

    def _repr_html_(self) -> str:
        from tielink.report.words import verdict

        decided, records, words = self.decided, self.dataset.records, self.decided.words
        found = np.flatnonzero(~decided.known)[:SHOWN]
        rows = [
            (*records[decided.pairs[k, 0]], *records[decided.pairs[k, 1]], f"{decided.probability[k]:.3f}", words[k])
            for k in found
        ]
        header = ("file", "id", "file", "id", "probability", "decision")
        return html_view(f"Result: {len(self.linkage.pair_numbers):,} links", header, rows, verdict(self))
