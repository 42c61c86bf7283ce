"""Readers: what others captured becomes a trace."""
