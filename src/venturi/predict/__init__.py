"""How long a workload's I/O takes: from a machine's profile, without running it."""
