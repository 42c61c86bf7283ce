"""Events to records; the results archive, a folder of immutable folders."""
