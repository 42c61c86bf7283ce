"""From operations to a workload: each stage a file, each a pure function."""
