"""What the tests of the sampler share: exact answers, made worlds, and ways to run single moves."""
