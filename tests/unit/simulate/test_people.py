"""Made people: as many as asked for, matches that agree more than not, the same for the same seed."""

from __future__ import annotations

import numpy as np

from tielink.simulate.people import FIELDS, people


def test_sizes_overlap_and_seed():
    made = people(np.random.default_rng(2), (80, 60), overlap=40)
    assert [len(frame) for frame in made.frames.values()] == [80, 60]
    assert len(made.matches) == len({a for a, _ in made.matches}) == len({b for _, b in made.matches}) == 40
    again = people(np.random.default_rng(2), (80, 60), overlap=40)
    assert again.matches == made.matches
    assert all(again.frames[name].equals(frame) for name, frame in made.frames.items())


def test_matches_agree_and_others_do_not():
    made = people(np.random.default_rng(3), (300, 300), overlap=300)
    first, second = ({row["id"]: row for row in frame.to_dicts()} for frame in made.frames.values())

    def agreement(pairs):
        return np.mean([[first[a][field] == second[b][field] for field in FIELDS] for a, b in pairs], axis=0)

    matched = agreement(made.matches)
    shifted = agreement([(a, made.matches[place - 1][1]) for place, (a, _) in enumerate(made.matches)])
    assert (matched > 0.6).all()
    assert (matched < 0.99).all(), "there must be errors and gaps in every field"
    assert (shifted < 0.3).all()
    gaps = np.mean([[value is None for value in row.values()] for row in second.values()])
    assert 0.02 < gaps < 0.1
