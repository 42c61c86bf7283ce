"""IO500: what its files say, its formula, its hashes, and lists of its results."""
