"""Statistics, metrics, verdicts and comparisons: numbers from phases, without any I/O."""
