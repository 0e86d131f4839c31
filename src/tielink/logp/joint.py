"""The log joint of everything: the written truth that every fast kernel is held against."""

from __future__ import annotations

from collections.abc import Iterator

from tielink.logp.linkage import log_hyperparameters, log_linkage
from tielink.logp.network import log_intercepts, log_positions, log_spread, log_ties
from tielink.logp.parameters import Parameters
from tielink.logp.profiles import log_collapsed, log_distortion, log_uncollapsed
from tielink.model.problem import Problem

__all__ = ["log_joint", "log_joint_terms"]


def log_joint(problem: Problem, parameters: Parameters) -> float:
    """Return log p(ties, values, parameters), true values and distortions summed out unless given."""
    return sum(value for _, value in log_joint_terms(problem, parameters))


def log_joint_terms(problem: Problem, parameters: Parameters) -> Iterator[tuple[str, float]]:
    """Yield every term of the log joint with its name."""
    yield "linkage", log_linkage(problem, parameters.labels, parameters.linkage)
    if len(parameters.linkage):
        yield "hyperparameters of the linkage prior", log_hyperparameters(problem, parameters.linkage)
    network = problem.network
    if network is not None:
        for file in range(len(problem.sizes)):
            positions = parameters.positions[parameters.labels[problem.file_of == file]]
            yield (
                f"ties of file {file}",
                log_ties(network, file, positions, float(parameters.intercepts[file])),
            )
        yield "positions", log_positions(network, parameters)
        yield "intercepts", log_intercepts(network, parameters)
        yield "spread", log_spread(network, parameters)
    for index, field in enumerate(problem.fields):
        own = parameters.of_field(index)
        if parameters.true_values is None:
            rates = problem.record_rates(index, parameters.distortion)
            yield f"values of {field.name}", log_collapsed(field, own, rates, parameters.labels)
        else:
            yield f"values of {field.name}", log_uncollapsed(problem, index, parameters)
        yield f"parameters of {field.name}", field.log_prior(own)
    for rate, value in zip(problem.rates, parameters.distortion, strict=True):
        yield f"distortion of {rate.name}", log_distortion(rate.prior, float(value))
