"""Pictures of data, links and draws, as matplotlib axes to style further.

>>> import tielink as tl
>>> sorted(name for name in dir(tl.plot) if not name.startswith("_"))
['bipartite', 'calibration', 'networks', 'pairs', 'positions', 'trace', 'waic']

Colours can be told apart by colour-blind readers, and text and lines are greys that read on light and on dark pages.
matplotlib is imported when a picture is drawn; `pip install 'tielink[plot]'` installs it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tielink.plot.calibration_curve import calibration as calibration
    from tielink.plot.chains import trace as trace
    from tielink.plot.chains import waic as waic
    from tielink.plot.links import bipartite as bipartite
    from tielink.plot.links import pairs as pairs
    from tielink.plot.network_maps import networks as networks
    from tielink.plot.network_maps import positions as positions

_HOME = {
    "bipartite": "links",
    "calibration": "calibration_curve",
    "networks": "network_maps",
    "pairs": "links",
    "positions": "network_maps",
    "trace": "chains",
    "waic": "chains",
}

__all__ = ["bipartite", "calibration", "networks", "pairs", "positions", "trace", "waic"]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(importlib.import_module(f"tielink.plot.{_HOME[name]}"), name)
    raise AttributeError(f"module 'tielink.plot' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
