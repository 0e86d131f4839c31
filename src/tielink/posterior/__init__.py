"""Draws of a run and what they say: pair probabilities, the number of persons, convergence, predictive checks."""
