"""The host that a run is started on: what a reader of its results needs to know."""

from __future__ import annotations

import getpass
import os
import platform
from pathlib import Path

_VARIABLE_PREFIXES = ("OMPI_", "MPICH_", "ROMIO_", "HDF5_", "PNETCDF_", "LUSTRE_", "UCX_", "FI_")


def cpu_name() -> str:
    """The processor's name, by the kernel."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def user_name() -> str:
    """The name of the user; empty where a number is all there is, as in many containers."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def memory_bytes() -> int:
    """Physical memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def system_name() -> str:
    """The distribution, by its own words."""
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()


def io_variables() -> dict[str, str]:
    """Environment variables that steer MPI and I/O libraries."""
    return {k: v for k, v in sorted(os.environ.items()) if k.startswith(_VARIABLE_PREFIXES)}
