"""Numbers printed in the paper (Sosa and Rodríguez), to stand beside ours."""

from __future__ import annotations

__all__ = ["CRITERIA", "EGO_STATISTICS", "IDENTITY", "IDENTITY_STATISTICS", "MATCHES"]

EGO_STATISTICS = {
    "density": {"a": (0.21, 0.15, 0.18, 0.27), "b": (0.17, 0.11, 0.13, 0.21)},
    "clustering": {"a": (0.30, 0.14, 0.29, 0.40), "b": (0.43, 0.36, 0.40, 0.52)},
    "assortativity": {"a": (-0.53, -0.63, -0.52, -0.45), "b": (-0.29, -0.42, -0.24, -0.21)},
}
"""Table 1: mean and quartiles over the 17 ego networks of Facebook (a) and Twitter (b)."""
IDENTITY_STATISTICS = {
    "density": {"a": "0.0162", "b": "0.0122"},
    "clustering": {"a": "0.007", "b": "0.0366"},
    "assortativity": {"a": "-0.2405", "b": "-0.1728"},
}
"""Table 2, as printed: YouTube (a) and Twitter (b)."""
MATCHES = 152
"""Matches of the 17 ego pairs, one pair counted twice."""
CRITERIA = {
    "dic": {2: 12805.9, 3: 12473.5, 4: 12415.5, 5: 12960.9, 6: 13911.2, 7: 14067.66, 8: 14172.0},
    "waic": {2: 13784.2, 3: 13168.5, 4: 13113.7, 5: 13322.1, 6: 13945.6, 7: 14080.24, 8: 14177.4},
}
"""Table 3: information criteria by the dimension K, YouTube and Twitter."""
IDENTITY = {
    "profiles": {"recall": 0.26, "precision": 0.62, "f1": 0.37, "mean_n": 599.67, "sd_n": 7.94},
    "both": {"recall": 0.52, "precision": 0.71, "f1": 0.60, "mean_n": 592.06, "sd_n": 5.74},
}
"""Table 4: the profile model (PM) and the profile and network model (PNM)."""
