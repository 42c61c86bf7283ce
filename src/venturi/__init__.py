"""Venturi measures, models and predicts the I/O of high-performance computing."""

__version__ = "0.1.0"
