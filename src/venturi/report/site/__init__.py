"""Pages of the results site, from its documents."""
