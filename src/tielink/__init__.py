"""Bayesian record linkage and deduplication from profiles and ties between records.

>>> import polars as pl, tielink as tl
>>> left = pl.DataFrame({"id": [1, 2], "username": ["anna", "bob"]})
>>> right = pl.DataFrame({"id": [7, 8], "username": ["ann", "zoe"]})
>>> tl.Dataset.from_frames({"left": left, "right": right}, fields={"username": tl.String()})
Dataset(left: 2 records, no network; right: 2 records, no network; fields: username (string); anchors: 0)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tielink import baselines as baselines
    from tielink import plot as plot
    from tielink import review as review
    from tielink import simulate as simulate
    from tielink.data.dataset import Dataset as Dataset
    from tielink.data.linkage import Linkage as Linkage
    from tielink.estimation.estimate import estimate as estimate
    from tielink.estimation.estimate import one_to_one as one_to_one
    from tielink.estimation.losses import MPMMS as MPMMS
    from tielink.estimation.losses import Binder as Binder
    from tielink.estimation.losses import Sadinle as Sadinle
    from tielink.estimation.losses import SharedMPMMS as SharedMPMMS
    from tielink.evaluation.evaluate import evaluate as evaluate
    from tielink.explanation.explain import explain as explain
    from tielink.faults import Fault as Fault
    from tielink.faults import InputError as InputError
    from tielink.fields import Affixes as Affixes
    from tielink.fields import Categorical as Categorical
    from tielink.fields import Date as Date
    from tielink.fields import Number as Number
    from tielink.fields import PersonName as PersonName
    from tielink.fields import String as String
    from tielink.large.engines import DuckDB as DuckDB
    from tielink.large.engines import Spark as Spark
    from tielink.linking import link as link
    from tielink.model.careless import Careless as Careless
    from tielink.model.cluster_priors import EwensPitman as EwensPitman
    from tielink.model.cluster_priors import Gamma as Gamma
    from tielink.model.cluster_priors import LogNormal as LogNormal
    from tielink.model.cluster_priors import NegativeBinomial as NegativeBinomial
    from tielink.model.cluster_priors import OnePerFile as OnePerFile
    from tielink.model.dependence import Dependence as Dependence
    from tielink.model.linkage_priors import MatchRate as MatchRate
    from tielink.model.linkage_priors import Uniform as Uniform
    from tielink.model.network import Elicited as Elicited
    from tielink.model.network import InverseGamma as InverseGamma
    from tielink.model.network import LatentSpace as LatentSpace
    from tielink.model.network import SharedTies as SharedTies
    from tielink.model.problem import Problem as Problem
    from tielink.model.spec import Model as Model
    from tielink.posterior.posterior import Posterior as Posterior
    from tielink.project import Project as Project
    from tielink.project import Run as Run
    from tielink.report.result import Result as Result
    from tielink.run.again import update as update
    from tielink.run.sample import resume as resume
    from tielink.run.sample import sample as sample
    from tielink.select.compare import compare as compare
    from tielink.specification import Beta as Beta

_NAMES = {
    "data.dataset": "Dataset",
    "data.linkage": "Linkage",
    "estimation.estimate": "estimate one_to_one",
    "estimation.losses": "Binder MPMMS Sadinle SharedMPMMS",
    "evaluation.evaluate": "evaluate",
    "explanation.explain": "explain",
    "faults": "Fault InputError",
    "fields": "Affixes Categorical Date Number PersonName String",
    "large.engines": "DuckDB Spark",
    "linking": "link",
    "model.careless": "Careless",
    "model.cluster_priors": "EwensPitman Gamma LogNormal NegativeBinomial OnePerFile",
    "model.dependence": "Dependence",
    "model.linkage_priors": "MatchRate Uniform",
    "model.network": "Elicited InverseGamma LatentSpace SharedTies",
    "model.problem": "Problem",
    "model.spec": "Model",
    "posterior.posterior": "Posterior",
    "project": "Project Run",
    "report.result": "Result",
    "run.again": "update",
    "run.sample": "resume sample",
    "select.compare": "compare",
    "specification": "Beta",
}
"""The modules of public names, which are imported when first asked for, so that `tielink --help` is quick."""
_HOME = {name: f"tielink.{module}" for module, names in _NAMES.items() for name in names.split()}

_MODULES = ("baselines", "logp", "plot", "review", "simulate")

__all__ = ["__version__", *_HOME, *_MODULES]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"tielink.{name}")
    raise AttributeError(f"module 'tielink' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
