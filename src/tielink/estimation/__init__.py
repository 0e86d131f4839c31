"""From probabilities to links: point estimates that minimise an expected loss."""
