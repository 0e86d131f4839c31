"""Every public name is on the page of the API, and what that page lists exists."""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

import tielink as tl

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
MODULES = ("baselines", "logp", "plot", "review", "simulate")


def listed() -> list[object]:
    """The objects that docs/api.md lists, by their address."""
    found = []
    for address in re.findall(r"^::: (\S+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        module, name = address.rsplit(".", 1)
        found.append(getattr(importlib.import_module(module), name))
    return found


def test_modules_are_all_that_are_public():
    assert {name for name in tl.__all__ if inspect.ismodule(getattr(tl, name))} == set(MODULES)


@pytest.mark.parametrize("module", ["", *MODULES])
def test_the_page_of_the_api_lists_every_public_name(module):
    owner = getattr(tl, module) if module else tl
    names = [name for name in owner.__all__ if name not in ("__version__", *MODULES)]
    known = listed()
    missing = [name for name in names if not any(getattr(owner, name) is thing for thing in known)]
    assert not missing, f"docs/api.md does not list {missing}"


def test_nothing_is_listed_twice():
    known = [id(thing) for thing in listed()]
    assert len(known) == len(set(known))


def test_every_setting_of_a_run_can_be_given_to_link():
    assert {setting.name for setting in fields(tl.Run)} <= set(inspect.signature(tl.link).parameters)


def test_link_refuses_settings_that_do_not_exist():
    with pytest.raises(TypeError, match="chians"):
        tl.link("project.toml", chians=2)  # type: ignore[call-arg]
