"""Specifications of models, and `Problem`, a model compiled for a data set."""
