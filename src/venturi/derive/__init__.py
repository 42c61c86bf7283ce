"""From a trace to a compact proxy workload, with its confidence and its findings."""
