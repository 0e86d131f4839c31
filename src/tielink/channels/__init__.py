"""How records come to say what they say: one compiled channel for each kind of field."""
