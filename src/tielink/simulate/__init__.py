"""Data drawn from a model: from its prior (`from_prior`), or at given sizes, overlap and density (`scenario`).

`shared_ties` draws files of people whose networks share a part of their ties, of any size; `write_large` writes them as
Parquet, by the million.
`tielink.simulate.people` makes files of people that no model of tielink is behind.
"""

from tielink.simulate.large import write_large
from tielink.simulate.prior import Simulated, from_prior
from tielink.simulate.scenario import scenario
from tielink.simulate.shared_ties import shared_ties
from tielink.simulate.write import write_project

__all__ = ["Simulated", "from_prior", "scenario", "shared_ties", "write_large", "write_project"]
