"""Moves of the partition against exact enumeration, for every prior and class of partitions: one file, two, three.

Rates, parameters and hyperparameters are held fixed; χ² of thinned draws, false-alarm rate 1e-5 for each test. Planted
errors must be caught at 1e-6.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import tielink as tl
from sampler.mutants import mutant
from sampler.partition_worlds import exact, exchange, fixed_chain, gibbs, off_list, p_value, partners, strangers, world
from tielink.run import chain as chains
from tielink.sampler.moves import labels as moves

FALSE_ALARM, CAUGHT = 1e-5, 1e-6

EP = tl.EwensPitman(max_size=3, concentration=0.6, discount=0.3)
CASES = {
    "two files, pairs": ((3, 3), tl.MatchRate(1, 2)),
    "three files, pairs": ((2, 2, 2), tl.Uniform()),
    "three files, rate of pairs": ((1, 3, 2), tl.MatchRate(2, 1)),
    "three files, one per file": ((2, 2, 2), tl.OnePerFile(1, 2)),
    "one file, Ewens–Pitman": ((5,), EP),
    "one file, negative binomial": ((5,), tl.NegativeBinomial(max_size=4, shape=1.5, probability=0.6)),
    "two files, duplicates": ((3, 2), tl.EwensPitman(max_size=5, concentration=1.0, discount=0.0)),
    "three files, duplicates": ((1, 2, 2), tl.NegativeBinomial(max_size=3, shape=2.0, probability=0.5)),
}
KNOWN = {
    "two files, pairs": {"anchors": [(("f0", 0), ("f1", 0))], "nonmatches": [(("f0", 1), ("f1", 2))]},
    "three files, one per file": {
        "anchors": [(("f0", 0), ("f1", 0)), (("f1", 1), ("f2", 0))],
        "nonmatches": [(("f0", 1), ("f2", 1))],
    },
    "one file, negative binomial": {
        "anchors": [(("f0", 0), ("f0", 1))],
        "nonmatches": [(("f0", 1), ("f0", 2))],
    },
}


def p_of(case, step, number=1_200, pairs=None, known=None):
    return p_value(fixed_chain(world(*CASES[case], **(known or {})), pairs), number, step)


@pytest.mark.parametrize("case", CASES)
def test_gibbs_draws_of_every_prior_and_class(case):
    assert p_of(case, gibbs) > FALSE_ALARM


def exchanges(chain):
    """Few draws that change how many are linked, many exchanges."""
    chains._gibbs(chain)
    exchange(chain, 12)


EXCHANGES = [case for case in CASES if "rate" not in case]


@pytest.mark.parametrize("case", EXCHANGES)
def test_exchanges(case):
    assert p_of(case, exchanges) > FALSE_ALARM


@pytest.mark.parametrize("step", [gibbs, exchanges])
@pytest.mark.parametrize("case", KNOWN)
def test_what_is_known_is_kept(case, step):
    assert p_of(case, step, known=KNOWN[case]) > FALSE_ALARM


def test_refused_exchanges_of_anchored_records_leave_everything_as_it_was():
    """Also where nobody has asked yet for the evidence of the anchored records by themselves."""
    job = world((4,), tl.EwensPitman(max_size=3, concentration=5.0), anchors=[(("f0", 1), ("f0", 3))])
    chain = fixed_chain(job)
    a, b, anchored = (chain.rules.unit_of[record] for record in (0, 2, 1))
    chain.data.lists.value[:] = 50.0  # so that every exchange is refused
    moves.put_in(chain.state, chain.data, chain.state.label[0], chain.state.label[2], 50.0)
    plan = np.array([[a, anchored], [b, anchored]])
    assert chain.run(chains.exchange_units, plan).tolist() == [2, 0]
    assert chain.person().tolist() == [0, 1, 0, 1]
    assert sorted(chain.state.size.tolist()) == [0, 0, 2, 2]


SHORT = {
    "two files, pairs": {"some": [(0, 3), (0, 4), (1, 3), (1, 4), (2, 5)], "one": [(1, 4)], "none": []},
    "three files, pairs": {"some": [(0, 3), (1, 2)], "none": []},
    "three files, one per file": {"some": [(0, 3), (1, 2)]},
    "one file, Ewens–Pitman": {"some": [(0, 3), (1, 2)]},
    "one file, pairs": {"some": [(0, 3), (1, 2)], "none": []},
}
CASES["one file, pairs"] = ((6,), tl.EwensPitman(max_size=2, concentration=0.6, discount=0.3))


def looking_off_the_list(chain, **options):
    chains._gibbs(chain)
    off_list(chain, **options)
    exchange(chain, 2)
    if chain.rules.largest > 2:  # with clusters of at most two, nothing else is needed to reach every partition
        strangers(chain)


@pytest.mark.parametrize(("case", "lists"), [(case, name) for case, lists in SHORT.items() for name in lists])
def test_the_list_does_not_change_what_is_sampled(case, lists):
    assert p_of(case, looking_off_the_list, 1_000, SHORT[case][lists]) > FALSE_ALARM


@pytest.mark.long
@pytest.mark.parametrize(("case", "lists"), [(case, name) for case, lists in SHORT.items() for name in lists])
def test_the_list_does_not_change_what_is_sampled_long(case, lists):
    p = p_of(case, looking_off_the_list, 20_000, SHORT[case][lists])
    print(f"partitions, {case}, list of {lists}: p = {p:.3f}")
    assert p > FALSE_ALARM


def changing_partners(chain, times=6, **options):
    chains._gibbs(chain)
    off_list(chain, times=30)
    partners(chain, times, **options)
    if chain.rules.largest > 2:
        strangers(chain)


@pytest.mark.parametrize(("case", "lists"), [(case, name) for case, lists in SHORT.items() for name in lists])
def test_links_off_the_list_change_partners(case, lists):
    chain = fixed_chain(world(*CASES[case]), SHORT[case][lists])
    proposed = chains._partners(chain)[0] + sum(_of_partners(chain) for _ in range(50))
    assert proposed > 0
    assert p_value(chain, 1_000, changing_partners) > FALSE_ALARM


def _of_partners(chain):
    off_list(chain)
    return chains._partners(chain)[0]


@pytest.mark.parametrize("case", ["three files, one per file", "one file, negative binomial"])
def test_moves_off_the_list_keep_what_is_known(case):
    assert p_of(case, looking_off_the_list, 1_000, [(0, 3), (1, 3)], KNOWN[case]) > FALSE_ALARM


def test_strangers_reach_every_partition():
    def wandering(chain):
        chains._gibbs(chain)
        strangers(chain, 40)

    assert p_of("one file, Ewens–Pitman", wandering, pairs=[(0, 1), (2, 3)]) > FALSE_ALARM


def test_what_the_table_holds_at_first_does_not_change_the_draws():
    asking, told = (fixed_chain(world((6,), tl.EwensPitman(max_size=4))) for _ in range(2))
    groups = told.groups
    for size in (3, 4):
        for group in combinations(range(6), size):
            groups.wanted[groups.missing[0]] = [*group, *[-1] * (4 - size)]
            groups.missing[0] += 1
    groups.supply()
    assert asking.groups.count < told.groups.count
    for _ in range(50):
        for chain in (asking, told):
            gibbs(chain)
            exchange(chain, 2)
        assert asking.person().tolist() == told.person().tolist()
    assert asking.rng.random() == told.rng.random()


# Planted errors.

OFF_LIST_ERRORS = {
    "links of listed pairs": (" or not off_list(data, a, b)", ""),
    "the number of pairs to part forgotten": (" - math.log(k + 1.0)", ""),
    "the number of pairs to link forgotten": ("log_possible - ", "-"),
    "the prior left out": (" + join_gain(state, rules, gains, own, other)", ""),
    "chosen among records that are alone now": (
        "np.append(np.flatnonzero(alone), state.member[state.label[linked[:k]], :2].ravel())",
        "np.flatnonzero(alone)",
    ),
}


@pytest.mark.parametrize("error", OFF_LIST_ERRORS)
def test_errors_off_the_list_are_caught(error, tmp_path):
    broken = mutant(tmp_path, "sampler/moves/offlist", error.replace(" ", "_"), OFF_LIST_ERRORS[error])
    lists = SHORT["two files, pairs"]["some"]
    chain = fixed_chain(world(*CASES["two files, pairs"]), lists)
    assert p_value(chain, 2_400, lambda chain: looking_off_the_list(chain, move=broken.move_off_list)) < CAUGHT


PARTNER_ERRORS = {
    "listed pairs": ("if not off_list(data, a, new)", "if False"),
    "the evidence of the old link forgotten": ("old = value + ", "old = "),
    "the evidence of the new link forgotten": ("ratio = evidence[p] + ", "ratio = "),
    "records that are not alike": ("_in_turn(number[free])", "_in_turn(0 * number[free])"),
}


@pytest.mark.parametrize("error", [None, *PARTNER_ERRORS])
def test_errors_of_changed_partners_are_caught(error, tmp_path):
    chain = fixed_chain(world((4, 4), tl.MatchRate(4, 2)), [(0, 4), (0, 5), (1, 5), (2, 6)])
    if error is None:
        assert p_value(chain, 2_000, changing_partners) > FALSE_ALARM
        return
    broken = mutant(tmp_path, "sampler/moves/partners", error.replace(" ", "_"), PARTNER_ERRORS[error])
    assert p_value(chain, 5_000, lambda chain: changing_partners(chain, 20, move=broken.change_partners)) < CAUGHT


def test_evidence_forgotten_off_the_list_is_caught():
    def forgetful(chain):
        looking_off_the_list(chain, evidence=lambda pairs: np.zeros(len(pairs)))

    assert p_of("one file, pairs", forgetful, pairs=[(0, 3), (1, 2)]) < CAUGHT


EXCHANGE_ERRORS = {
    "the old weight forgotten": ("< new - old:", "< new:"),
    "the prior and the evidence of the second forgotten": ("return weight + more, True", "return weight, True"),
}


# Where links are likely; a weight below 1 is as good as its ratio to another.
LIKELY = {
    "two files, pairs": ((3, 3), tl.MatchRate(20, 1)),
    "one file, duplicates": ((5,), tl.EwensPitman(max_size=3, concentration=0.02, discount=0.0)),
}


@pytest.mark.parametrize("case", LIKELY)
@pytest.mark.parametrize("error", [None, *EXCHANGE_ERRORS])
def test_errors_of_exchanges_are_caught(error, case, tmp_path, monkeypatch):
    chain = fixed_chain(world(*LIKELY[case]))
    if error is None:
        assert p_value(chain, step=exchanges) > FALSE_ALARM
        return
    broken = mutant(tmp_path, "sampler/moves/exchange", error.replace(" ", "_"), EXCHANGE_ERRORS[error])
    monkeypatch.setattr(chains, "exchange_units", broken.exchange_units)
    assert p_value(chain, step=exchanges) < CAUGHT


def test_a_wrong_prior_and_dropped_evidence_are_caught():
    chain = fixed_chain(world((5,), EP))
    chain.state.prior[1] = 0.6
    assert p_value(chain) < CAUGHT, "a wrong discount goes unnoticed"
    chain = fixed_chain(world((2, 2, 2), tl.OnePerFile(1, 2)))
    chain.rules.rate[:] = 1.0, 4.0
    assert p_value(chain) < CAUGHT, "a wrong match rate goes unnoticed"
    chain = fixed_chain(world((3, 3), tl.MatchRate(1, 2)))
    target = exact(chain)
    chain.rules.log_by_matches[:] = chain.rules.log_by_matches[0]
    assert p_value(chain, target=target) < CAUGHT, "a wrong number of matches goes unnoticed"
    chain = fixed_chain(world((5,), EP))
    gibbs(chain)
    triples = (chain.groups.table.key >= 0).sum(axis=1) == 3
    chain.groups.table.value[triples] = 0.0
    assert p_value(chain) < CAUGHT, "evidence of three records taken for none goes unnoticed"
