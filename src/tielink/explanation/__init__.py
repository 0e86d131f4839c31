"""Why two records are, or are not, said to be one person."""
