"""Health: suites of kernels, the node that they ran on, and the sessions before."""
