"""The sampler for clusters of any size: one file, several files, duplicates inside them.

Two files under a prior on pairs keep the specialised moves of the package above.
"""
