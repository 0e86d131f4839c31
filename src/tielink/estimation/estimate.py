"""`estimate`: from a posterior, or any table of pair probabilities, to one linkage."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage, LinkageClass
from tielink.data.records import Records
from tielink.data.scores import PairScores
from tielink.estimation.binder import binder
from tielink.estimation.candidates import candidates
from tielink.estimation.losses import MPMMS, Binder, Loss, Sadinle, SharedMPMMS
from tielink.estimation.mpmms import mpmms, shared_mpmms
from tielink.estimation.sadinle import Decision, sadinle
from tielink.faults import refuse
from tielink.posterior.posterior import Posterior
from tielink.specification import is_number

__all__ = ["estimate", "one_to_one"]

BINDER = Binder()


@overload
def estimate(
    source: Posterior | PairScores | Any,
    loss: Sadinle,
    *,
    data: Dataset | Records | None = None,
    allowed: LinkageClass | None = None,
) -> Decision: ...
@overload
def estimate(
    source: Posterior | PairScores | Any,
    loss: Binder | MPMMS | SharedMPMMS = BINDER,
    *,
    data: Dataset | Records | None = None,
    allowed: LinkageClass | None = None,
) -> Linkage: ...
def estimate(
    source: Posterior | PairScores | Any,
    loss: Loss = BINDER,
    *,
    data: Dataset | Records | None = None,
    allowed: LinkageClass | None = None,
) -> Linkage | Decision:
    """Return the linkage that minimises the posterior expectation of a loss.

    Parameters
    ----------
    source
        A posterior; or a table of pair probabilities that another tool produced: a frame with `id_a, id_b, probability`
        (two files) or `file_a, id_a, file_b, id_b, probability`.
    loss
        `Binder`, `MPMMS`, `SharedMPMMS` or `Sadinle`.
    data
        With a table: the data set (its anchors are linked, its known non-matches are not) or its records.
    allowed
        Which linkages are valid: "pairs", "one_per_file" or "free". By default what the posterior's model allows; for a
        table "pairs" with two files, "one_per_file" with more, "free" with one.

    Returns
    -------
    Linkage
        For `Sadinle` a `Decision`: its `.linkage`, and the `.undecided` pairs for a person to look at.

    Examples
    --------
    >>> import polars as pl
    >>> records = Records({"left": ["a", "b"], "right": ["x", "y"]})
    >>> table = pl.DataFrame({"id_a": ["a", "a", "b"], "id_b": ["x", "y", "y"], "probability": [0.8, 0.9, 0.7]})
    >>> estimate(table, Binder(), data=records).clusters()
    [(('left', 'a'), ('right', 'x')), (('left', 'b'), ('right', 'y'))]
    """
    if isinstance(loss, MPMMS | SharedMPMMS):
        if not isinstance(source, Posterior):
            refuse(type(loss).__name__, "needs draws of linkages; a table has only pairs.", "Use Binder(...).")
        person = source.person.reshape(-1, len(source.records))
        labels = np.arange(len(source.records))
        for group in (shared_mpmms if isinstance(loss, SharedMPMMS) else mpmms)(person):
            labels[list(group)] = group[0]
        return Linkage(source.records, labels, frame_kind=source.frame_kind)
    found = candidates(source, data, allowed)
    if isinstance(loss, Sadinle):
        return sadinle(found, loss)
    if not isinstance(loss, Binder):
        refuse("estimate", f"loss is {loss!r}.", "Give one such as Binder(false_link=1, missed_link=1).")
    return binder(found, loss.threshold)


def one_to_one(table: Any, data: Dataset | Records, *, threshold: float = 0.5) -> Linkage:
    """Turn any table of pair probabilities into a one-to-one linkage: maximise Σ x·(p − threshold).

    The same as `estimate` with a Binder loss whose k is the threshold, every person having at most two records.

    Parameters
    ----------
    table
        A frame with `id_a, id_b, probability` (two files) or `file_a, id_a, file_b, id_b, probability`.
    data
        The data set, whose anchors are linked and whose known non-matches are not; or its records.
    threshold
        The probability above which a link is worth making, between 0 and 1.

    Returns
    -------
    Linkage

    Examples
    --------
    >>> import polars as pl
    >>> records = Records({"left": ["a", "b"], "right": ["x", "y"]})
    >>> table = pl.DataFrame({"id_a": ["a", "a", "b"], "id_b": ["x", "y", "y"], "probability": [0.8, 0.9, 0.7]})
    >>> one_to_one(table, records, threshold=0.75).clusters()[0]
    (('left', 'a'), ('right', 'y'))
    """
    if not is_number(threshold, above=0) or not threshold < 1:
        refuse("one_to_one", f"threshold is {threshold!r}.", "Give a number between 0 and 1.")
    loss = Binder(false_link=threshold, missed_link=1 - threshold)
    return estimate(table, loss, data=data, allowed="pairs")
