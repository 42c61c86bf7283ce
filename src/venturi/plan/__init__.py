"""Workload and settings to a plan in which nothing is left to decide; totals without any I/O."""
