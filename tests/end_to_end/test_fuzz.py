"""A short form of `make fuzz`."""

from __future__ import annotations

from fuzz import fuzz


def test_mutated_inputs_are_used_or_refused_with_a_clear_word():
    found = fuzz(seed=20, inputs=100, seconds=60.0)
    assert not found.tracebacks, found.tracebacks[0]
    assert not found.hangs, found.hangs
    assert set(found.codes) <= {0, 2}
    assert found.inputs >= 60
    assert len(found.by_command) == 8, "every command but demo"
