"""Results that others made, taken into a store with a word on where they come from."""
