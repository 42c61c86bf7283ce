"""Running an application while its I/O is recorded, and making one trace of what was recorded."""
