"""The log joint of everything: the written truth that every fast kernel is held against."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tielink.channels.channel import FiniteChannel
from tielink.logp.correlation import log_correlated_ties, log_correlation
from tielink.logp.linkage import log_activity, log_hyperparameters, log_linkage
from tielink.logp.network import log_intercepts, log_positions, log_sociality, log_spread, log_ties
from tielink.logp.parameters import Parameters
from tielink.logp.profiles import log_careless, log_collapsed, log_distortion, log_uncollapsed
from tielink.model.problem import Problem

__all__ = ["log_joint", "log_joint_terms"]


def log_joint(problem: Problem, parameters: Parameters) -> float:
    """Return log p(ties, values, parameters), true values and distortions summed out unless given.

    They are always summed out of fields whose true values are no codes: any string may be true, seen or not.
    """
    return sum(value for _, value in log_joint_terms(problem, parameters))


def log_joint_terms(problem: Problem, parameters: Parameters) -> Iterator[tuple[str, float]]:
    """Yield every term of the log joint with its name."""
    yield "linkage", log_linkage(problem, parameters.labels, parameters.linkage, parameters.activity)
    if len(parameters.linkage):
        yield "hyperparameters of the linkage prior", log_hyperparameters(problem, parameters.linkage)
    if problem.linkage.activity is not None:
        yield "activity", log_activity(problem.linkage.activity, parameters.activity)
    network = problem.network
    if network is not None:
        for file in range(len(problem.sizes)):
            mine = problem.file_of == file
            positions = parameters.positions[parameters.labels[mine]]
            sociality = None if parameters.sociality is None else parameters.sociality[mine]
            yield (
                f"ties of file {file}",
                log_ties(network, file, positions, float(parameters.intercepts[file]), sociality),
            )
        yield "positions", log_positions(network, parameters)
        yield "intercepts", log_intercepts(network, parameters)
        yield "spread", log_spread(network, parameters)
        if network.correlation_sd is not None:
            yield "correlated ties", log_correlated_ties(problem, parameters)
            yield "correlation", log_correlation(network.correlation_sd, parameters.correlation)
        if parameters.sociality is not None:
            has_network = np.array([ties is not None for ties in network.ties])
            seen = parameters.sociality[has_network[problem.file_of]]
            yield "sociality", log_sociality(network, seen, parameters.sociality_sd)
    for index, field in enumerate(problem.fields):
        own = parameters.of_field(index)
        if parameters.true_values is None or not isinstance(field, FiniteChannel):
            rates = problem.record_rates(index, parameters.distortion, parameters.careless)
            yield f"values of {field.name}", log_collapsed(field, own, rates, parameters.labels)
        else:
            yield f"values of {field.name}", log_uncollapsed(problem, index, parameters)
        yield f"parameters of {field.name}", field.log_prior(own)
    for rate, value in zip(problem.rates, parameters.distortion, strict=True):
        yield f"distortion of {rate.name}", log_distortion(rate.prior, float(value))
    if problem.careless_share is not None:
        yield "careless records", log_careless(parameters.careless, parameters.careless_share)
        yield "share of careless records", log_distortion(problem.careless_share, parameters.careless_share)
