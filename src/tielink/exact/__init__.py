"""The exact sampler of two files: state, one file for each move, sweeps, starts and adaptation.

Kernels are compiled by numba and cached on disk. They see arrays only (`Target`), take the random generator first,
change only the `state` they are given, and return what they did.
"""
