"""Negative controls: the statistical tests must reject kernels with one planted error each (at p < 1e-6)."""

import numpy as np
import pytest

from sampler.moves import LIMIT, on_all, on_records, run
from sampler.mutants import mutant
from sampler.one_by_one import CAUGHT, python_chain, with_walk
from sampler.quadrature import ALPHA, CASES, chain, compare, world
from tielink.exact import merge, paper, positions


def sharp_world():
    """Ties to the fourth power: sharp positions, so that errors in nearness show."""
    return world("rate", temperature=4.0)


def with_paper(module):
    def apply(rng, state, target, tuning, side, record):
        cache = paper.init_cache(state, target)
        module.label(rng, state, target, cache, side, record)
        paper.walk_positions(rng, state, target, tuning, cache)

    return apply


def test_paper_against_quadrature():
    target = world("rate")
    p, distance = compare(target, python_chain(target, with_paper(paper), 30_000))
    assert p > ALPHA, (p, distance)


@pytest.mark.long
@pytest.mark.parametrize("link", [0, 1])
@pytest.mark.parametrize("prior", ["uniform", "rate"])
def test_paper_against_quadrature_long(prior, link):
    target = world(prior, link=link, seed=11)
    target.log_bf[0, 1] = -np.inf
    p, distance = compare(target, python_chain(target, with_paper(paper), 200_000))
    print(f"paper, {prior}, link {link}: p = {p:.3f}, total variation {distance:.4f}")
    assert p > ALPHA, (p, distance)


@pytest.mark.long
def test_sharp_world_without_a_plant():
    """The control of the controls: the world the planted errors are tried in passes with the true kernels."""
    from tielink.exact import gibbs, switch

    target = sharp_world()
    for kernel, options in (
        (with_walk(merge.merge_or_split), {}),
        (with_walk(gibbs.restricted_gibbs), {"candidates": 1}),
        (with_walk(switch.switch, paired_only=True), {"matched": 2}),
        (with_paper(paper), {}),
    ):
        p, distance = compare(target, python_chain(target, kernel, 150_000, **options), options.get("matched"))
        print(f"true kernel: p = {p:.3f}, total variation {distance:.4f}")
        assert p > ALPHA, (p, distance)


def test_match_count_off_by_one():
    """The chain reads log_prior one place too far; the exact answer does not."""
    target = world("rate")
    shifted = target._replace(log_prior=np.append(target.log_prior[1:], target.log_prior[-1]))
    p, _ = compare(target, chain(shifted, CASES["all"][0], 20_000))
    assert p < CAUGHT


# name: module, changes, how to run, options
# The split must weigh the reverse choice with b where it was newly put. In 3 + 3 records nearness hardly matters, so
# this one is tried on replicates of larger files.
OLD_POSITION = (
    "merge",
    [
        ("    place(state, 1 - side, other, u_there)\n    log_choice", "    log_choice"),
        (
            "    place(state, side, record, u_here)\n",
            "    place(state, side, record, u_here)\n    place(state, 1 - side, other, u_there)\n",
        ),
    ],
)

