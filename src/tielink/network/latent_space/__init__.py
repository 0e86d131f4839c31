"""Positions of persons in a latent space, for partitions of any class."""
