"""How long an application's I/O takes: its proxy on the same storage, in turn with it."""