PLANTS = {
    "partner choice dropped": (
        "merge",
        [(" + math.log(0.5) - log_choice[other]", ""), ("    log_ratio += log_choice[other] - math.log(0.5)\n", "")],
        lambda module: with_walk(module.merge_or_split),
        {},
    ),
    "half forgotten": (
        "merge",
        [(" + math.log(0.5) - log", " - log"), ("[other] - math.log(0.5)", "[other]")],
        lambda module: with_walk(module.merge_or_split),
        {},
    ),
    "prior twice in gibbs": (
        "gibbs",
        [
            (
                "        log_weights[i] += record_log",
                "        log_weights[i] += log_prior_density(u, spread) + record_log",
            ),
            ("    NOBODY,", "    NOBODY,\n    log_prior_density,"),
        ],
        lambda module: with_walk(module.restricted_gibbs),
        {},
    ),
    "old partner forced in": (
        "gibbs",
        [
            (
                "        if not found:",
                "        if not found:\n            candidates[count - 1] = old\n        if False:",
            )
        ],
        lambda module: with_walk(module.restricted_gibbs),
        {"candidates": 1},
    ),
    "prior twice in the paper's ratio": (
        "paper",
        [
            (
                "        log_ratio += value - (cache.row_a, cache.row_b)[side][record]\n",
                (
                    "        log_ratio += value - (cache.row_a, cache.row_b)[side][record]\n"
                    "        log_ratio += log_prior_density(u, state.spread[0])\n"
                    "        log_ratio -= log_prior_density(position_of(state, side, record), state.spread[0])\n"
                ),
            )
        ],
        with_paper,
        {},
    ),
    "cross dyad forgotten in switch": (
        "switch",
        [
            ("    log_ratio += dyad_between", "    0.0 * dyad_between"),
            ("    log_ratio -= dyad_between", "    0.0 * dyad_between"),
        ],
        lambda module: with_walk(module.switch, paired_only=True),
        {"matched": 2},
    ),
}
SHARP = ("old partner forced in", "cross dyad forgotten in switch")
QUICK = ("partner choice dropped", "prior twice in the paper's ratio")


def check_plant(name, folder, number):
    module, changes, how, options = PLANTS[name]
    target = sharp_world() if name in SHARP else world("rate", scale=1.5)
    apply = how(mutant(folder, module, "_".join(filter(str.isalpha, name.split())), *changes))
    return compare(target, python_chain(target, apply, number, **options), options.get("matched"))


@pytest.mark.parametrize("name", QUICK)
def test_planted_errors_are_caught(name, tmp_path):
    p, distance = check_plant(name, tmp_path, 30_000)
    assert p < CAUGHT, (p, distance)


@pytest.mark.parametrize("broken", [True, False])
def test_old_position_in_split_is_caught(broken, tmp_path):
    module, changes = OLD_POSITION
    kernel = (mutant(tmp_path, module, "old_position", *changes) if broken else merge).merge_or_split
    z = run(on_records(kernel), 4000, 25, n1=10, n2=12, anchors=2, spread_scale=60.0)
    print(f"old position in split {broken}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > 6.0 if broken else np.abs(z).max() < LIMIT


@pytest.mark.long
@pytest.mark.parametrize("name", PLANTS)
def test_planted_errors_are_caught_long(name, tmp_path):
    p, distance = check_plant(name, tmp_path, 150_000)
    print(f"{name}: p = {p:.1e}, total variation {distance:.3f}")
    assert p < CAUGHT, (p, distance)


REPLICATE_PLANTS = {
    "scale without its Jacobian": (
        "scale",
        [("    log_ratio = 2.0 * log_c\n", "    log_ratio = 0.0\n")],
        lambda m: on_all(m.scale),
    ),
    "spread counts records": (
        "spread",
        [
            ("            count += 1\n", ""),
            ("count = state.partner_a.size", "count = state.partner_a.size + state.partner_b.size"),
        ],
        lambda m: on_all(lambda rng, state, target, tuning: m.draw_spread(rng, state, target)),
    ),
    "partner choice dropped": (*PLANTS["partner choice dropped"][:2], lambda m: on_records(m.merge_or_split)),
    "proposal density dropped in jump": (
        "evidence",
        [(" - log_density(u, proposal, spread)", "")],
        None,
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", REPLICATE_PLANTS)
def test_replicates_catch_planted_errors_long(name, tmp_path):
    module, changes, how = REPLICATE_PLANTS[name]
    broken = mutant(tmp_path, module, "replicate", *changes)
    if how is None:

        def apply(rng, state, target, length, tuning):
            from tielink.exact.fit import fit
            from tielink.exact.state import NOBODY, place_person, position_of_person

            for _ in range(length):
                for n in positions.persons(state):
                    members = (n[0], n[1])
                    u = position_of_person(state, members)
                    proposal = fit(members, NOBODY, state, target)
                    _, chosen = broken.evidence(rng, proposal, members, NOBODY, u, 3, state, target)
                    place_person(state, members, chosen)

    else:
        apply = how(broken)
    z = run(apply, 4000, 5)
    print(f"{name}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > 6.0, z
