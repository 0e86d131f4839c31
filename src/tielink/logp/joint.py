"""The log joint of everything: the written truth that every fast kernel is held against."""

from __future__ import annotations

from collections.abc import Iterator

from tielink.channels.categorical import CategoricalChannel
from tielink.channels.channel import FiniteChannel
from tielink.logp.dependence import log_tree
from tielink.logp.linkage import log_hyperparameters, log_linkage
from tielink.logp.network import log_intercepts, log_positions, log_spread, log_ties
from tielink.logp.parameters import Parameters
from tielink.logp.profiles import log_careless, log_collapsed, log_distortion, log_uncollapsed
from tielink.logp.shared_ties import log_independent_ties, log_shared_ties
from tielink.model.problem import Problem, SharedTiesProblem
from tielink.specification import Beta

__all__ = ["log_joint", "log_joint_terms"]


def log_joint(problem: Problem, parameters: Parameters) -> float:
    """Return log p(ties, values, parameters), true values and distortions summed out unless given.

    They are always summed out of fields whose true values are no codes: any string may be true, seen or not.
    """
    return sum(value for _, value in log_joint_terms(problem, parameters))


def log_joint_terms(problem: Problem, parameters: Parameters) -> Iterator[tuple[str, float]]:
    """Yield every term of the log joint with its name."""
    yield "linkage", log_linkage(problem, parameters.labels, parameters.linkage)
    if len(parameters.linkage):
        yield "hyperparameters of the linkage prior", log_hyperparameters(problem, parameters.linkage)
    network = problem.network
    if isinstance(network, SharedTiesProblem):
        yield from _shared_ties_terms(problem, network, parameters)
    elif network is not None:
        for file in range(len(problem.sizes)):
            mine = problem.file_of == file
            positions = parameters.positions[parameters.labels[mine]]
            yield f"ties of file {file}", log_ties(network, file, positions, float(parameters.intercepts[file]))
        yield "positions", log_positions(network, parameters)
        yield "intercepts", log_intercepts(network, parameters)
        yield "spread", log_spread(network, parameters)
    dependent = {place for tree in problem.trees for place in tree.places}
    for index, field in enumerate(problem.fields):
        own = parameters.of_field(index)
        if index in dependent:
            continue  # see below; frequencies of a categorical field are then those of the files
        if parameters.true_values is None or not isinstance(field, FiniteChannel):
            rates = problem.record_rates(index, parameters.distortion, parameters.careless)
            yield f"values of {field.name}", log_collapsed(field, own, rates, parameters.labels)
        else:
            yield f"values of {field.name}", log_uncollapsed(problem, index, parameters)
        yield f"parameters of {field.name}", field.log_prior(own)
    if problem.trees:
        yield from _tree_terms(problem, parameters)
    for rate, value in zip(problem.rates, parameters.distortion, strict=True):
        yield f"distortion of {rate.name}", log_distortion(rate.prior, float(value))
    if problem.careless_share is not None:
        yield "careless records", log_careless(parameters.careless, parameters.careless_share)
        yield "share of careless records", log_distortion(problem.careless_share, parameters.careless_share)


def _tree_terms(problem: Problem, parameters: Parameters) -> Iterator[tuple[str, float]]:
    """Yield the terms of fields that depend on each other, true values and distortions summed out."""
    places = range(len(problem.fields))
    fields = [parameters.of_field(place) for place in places]
    rates = [problem.record_rates(place, parameters.distortion, parameters.careless) for place in places]
    for tree, number in zip(problem.trees, problem.tree_rates, strict=True):
        change = float(parameters.distortion[number])
        yield f"values of {', '.join(tree.names)}", log_tree(tree, fields, rates, change, parameters.labels)
        for place in tree.places:
            if not isinstance(problem.fields[place], CategoricalChannel):
                yield f"parameters of {problem.fields[place].name}", problem.fields[place].log_prior(fields[place])


def _shared_ties_terms(
    problem: Problem, network: SharedTiesProblem, parameters: Parameters
) -> Iterator[tuple[str, float]]:
    """Yield the terms of shared ties; their likelihood ratio is raised to the power."""
    theta = parameters.tie_rates
    if len(theta) != problem.records:
        raise ValueError(
            f"the log joint of shared ties needs θ of each of the {problem.records} records, and {len(theta)} are "
            "given: put them into Parameters.tie_rates."
        )
    yield "ties as if independent", log_independent_ties(network.ties, problem.sizes, theta)
    ratio = log_shared_ties(network.ties, problem.sizes, parameters.labels, theta, parameters.sharing)
    yield "shared ties", parameters.power * ratio
    if isinstance(network.sharing, Beta):
        yield "share of common ties", log_distortion(network.sharing, parameters.sharing)
