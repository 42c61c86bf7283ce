"""Changes to a workload, each measured beside the workload as it is, ranked by what they gain."""
