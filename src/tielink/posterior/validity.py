"""Whether the parts of a stored posterior can be those of one: shapes, types and ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.stored import FRAME_KINDS, whole_numbers

__all__ = ["check_parts"]

ROUNDING = 1e-6
"""How far sums of probabilities may be off."""


def check_parts(parts: dict[str, Any]) -> None:
    """Raise a `ValueError` that names the first part which cannot be one of a posterior."""
    records, files = len(parts["records"]), len(parts["records"].files)
    person = parts["person"]
    chains, draws = (*person.shape, 0, 0)[:2]
    each = (chains, draws)
    whole_numbers(person, (*each, records), 0, records, "person")
    if not person.size or (np.take_along_axis(person, person.astype(np.int64), axis=2) != person).any():
        raise ValueError("person holds no linkages")
    if (person > np.arange(records)).any():
        raise ValueError("person does not hold the smallest record numbers")
    moves = (chains, len(parts["moves"]))
    most = np.iinfo(np.int64).max
    whole_numbers(parts["proposed"], moves, 0, most, "proposed")
    whole_numbers(parts["accepted"], moves, 0, most, "accepted")
    for name in ("anchors", "nonmatches"):
        whole_numbers(parts[name], (None, 2), 0, records, name)
    _check_numbers(parts["log_likelihood"], each, "log_likelihood", finite=False)
    _check_numbers(parts["distortion"], (*each, len(parts["rates"])), "distortion")
    has_network = bool(parts["spread"].size)
    _check_numbers(parts["intercepts"], (*each, files if has_network else 0), "intercepts")
    _check_numbers(parts["spread"], each if has_network else (chains, 0), "spread")
    for name, values in parts["fields"].items():
        _check_numbers(values, (*each, None), f"field {name!r}")
    for name, values in parts["prior"].items():
        _check_numbers(values, each, name)
    if "sharing" in parts:
        _check_shares(parts["sharing"], each, "sharing")
        _check_shares(np.array(parts["power"]), (), "power")
    if "careless" in parts:
        _check_numbers(parts["careless"], (*each, records), "careless")
        _check_numbers(parts["careless_share"], each, "careless_share")
    network, scores = parts["network"], parts["dyads"]
    if network is not None:
        kept = len(whole_numbers(network.draws, (None,), 0, draws, "kept_draw"))
        _check_numbers(network.positions, (chains, kept, records, None), "positions")
        _check_numbers(network.intercepts, (chains, kept, files), "intercept")
        _check_numbers(network.observed, (files, None), "observed", finite=False)
    averaged = parts["conditional"]
    if averaged is not None:
        pairs = len(whole_numbers(averaged.pairs, (None, 2), 0, records, "pairs"))
        _check_shares(averaged.probability, (pairs,), "probability")
        _check_numbers(averaged.error, (pairs,), "error", finite=False)
    if scores is not None:
        dyads = len(scores.mean_log)
        for name in ("mean_probability", "mean_log", "variance_log", "mean_ratio"):
            if getattr(scores, name) is not None:
                _check_numbers(getattr(scores, name), (dyads,), name, finite=False)
        if scores.tail is not None:
            _check_numbers(scores.tail, (dyads, None), "tail", finite=False)
    if parts["frame_kind"] not in FRAME_KINDS:
        raise ValueError(f"unknown kind of frames {parts['frame_kind']!r}")
    if parts["ended"] not in ("finished", "interrupted", "out of time"):
        raise ValueError(f"unknown end {parts['ended']!r}")
    if not all(isinstance(note, str) for note in parts["notes"]):
        raise ValueError("its notes are no texts")


def _check_numbers(array: NDArray[Any], shape: tuple[int | None, ...], name: str, *, finite: bool = True) -> None:
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    if not fits or array.dtype.kind not in "fiub":
        raise ValueError(f"{name} is no table of numbers of its size")
    if finite and not np.isfinite(array).all():
        raise ValueError(f"{name} holds what is no number")


def _check_shares(array: NDArray[Any], shape: tuple[int | None, ...], name: str) -> None:
    _check_numbers(array, shape, name)
    if array.size and not (array.min() >= -ROUNDING and array.max() <= 1 + ROUNDING):
        raise ValueError(f"{name} holds numbers that are not from 0 to 1")
