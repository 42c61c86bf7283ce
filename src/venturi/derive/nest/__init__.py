"""Programs of loops and conditions that make exactly the calls of a capture."""
