"""Moves of the partition, one a file."""
