"""`Model`: what is believed about ties, profiles and linkage, before any data are seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tielink.faults import Faults, nearest
from tielink.fields import FIELD_KINDS, Categorical, Field, String
from tielink.model.careless import Careless
from tielink.model.cluster_priors import CLUSTER_PRIORS, ClusterPrior, EwensPitman, OnePerFile
from tielink.model.dependence import Dependence
from tielink.model.linkage_priors import LINKAGE_PRIORS, LinkagePrior, MatchRate, Uniform
from tielink.model.network import NETWORKS, Elicited, LatentSpace, SharedTies
from tielink.specification import Complaint, Specification, read_table

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset

__all__ = ["Model"]

NONE = "none"
DECLARED = "declared"
BY_FILES = "by_files"
EVERY_LINKAGE_PRIOR: tuple[type[LinkagePrior | ClusterPrior], ...] = (*LINKAGE_PRIORS, *CLUSTER_PRIORS)


@dataclass(frozen=True)
class Model(Specification):
    """A record linkage model. `Model()` is the recommended one, `Model.paper()` exactly the paper's.

    Parameters
    ----------
    network
        The model of ties, `SharedTies()` or `LatentSpace()`; None leaves ties out.
    linkage
        The prior of who is whom. By default the one that suits the number of files, see `linkage_for`.
    fields
        The fields to use, and how each is modelled; `{}` leaves profiles out. By default all fields of the data
        set, as declared there; to change one, `Model(fields=data.fields | {"username": String(edits=Beta(1, 4))})`.
    kinds
        How fields of a kind are modelled when `fields` does not name them: `{"string": String.paper()}`. By
        default as the data set declares them.
    careless
        `Careless(...)`: some records are careless, and wrong more often in all their fields. None for one sort only.
    dependence
        `Dependence(...)`: fields whose true values tell each other, by default as learnt. None takes all of them for
        independent.

    >>> Model(linkage=Uniform()) == Model.from_table(Model(linkage=Uniform()).to_table(), "model", Faults())
    True
    """

    kind: ClassVar[str] = "model"
    network: SharedTies | LatentSpace | None = field(default_factory=SharedTies)
    linkage: LinkagePrior | ClusterPrior | None = None
    fields: Mapping[str, Field] | None = None
    kinds: Mapping[str, Field] = field(default_factory=dict)
    careless: Careless | None = None
    dependence: Dependence | None = field(default_factory=Dependence)

    def complaints(self) -> Iterator[Complaint]:
        """Check that every part is of its kind."""
        if not isinstance(self.network, SharedTies | LatentSpace | None):
            yield "network", "SharedTies(...), LatentSpace(...) or None"
        if not isinstance(self.linkage, LinkagePrior | ClusterPrior | None):
            yield "linkage", " or ".join([*(f"{cls.__name__}()" for cls in EVERY_LINKAGE_PRIOR), "None"])
        if not isinstance(self.careless, Careless | None):
            yield "careless", "Careless(...) or None"
        if not isinstance(self.dependence, Dependence | None):
            yield "dependence", "Dependence(...) or None"
        for name in ("fields", "kinds"):
            value = getattr(self, name)
            if value is None and name == "fields":
                continue
            if not isinstance(value, Mapping) or not all(isinstance(kind, Field) for kind in value.values()):
                yield name, "a mapping from names to fields: String(...), Categorical(...), …"
            elif name == "kinds" and any(kind.kind != key for key, kind in value.items()):
                yield name, '{"string": String(...), "categorical": Categorical(...)}'

    @classmethod
    def paper(cls, dimension: int = 2) -> Self:
        """Return exactly the model of Sosa and Rodríguez, with a latent space of the given dimension."""
        return cls(
            network=LatentSpace(dimension, link="logit", intercept_sd=100.0, spread=Elicited(cv=0.5)),
            linkage=Uniform(),
            kinds={"string": String.paper(), "categorical": Categorical.paper()},
            dependence=None,
        )

    def linkage_for(self, files: int) -> LinkagePrior | ClusterPrior:
        """Return the linkage prior; where none is set, the one that allows whatever so many files can hold.

        One file can only hold duplicates, two can share persons in pairs, and with more a person may be in all of them.

        >>> Model().linkage_for(2), Model().linkage_for(3)
        (MatchRate(a=1.0, b=1.0, anchors_inform=False), OnePerFile(a=1.0, b=1.0, anchors_inform=False))
        """
        if self.linkage is not None:
            return self.linkage
        return EwensPitman() if files == 1 else MatchRate() if files == 2 else OnePerFile()

    def fields_for(self, declared: Mapping[str, Field]) -> dict[str, Field]:
        """Decide how each declared field is modelled: by name, else by kind, else as declared."""
        if self.fields is None:
            return {name: self.kinds.get(field.kind, field) for name, field in declared.items()}
        faults = Faults()
        for name in self.fields.keys() - declared.keys():
            faults.error(f"model, field {name!r}", "the data have no such field.", nearest(name, declared))
        faults.raise_errors()
        return dict(self.fields)

    def describe(self, dataset: Dataset) -> str:
        """State the model in words, with what the linkage prior implies for the number of persons."""
        from tielink.model.describe import describe

        return describe(self, dataset)

    def to_table(self) -> dict[str, Any]:
        """Write every choice out as a project file's `[model]` table."""
        return {
            "network": NONE if self.network is None else self.network.to_table(),
            "linkage": BY_FILES if self.linkage is None else self.linkage.to_table(),
            "fields": DECLARED if self.fields is None else _tables(self.fields),
            "kinds": _tables(self.kinds),
            "careless": NONE if self.careless is None else self.careless.to_table(),
            "dependence": NONE if self.dependence is None else self.dependence.to_table(),
        }

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str, faults: Faults) -> Self | None:
        """Read a project file's `[model]` table; faults go on the list, and then there is no result."""
        known = ("network", "linkage", "fields", "kinds", "careless", "dependence")
        before = len(faults.errors)
        for name in table.keys() - set(known):
            faults.error(where, f"unknown setting {name!r}.", nearest(name, known))
        settings: dict[str, Any] = {}
        parts: dict[str, tuple[type[Specification], ...]] = {
            "network": NETWORKS,
            "careless": (Careless,),
            "dependence": (Dependence,),
        }
        for name in parts.keys() & table.keys():
            given = table[name]
            settings[name] = None if given == NONE else read_table(given, parts[name], f"{where}.{name}", faults)
        if table.get("linkage", BY_FILES) != BY_FILES:
            settings["linkage"] = read_table(table["linkage"], EVERY_LINKAGE_PRIOR, f"{where}.linkage", faults)
        for name in ("fields", "kinds"):
            given = table.get(name, DECLARED)
            if isinstance(given, Mapping):
                settings[name] = {
                    key: read_table(value, FIELD_KINDS, f"{where}.{name}.{key}", faults) for key, value in given.items()
                }
            elif given != DECLARED:
                faults.error(where, f"{name} is {given!r}.", f'Give "{DECLARED}" or a table [{where}.{name}].')
        return cls._made(settings, where, faults) if len(faults.errors) == before else None


def _tables(fields: Mapping[str, Field]) -> dict[str, Any]:
    return {name: kind.to_table() for name, kind in fields.items()}
