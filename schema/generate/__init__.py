"""Writes all that is generated from the models: run `python schema/generate`."""
