"""Models of ties, as parts of a chain: what a change of links gains, their own moves, what they record."""
