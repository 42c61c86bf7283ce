"""The calls behind the verbs of a workload, as they stand in an application's code."""

from __future__ import annotations

from venturi.model.plan import Interface, SyncMode
from venturi.model.workload import FileSpec

_CALLS = {
    Interface.POSIX: ("write()", "read()"),
    Interface.URING: ("io_uring_prep_write()", "io_uring_prep_read()"),
    Interface.STDIO: ("fwrite()", "fread()"),
    Interface.MMAP: ("memcpy() into the mapping", "memcpy() from the mapping"),
    Interface.MPIIO: ("MPI_File_write_at()", "MPI_File_read_at()"),
    Interface.HDF5: ("H5Dwrite()", "H5Dread()"),
    Interface.PNETCDF: ("ncmpi_put_vara()", "ncmpi_get_vara()"),
    Interface.NETCDF: ("nc_put_vara()", "nc_get_vara()"),
}
_LINE_BYTES = 1024
"""Larger requests are no lines of text."""

_FLUSH = "fflush() (std::endl in C++, FLUSH in Fortran, flush() in Python)"


def call(spec: FileSpec, is_write: bool) -> str:
    """The call that moves the data of a file, such as `write()`."""
    write, read = _CALLS.get(spec.interface, ("write", "read"))
    return write if is_write else read


def sync_call(spec: FileSpec, mode: SyncMode) -> str:
    """The call that makes the data of a file persistent."""
    calls = {
        Interface.STDIO: _FLUSH if mode is SyncMode.FLUSH else f"fflush() and {mode.value}()",
        Interface.MMAP: "msync()",
        Interface.MPIIO: "MPI_File_sync()",
        Interface.HDF5: "H5Fflush() (h5py: flush())",
        Interface.PNETCDF: "ncmpi_sync()",
        Interface.NETCDF: "nc_sync() (netCDF4: sync())",
    }
    return calls.get(spec.interface, f"{mode.value}() (Python: os.{mode.value}())")


def by_hand(spec: FileSpec, is_write: bool, request_bytes: int) -> str:
    """What makes so small requests of this interface in other languages; may be empty."""
    if spec.interface in (Interface.HDF5, Interface.NETCDF):
        return " (in Python: larger slices)"
    is_line = is_write and request_bytes <= _LINE_BYTES
    if is_line and spec.interface in (Interface.POSIX, Interface.STDIO):
        return "; where each line is flushed (std::endl, FLUSH, flush=True), leave that out"
    return ""
