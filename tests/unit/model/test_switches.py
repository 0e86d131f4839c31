"""Settings that are true, false or a specification: true is short for the defaults."""

from __future__ import annotations

import pytest

import tielink as tl
from tielink.faults import Faults


def test_true_is_short_for_the_defaults():
    assert tl.String(affixes=True) == tl.String(affixes=tl.Affixes(share=tl.Beta(1, 4)))
    assert tl.String(affixes=False) != tl.String(affixes=True)


@pytest.mark.parametrize("affixes", [True, False, tl.Affixes(share=tl.Beta(2, 3))])
def test_tables_and_back(affixes):
    model = tl.Model(fields={"username": tl.String(affixes=affixes)})
    assert tl.Model.from_table(model.to_table(), "model", Faults()) == model


@pytest.mark.parametrize(
    ("given", "meant"),
    [(True, True), (False, False), ({"share": {"a": 2.0, "b": 3.0}}, tl.Affixes(share=tl.Beta(2, 3)))],
)
def test_a_project_file_may_say_true_or_false(given, meant):
    faults = Faults()
    table = {"fields": {"username": {"kind": "string", "affixes": given}}}
    model = tl.Model.from_table(table, "model", faults)
    faults.raise_errors()
    assert model.fields["username"] == tl.String(affixes=meant)


@pytest.mark.parametrize("wrong", [1, "yes", None])
def test_anything_else_is_refused(wrong):
    with pytest.raises(tl.InputError, match=rf"affixes is {wrong!r}\. Give true, false or Affixes"):
        tl.String(affixes=wrong)
