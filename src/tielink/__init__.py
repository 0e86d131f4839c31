"""Tell which records in different files are the same person, from profiles and ties, with honest probabilities.

>>> import tielink as tl
>>> data = tl.Dataset.from_frames(
...     records={"left": [{"id": 1}], "right": [{"id": 2}]},
... )
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tielink import simulate as simulate
    from tielink.data.dataset import Dataset as Dataset
    from tielink.data.linkage import Linkage as Linkage
    from tielink.faults import Fault as Fault
    from tielink.faults import InputError as InputError
    from tielink.fields import Categorical as Categorical
    from tielink.fields import String as String
    from tielink.model.linkage_priors import MatchRate as MatchRate
    from tielink.model.linkage_priors import Uniform as Uniform
    from tielink.model.network import Elicited as Elicited
    from tielink.model.network import InverseGamma as InverseGamma
    from tielink.model.network import LatentSpace as LatentSpace
    from tielink.model.problem import Problem as Problem
    from tielink.model.spec import Model as Model
    from tielink.project import Project as Project
    from tielink.project import Run as Run
    from tielink.specification import Beta as Beta

_HOME = {
    "Beta": "tielink.specification",
    "Categorical": "tielink.fields",
    "Dataset": "tielink.data.dataset",
    "Elicited": "tielink.model.network",
    "Fault": "tielink.faults",
    "InputError": "tielink.faults",
    "InverseGamma": "tielink.model.network",
    "LatentSpace": "tielink.model.network",
    "Linkage": "tielink.data.linkage",
    "MatchRate": "tielink.model.linkage_priors",
    "Model": "tielink.model.spec",
    "Problem": "tielink.model.problem",
    "Project": "tielink.project",
    "Run": "tielink.project",
    "String": "tielink.fields",
    "Uniform": "tielink.model.linkage_priors",
}
"""Where each public name lives; it is imported when first asked for, so that `tielink --help` is quick."""

_MODULES = ("logp", "simulate")

__all__ = ["__version__", *_HOME, *_MODULES]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"tielink.{name}")
    raise AttributeError(f"module 'tielink' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
