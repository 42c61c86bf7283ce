"""Layers of I/O in the words of people."""

from __future__ import annotations

LAYER_NAMES = {
    "posix": "POSIX",
    "stdio": "stdio",
    "mpiio": "MPI-IO",
    "hdf5_file": "HDF5 files",
    "hdf5_dataset": "HDF5 datasets",
    "pnetcdf_file": "PnetCDF files",
    "pnetcdf_variable": "PnetCDF variables",
}


def layers_text(layers: str) -> str:
    """Return layers, one behind the other by commas and of two sides by a slash, in words."""
    kinds = layers.split(", ")
    words = [[LAYER_NAMES.get(side, side) for side in kind.split("/")] for kind in kinds]
    return ", ".join(" of the application, of the proxy ".join(sides) for sides in words)
