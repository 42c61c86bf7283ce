"""How long an application's I/O takes: its proxy in turn with it, or a machine's profile."""
