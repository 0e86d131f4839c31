"""One sampler for any number of files: a partition of records into persons, and moves that redraw it."""
