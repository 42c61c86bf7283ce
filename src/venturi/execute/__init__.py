"""A plan to a running job and its events: the engine, launchers, the target and its host."""
