"""Which fields depend on each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tielink.channels.dependence import Learnt, learn_edges
from tielink.faults import Faults, nearest
from tielink.fields import PersonName
from tielink.specification import Beta, Complaint, Specification

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset
    from tielink.model.spec import Model

__all__ = ["Dependence", "find_dependence"]

LEARN = "learn"
SOMETIMES = Beta(1.0, 19.0)
"""One record in twenty is expected to be of another time."""
Pairs = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Dependence(Specification):
    """True values of some fields tell each other: a suburb its postcode, a given name the sex.

    Fields that depend on each other form trees. Along each edge the two true values have a joint distribution, learnt
    from how often the files hold both, so that agreeing on a suburb *and* on its postcode counts about once. Records
    err in each field by itself, as ever; besides, all fields of a tree may change together: somebody moves house.
    Models with `Careless` records take fields for independent.

    Parameters
    ----------
    edges
        "learn", or the pairs of fields that depend on each other: `[("suburb", "postcode")]`. They must form no circle.
    forbidden
        Pairs of fields that are not to be joined when edges are learnt.
    change
        Prior of κ, the probability that a record has the values of another time, all fields of a tree together.
    """

    kind: ClassVar[str] = "dependence"
    parts: ClassVar[Mapping[str, tuple[type[Specification], ...]]] = {"change": (Beta,)}
    edges: str | Pairs = LEARN
    forbidden: Pairs = ()
    change: Beta = SOMETIMES

    def __post_init__(self) -> None:
        """Keep pairs as tuples, then check."""
        for name in ("edges", "forbidden"):
            given = getattr(self, name)
            if isinstance(given, list | tuple) and all(isinstance(pair, list | tuple) for pair in given):
                object.__setattr__(self, name, tuple(tuple(pair) for pair in given))
        super().__post_init__()

    def complaints(self) -> Iterator[Complaint]:
        """Check that edges are pairs of names and form no circle."""
        if self.edges != LEARN and not _pairs(self.edges):
            yield "edges", '"learn" or pairs of names of fields: [("suburb", "postcode")]'
        elif self.edges != LEARN and _circle(self.edges):
            yield "edges", "pairs that form no circle"
        if not _pairs(self.forbidden):
            yield "forbidden", 'pairs of names of fields: [("suburb", "postcode")]'

    def to_table(self) -> dict[str, object]:
        """Write every choice out."""
        edges = self.edges if isinstance(self.edges, str) else [list(pair) for pair in self.edges]
        forbidden = [list(pair) for pair in self.forbidden]
        return {"kind": self.kind, "edges": edges, "forbidden": forbidden, "change": self.change.to_table()}


def find_dependence(model: Model, dataset: Dataset, faults: Faults) -> Learnt:
    """Find the fields that depend on each other, or take the user's word; what does not fit goes on the list."""
    fields, spec = model.fields_for(dataset.fields), model.dependence
    nothing = Learnt([], np.empty(0, dtype=np.int64))
    if spec is None or model.careless is not None or len(fields) < 2:
        if spec is not None and spec.edges != LEARN and model.careless is not None:
            faults.error(
                "model", "has careless records and fields that depend on each other.", "Choose one of the two."
            )
        return nothing
    place = {name: number for number, name in enumerate(fields)}
    edges = () if isinstance(spec.edges, str) else spec.edges
    for name in dict.fromkeys(name for pair in (*edges, *spec.forbidden) for name in pair if name not in place):
        faults.error("model, dependence", f"there is no field {name!r}.", nearest(name, place))
    for name in dict.fromkeys(name for pair in edges for name in pair if isinstance(fields.get(name), PersonName)):
        what = f"{name!r} is a person's name, read into parts, which cannot depend on other fields."
        faults.error("model, dependence", what, "Leave it out of the edges, or declare the field String().")
    if faults.errors:
        return nothing
    able = [number for number, kind in enumerate(fields.values()) if not isinstance(kind, PersonName)]
    columns = np.column_stack([dataset.columns[name].codes for name in fields])[:, able]
    within = model.linkage_for(len(dataset.files)).allowed == "free"

    def pairs(names: Pairs) -> list[tuple[int, int]]:
        return [(able.index(place[a]), able.index(place[b])) for a, b in names if {place[a], place[b]} <= {*able}]

    given = None if spec.edges == LEARN else pairs(edges)
    learnt = learn_edges(columns, dataset.records.file_of, within, given, pairs(spec.forbidden))
    return Learnt([(able[a], able[b]) for a, b in learnt.edges], learnt.kept)


def _pairs(value: object) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(pair, tuple)
        and len(pair) == 2
        and all(isinstance(name, str) for name in pair)
        and pair[0] != pair[1]
        for pair in value
    )


def _circle(edges: str | Pairs) -> bool:
    tree: dict[str, str] = {}

    def root(name: str) -> str:
        return name if tree.get(name, name) == name else root(tree[name])

    for a, b in edges:
        if root(a) == root(b):
            return True
        tree[root(a)] = root(b)
    return False
