"""Watching storage for months: workers, what is kept of them, and what users feel."""
