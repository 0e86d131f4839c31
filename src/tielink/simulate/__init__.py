"""Data drawn from a model: from its prior (`from_prior`), or at given sizes, overlap and density (`scenario`).

`tielink.simulate.people` makes files of people that no model of tielink is behind.
"""

from tielink.simulate.prior import Simulated, from_prior
from tielink.simulate.scenario import scenario
from tielink.simulate.write import write_project

__all__ = ["Simulated", "from_prior", "scenario", "write_project"]
