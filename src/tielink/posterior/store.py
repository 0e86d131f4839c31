"""A posterior as one NetCDF file, with the groups that ArviZ expects."""

from __future__ import annotations

import json
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tielink.data.stored import plain_ids, read_records
from tielink.faults import Fault, Faults, InputError
from tielink.files import open_regular, write_whole
from tielink.model.spec import Model
from tielink.posterior.dyads import DyadScores
from tielink.posterior.pairs import PairProbabilities
from tielink.posterior.predictive import FIGURES, NetworkSample
from tielink.posterior.validity import check_parts
from tielink.project import Run

if TYPE_CHECKING:
    from tielink.posterior.posterior import Posterior

__all__ = ["load", "save"]

FORMAT = 3


def save(posterior: Posterior, path: str | PathLike[str]) -> None:
    """Write the file whole or not at all."""
    import xarray as xr

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
    # In memory first: the library crashes, and the whole program with it, where a disk is full.
    content = tree.to_netcdf(engine="h5netcdf", encoding=packed)
    write_whole(Path(path), lambda file: file.write(content))


def _groups(posterior: Posterior) -> dict[str, Any]:
    import xarray as xr

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
    if posterior.sharing.size:
        variables["sharing"] = (draws, posterior.sharing, {"long_name": "share of common ties"})
    if posterior.careless.size:
        variables["careless"] = ((*draws, "record"), posterior.careless.astype(np.int8))
        variables["careless_share"] = (draws, posterior.careless_share)
    for name, values in posterior.prior.items():
        variables[f"prior_{name}"] = (draws, values)
    for name, values in posterior.fields.items():
        if values.size:
            variables[_variable(name)] = ((*draws, _variable(name, "parameter")), values.astype(np.float32))
    groups = {
        "posterior": xr.Dataset(variables, coordinates, {"power": posterior.power}),
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
    averaged = posterior.conditional
    if averaged is not None:
        columns = {"probability": averaged.probability, "error": averaged.error}
        pairs = {"pairs": (("pair", "side"), averaged.pairs)}
        groups["conditional"] = xr.Dataset(pairs | {name: (("pair",), values) for name, values in columns.items()})
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
    return groups


def _variable(field: str, of: str = "field") -> str:
    """Name the variable of a field; a slash in it would make a group."""
    return f"{of}_{field.replace('%', '%25').replace('/', '%2F')}"


def _attributes(posterior: Posterior) -> dict[str, Any]:
    return {
        "creator": f"tielink {version('tielink')}",
        "tielink_format": FORMAT,
        "files": json.dumps(posterior.records.files),
        "ids": json.dumps(plain_ids(posterior.records)),
        "model": json.dumps(posterior.model.to_table()),
        "run": json.dumps(posterior.run.to_table()),
        "notes": json.dumps(posterior.notes),
        "ended": posterior.ended,
        "frame_kind": posterior.frame_kind,
    }


def load(path: str | PathLike[str]) -> dict[str, Any]:
    """Read the parts of a posterior; a file that is none is an `InputError`."""
    import h5py

    try:
        with open_regular(Path(path)) as raw, h5py.File(raw, "r") as file:
            parts = _parts(*_read(file))
        check_parts(parts)
        return parts
    except FileNotFoundError:
        raise InputError([Fault(str(path), "there is no such file.", "Check the path.")]) from None
    except Exception as error:  # whatever data, however strange, can do to a reader
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(
            [Fault(str(path), f"is not a posterior that tielink saved ({reason}).", "Run the sampler again.")]
        ) from None


def _read(file: Any) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the file's attributes, and the arrays and attributes of each group by name."""
    import h5py

    def values(item: Any) -> Any:
        return item.asstr()[()] if h5py.check_string_dtype(item.dtype) else item[()]

    groups = {
        name: {key: values(item) for key, item in group.items() if isinstance(item, h5py.Dataset)} | dict(group.attrs)
        for name, group in file.items()
        if isinstance(group, h5py.Group)
    }
    return dict(file.attrs), groups


def _parts(attributes: dict[str, Any], groups: dict[str, dict[str, Any]]) -> dict[str, Any]:
    if int(np.ravel(attributes["tielink_format"])[0]) != FORMAT:
        raise ValueError(f"format {attributes['tielink_format']}")
    draws, stats, known = (groups[name] for name in ("posterior", "sample_stats", "known"))
    faults = Faults()
    model = Model.from_table(json.loads(attributes["model"]), "model", faults)
    run = Run.from_table(json.loads(attributes["run"]), "run", faults)
    faults.raise_errors()
    chains, length = draws["persons"].shape
    network = scores = None
    if "positions" in groups:
        kept = groups["positions"]
        network = NetworkSample(
            link=str(kept["link"]),
            draws=kept["kept_draw"],
            positions=kept["positions"],
            intercepts=kept["intercept"],
            observed=kept["observed"],
        )
    if "dyads" in groups:
        stored = groups["dyads"]
        names = ("mean_probability", "mean_log", "variance_log", "mean_ratio", "tail")
        scores = DyadScores(
            int(np.ravel(stored["draws"])[0]), **{name: stored[name] for name in names if name in stored}
        )
    averaged = None
    if "conditional" in groups:
        kept = groups["conditional"]
        averaged = PairProbabilities(kept["pairs"].reshape(-1, 2), kept["probability"], kept["error"])
    has_network = "spread" in draws
    careless = {}
    if "careless" in draws:
        careless = {"careless": draws["careless"] == 1, "careless_share": draws["careless_share"]}
    nothing = np.empty((chains, length, 0))
    sharing = {}
    if "sharing" in draws:
        sharing = {"sharing": draws["sharing"], "power": float(np.ravel(draws["power"])[0])}
    return (
        careless
        | sharing
        | {
            "records": read_records(json.loads(attributes["files"]), json.loads(attributes["ids"])),
            "model": model,
            "run": run,
            "person": draws["person"],
            "log_likelihood": stats["lp"],
            "intercepts": draws["intercept"] if has_network else nothing,
            "spread": draws["spread"] if has_network else np.empty((chains, 0)),
            "distortion": draws["distortion"],
            "rates": tuple(str(name) for name in draws["rate"]),
            "fields": {str(name): draws.get(_variable(str(name)), nothing) for name in draws["field"]},
            "anchors": known["anchors"].reshape(-1, 2),
            "nonmatches": known["nonmatches"].reshape(-1, 2),
            "prior": {name[6:]: values for name, values in draws.items() if name.startswith("prior_")},
            "moves": tuple(str(name) for name in stats["move"]),
            "proposed": stats["proposed"],
            "accepted": stats["accepted"],
            "network": network,
            "dyads": scores,
            "conditional": averaged,
            "notes": tuple(json.loads(attributes["notes"])),
            "ended": str(attributes["ended"]),
            "frame_kind": str(attributes["frame_kind"]),
        }
    )
