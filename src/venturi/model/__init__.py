"""The documents that the stages exchange, their units and their errors."""
