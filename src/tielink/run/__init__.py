"""Running chains: one process each, with progress, checkpoints and a clean stop."""
