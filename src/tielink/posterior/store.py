"""A posterior as one NetCDF file, with the groups that ArviZ expects."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tielink.data.records import Records
from tielink.faults import Fault, Faults, InputError
from tielink.model.spec import Model
from tielink.posterior.dyads import DyadScores
from tielink.posterior.predictive import FIGURES, NetworkSample
from tielink.project import Run

if TYPE_CHECKING:
    from tielink.posterior.posterior import Posterior

__all__ = ["load", "save"]

FORMAT = 1


def save(posterior: Posterior, path: str | PathLike[str]) -> None:
    """Write the file whole or not at all: draft, flush to disk, rename."""
    import xarray as xr

    path = Path(path)
    draft = path.with_name(path.name + ".part")
    tree = xr.DataTree.from_dict(_groups(posterior))
    tree.attrs.update(_attributes(posterior))
    packed = {
        f"/{name}": {
            variable: {"zlib": True, "complevel": 4, "shuffle": True}
            for variable, values in group.variables.items()
            if values.size > 100 and values.dtype.kind in "iuf"
        }
        for name, group in tree.children.items()
    }
    try:
        tree.to_netcdf(draft, engine="h5netcdf", encoding=packed)
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _groups(posterior: Posterior) -> dict[str, Any]:
    import xarray as xr

    from tielink.posterior.posterior import BEYOND

    person = posterior.person
    small = np.int16 if len(posterior.records) <= np.iinfo(np.int16).max else np.int32
    draws = ("chain", "draw")
    variables: dict[str, Any] = {
        "person": ((*draws, "record"), person.astype(small), {"long_name": "smallest record number of the person"}),
        "persons": (draws, posterior.number_of_persons, {"long_name": "N, number of persons"}),
        "distortion": ((*draws, "rate"), posterior.distortion),
    }
    coordinates: dict[str, Any] = {"chain": np.arange(posterior.chains), "draw": np.arange(posterior.draws_per_chain)}
    coordinates["rate"] = list(posterior.rates)
    coordinates["field"] = list(posterior.fields)
    if posterior.spread.size:
        variables["intercept"] = ((*draws, "file"), posterior.intercepts)
        variables["spread"] = (draws, posterior.spread)
        coordinates["file"] = list(posterior.records.files)
    for name, values in posterior.beyond.items():
        variables[name] = (draws, values, {"long_name": BEYOND[name]})
    if posterior.careless.size:
        variables["careless"] = ((*draws, "record"), posterior.careless.astype(np.int8))
        variables["careless_share"] = (draws, posterior.careless_share)
    for name, values in posterior.prior.items():
        variables[f"prior_{name}"] = (draws, values)
    for name, values in posterior.fields.items():
        if values.size:
            variables[f"field_{name}"] = ((*draws, f"parameter_{name}"), values.astype(np.float32))
    groups = {
        "posterior": xr.Dataset(variables, coordinates),
        "sample_stats": xr.Dataset(
            {
                "lp": (draws, posterior.log_likelihood, {"long_name": "log-likelihood of ties and values"}),
                "proposed": (("chain", "move"), posterior.proposed),
                "accepted": (("chain", "move"), posterior.accepted),
            },
            {"move": list(posterior.moves)},
        ),
        "known": xr.Dataset(
            {"anchors": (("pair", "side"), posterior.anchors), "nonmatches": (("apart", "side"), posterior.nonmatches)}
        ),
    }
    scores = posterior.dyads
    if scores is not None:
        variables = {
            "mean_probability": (("dyad",), scores.mean_probability),
            "mean_log": (("dyad",), scores.mean_log),
            "variance_log": (("dyad",), scores.variance_log),
        }
        if scores.tail is not None:
            variables |= {"mean_ratio": (("dyad",), scores.mean_ratio), "tail": (("dyad", "rank"), scores.tail)}
        groups["dyads"] = xr.Dataset(variables, attrs={"draws": scores.draws})
    network = posterior.network
    if network is not None:
        groups["positions"] = xr.Dataset(
            {
                "positions": (("chain", "kept", "record", "dimension"), network.positions.astype(np.float32)),
                "intercept": (("chain", "kept", "file"), network.intercepts),
                "kept_draw": (("kept",), network.draws),
                "observed": (("file", "figure"), network.observed),
            },
            {"figure": list(FIGURES)},
            {"link": network.link},
        )
        if network.sociality is not None:
            kept = ("chain", "kept", "record")
            groups["positions"]["sociality"] = (kept, network.sociality.astype(np.float32))
    return groups


def _attributes(posterior: Posterior) -> dict[str, Any]:
    ids = [[_plain(key) for key in keys] for keys in posterior.records.ids]
    return {
        "creator": f"tielink {version('tielink')}",
        "tielink_format": FORMAT,
        "files": json.dumps(posterior.records.files),
        "ids": json.dumps(ids),
        "model": json.dumps(posterior.model.to_table()),
        "run": json.dumps(posterior.run.to_table()),
        "notes": json.dumps(posterior.notes),
        "frame_kind": posterior.frame_kind,
    }


def _plain(key: object) -> object:
    """Keep ids that JSON can hold; write others as text."""
    return key if isinstance(key, str | int | float | bool) else str(key)


def load(path: str | PathLike[str]) -> dict[str, Any]:
    """Read the parts of a posterior; a file that is none is an `InputError`."""
    import xarray as xr

    try:
        with xr.open_datatree(path, engine="h5netcdf") as tree:
            tree.load()
        if tree.attrs["tielink_format"] != FORMAT:
            raise KeyError(f"format {tree.attrs['tielink_format']}")
        return _parts(tree)
    except FileNotFoundError:
        raise InputError([Fault(str(path), "there is no such file.", "Check the path.")]) from None
    except (OSError, KeyError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(
            [Fault(str(path), f"is not a posterior that tielink saved ({reason}).", "Run the sampler again.")]
        ) from None


def _parts(tree: Any) -> dict[str, Any]:
    from tielink.posterior.posterior import BEYOND

    attributes, draws, stats = tree.attrs, tree["posterior"].dataset, tree["sample_stats"].dataset
    files, ids = json.loads(attributes["files"]), json.loads(attributes["ids"])
    faults = Faults()
    model = Model.from_table(json.loads(attributes["model"]), "model", faults)
    run = Run.from_table(json.loads(attributes["run"]), "run", faults)
    faults.raise_errors()
    chains, length = draws["persons"].shape
    network = None
    if "positions" in tree:
        kept = tree["positions"].dataset
        network = NetworkSample(
            link=str(kept.attrs["link"]),
            draws=kept["kept_draw"].values,
            positions=kept["positions"].values,
            intercepts=kept["intercept"].values,
            observed=kept["observed"].values,
            sociality=kept["sociality"].values if "sociality" in kept else None,
        )
    scores = None
    if "dyads" in tree:
        stored = tree["dyads"].dataset
        scores = DyadScores(
            int(stored.attrs["draws"]),
            *(stored[name].values for name in ("mean_probability", "mean_log", "variance_log")),
            *(stored[name].values for name in ("mean_ratio", "tail") if name in stored),
        )
    has_network = "spread" in draws
    careless = {}
    if "careless" in draws:
        careless = {"careless": draws["careless"].values == 1, "careless_share": draws["careless_share"].values}
    return careless | {
        "records": Records(dict(zip(files, ids, strict=True))),
        "model": model,
        "run": run,
        "person": draws["person"].values,
        "log_likelihood": stats["lp"].values,
        "intercepts": draws["intercept"].values if has_network else np.empty((chains, length, 0)),
        "spread": draws["spread"].values if has_network else np.empty((chains, 0)),
        "distortion": draws["distortion"].values,
        "rates": tuple(str(name) for name in draws["rate"].values),
        "fields": {
            str(name): draws[f"field_{name}"].values if f"field_{name}" in draws else np.empty((chains, length, 0))
            for name in draws["field"].values
        },
        "beyond": {name: draws[name].values for name in BEYOND if name in draws},
        "anchors": tree["known"].dataset["anchors"].values.reshape(-1, 2),
        "nonmatches": _nonmatches(tree["known"].dataset),
        "prior": {
            str(name)[6:]: values.values for name, values in draws.data_vars.items() if str(name).startswith("prior_")
        },
        "moves": tuple(str(name) for name in stats["move"].values),
        "proposed": stats["proposed"].values,
        "accepted": stats["accepted"].values,
        "network": network,
        "dyads": scores,
        "notes": tuple(json.loads(attributes["notes"])),
        "frame_kind": str(attributes["frame_kind"]),
    }


def _nonmatches(known: Any) -> Any:
    """Read known non-matches; files of earlier versions have none."""
    return known["nonmatches"].values.reshape(-1, 2) if "nonmatches" in known else np.empty((0, 2), dtype=np.int64)
