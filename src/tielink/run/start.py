"""Where chains stood at the end of an earlier run, carried over to other data: more records, fewer, or more known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Codes
from tielink.data.dataset import Dataset
from tielink.data.stored import whole_numbers
from tielink.posterior.posterior import Posterior

if TYPE_CHECKING:
    from tielink.run.chain import Chain

__all__ = ["Start", "go_on"]

PLACED = 5
"""Rounds of draws for records that are new, before all others move."""
LEAST_PROBABLE = 1e-3
"""Pairs of at least this probability stay candidates."""


@dataclass(frozen=True, eq=False)
class Start:
    """The last draw of every chain, by the numbers of the records that there are now."""

    person: Codes
    """chains × records; −1 for records that are new."""
    pairs: Codes
    """Pairs that were candidates and had some probability."""
    parameters: dict[str, NDArray[Any]] = field(default_factory=dict)
    """For each chain rates, parameters of fields, ρ and hyperparameters, by the names that chains know them by."""

    @classmethod
    def of(cls, posterior: Posterior, dataset: Dataset) -> Start:
        """Carry the last draws over to the records of a data set."""
        old, new = posterior.records, dataset.records
        place = np.full(len(old), -1, dtype=np.int64)
        """Where each record is now; −1 if it is withdrawn."""
        for number in range(len(old)):
            if old[number] in new:
                place[number] = new.number(old[number])
        kept = place >= 0
        last = posterior.person[:, -1]
        person = np.full((posterior.chains, len(new)), -1, dtype=np.int64)
        for chain in range(posterior.chains):
            # The label of a person is any number of its own: here that of its first record before.
            person[chain, place[kept]] = last[chain, kept]
        found = posterior.pair_probabilities
        pairs = place[found.pairs[found.probability >= LEAST_PROBABLE]]
        parameters: dict[str, NDArray[Any]] = {"rates": posterior.distortion[:, -1]}
        for number, values in enumerate(posterior.fields.values()):
            parameters[f"fields.{number}"] = values[:, -1].astype(float)
        if posterior.sharing.size:
            parameters["sharing"] = posterior.sharing[:, -1]
        if posterior.prior:
            parameters["prior"] = np.stack([values[:, -1] for values in posterior.prior.values()], axis=1)
        if posterior.careless_share.size:
            careless = np.zeros((posterior.chains, len(new)), dtype=bool)
            careless[:, place[kept]] = posterior.careless[:, -1][:, kept]
            parameters |= {"careless": careless, "share": posterior.careless_share[:, -1]}
        return cls(person, np.sort(pairs[(pairs >= 0).all(axis=1)], axis=1), parameters)

    def stored(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays."""
        named = {f"start.{name}": values for name, values in self.parameters.items()}
        return {"start.person": self.person, "start.pairs": self.pairs, **named}

    @classmethod
    def read(cls, arrays: dict[str, NDArray[Any]], chains: int, records: int) -> Start | None:
        """Make a start from what `stored` returned, checked; None where there is none."""
        found = {name[6:]: values for name, values in arrays.items() if name.startswith("start.")}
        if not found:
            return None
        most = np.iinfo(np.int32).max
        person = whole_numbers(found.pop("person"), (chains, records), -1, most, "start.person")
        pairs = whole_numbers(found.pop("pairs"), (None, 2), 0, records, "start.pairs")
        for name, values in found.items():
            if len(values) != chains or values.dtype.kind not in "fb" or not np.isfinite(values).all():
                raise ValueError(f"start.{name} holds no numbers for each chain")
        return cls(person, pairs, found)


def go_on(chain: Chain, start: Start) -> None:
    """Put a chain where an earlier one stood, as far as what is known now allows, and place new records."""
    from tielink.sampler.partition import join, permitted

    _take_parameters(chain, {name: values[chain.index] for name, values in start.parameters.items()})
    chain.add_candidates(start.pairs)
    person, rules = start.person[chain.index], chain.rules
    order = np.argsort(person, kind="stable")
    order = order[person[order] >= 0]
    for group in np.split(order, np.flatnonzero(np.diff(person[order])) + 1) if len(order) else ():
        first, *others = dict.fromkeys(rules.unit_of[group].tolist())
        for unit in others:
            own, other = (chain.state.label[rules.unit_record[rules.unit_begin[one]]] for one in (unit, first))
            if own != other and permitted(chain.state, rules, own, other):
                join(chain.state, rules, own, other, 0.0)
    chain.revalue()
    new = np.unique(rules.unit_of[np.flatnonzero(person < 0)])
    if len(new):
        plan = np.column_stack([new, np.full(len(new), -1)])
        for _ in range(PLACED):
            chain.network.redraw(plan)


def _take_parameters(chain: Chain, values: dict[str, NDArray[Any]]) -> None:
    """Take over what fits; the first sweeps draw the rest."""
    state = chain.profile_state
    if values["rates"].shape == state.rates.shape:
        state.rates = np.clip(values["rates"], 1e-9, 1 - 1e-9)
    for place, now in enumerate(state.fields):
        before = values.get(f"fields.{place}")
        if before is not None and before.shape == now.shape:
            state.fields[place] = before.astype(float)
    if "careless" in values and len(state.careless):
        state.careless, state.share = values["careless"].astype(bool), float(values["share"])
    known = chain.hyperparameters
    if known is not None and "prior" in values and values["prior"].shape == known.values.shape:
        known.values = values["prior"].astype(float)
        known.write(chain.state)
    if "sharing" in values:
        chain.network.take_sharing(float(values["sharing"]))
