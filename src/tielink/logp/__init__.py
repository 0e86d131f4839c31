"""The log joint of the model in plain NumPy, readable beside the paper."""

from tielink.logp.joint import log_joint, log_joint_terms
from tielink.logp.parameters import Parameters

__all__ = ["Parameters", "log_joint", "log_joint_terms"]
