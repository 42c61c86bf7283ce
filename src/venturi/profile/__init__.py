"""A machine measured once: a design of points, run by the engine, refined where it bends."""
