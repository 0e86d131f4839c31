"""How good links and probabilities are, against a truth."""
