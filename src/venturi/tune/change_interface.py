"""Another interface: the same requests through other calls, or the same data in another format."""

from __future__ import annotations

from venturi.model.plan import Interface
from venturi.model.tuning import Meaning
from venturi.model.workload import FileSpec, PatternKind
from venturi.tune.change import TuningChange, Variant, one_of
from venturi.tune.evaluation_context import DoesNotApply, EvaluationContext, uses_of
from venturi.tune.rewrite import with_files

_PLAIN = {
    Interface.POSIX: "pwrite() and pread()",
    Interface.URING: "io_uring (io_uring_prep_write(), io_uring_submit())",
    Interface.STDIO: "fwrite() and fread()",
    Interface.MMAP: "mmap() and stores into memory",
}
_LIBRARIES = {
    Interface.MPIIO: "MPI-IO (MPI_File_write_at() and MPI_File_read_at())",
    Interface.HDF5: "HDF5 (H5Dwrite() and H5Dread())",
    Interface.PNETCDF: "PnetCDF (ncmpi_put_vara() and ncmpi_get_vara())",
    Interface.NETCDF: "netCDF (nc_put_vara() and nc_get_vara())",
}
_CALLS = _PLAIN | _LIBRARIES
_FORMATS = (Interface.HDF5, Interface.PNETCDF, Interface.NETCDF)
"""Libraries whose files say what is in them."""
_NEED_MPI = (Interface.MPIIO, Interface.PNETCDF)


def _values(context: EvaluationContext) -> list[str]:
    """Not the libraries: another format is more than a change of calls, so it must be asked for."""
    return [word.value for word in _PLAIN if word in context.interfaces]


def _make(context: EvaluationContext, value: str) -> Variant:
    wanted = Interface(one_of(value, "interface", [word.value for word in _CALLS]))
    if wanted in _NEED_MPI and not context.has_mpi:
        raise DoesNotApply("the ranks run without MPI (--on openmpi or mpich has it)")
    used = {use.name for use in uses_of(context.workload)}
    if wanted is Interface.MMAP:
        uses = list(uses_of(context.workload))
        used -= {use.name for use in uses if use.step.pattern is PatternKind.APPEND}
    touched: list[str] = []

    def reach(name: str, spec: FileSpec) -> FileSpec | None:
        if name not in used or not _may_become(spec, wanted):
            return None
        touched.append(name)
        hints = spec.hints if wanted in _LIBRARIES else {}
        return spec.model_copy(update={"interface": wanted, "options": {}, "hints": hints})

    workload = with_files(context.workload, reach)
    if not touched:
        raise DoesNotApply(f"no file that could be is reached otherwise than by {value}")
    now = context.workload.files[touched[0]].interface
    return Variant(
        workload,
        f"through {value}",
        f"Use {_CALLS[wanted]} for {context.listed(touched)} instead of {_CALLS[now]}.",
        Meaning(assumes=_assumed(now, wanted)),
    )


def _may_become(spec: FileSpec, wanted: Interface) -> bool:
    """Whether the data of a file can be moved by the interface, as far as its kind goes."""
    now = spec.interface
    if now is wanted:
        return False
    if now in _PLAIN:
        return wanted in _PLAIN
    if now is Interface.MPIIO:
        return wanted is Interface.POSIX
    return now in _FORMATS and wanted in (*_FORMATS, Interface.MPIIO)


def _assumed(now: Interface, wanted: Interface) -> str:
    if wanted is Interface.STDIO:
        return "data wait in the stream's buffer until it is full, synced or closed"
    if now not in _FORMATS:
        return ""
    if wanted in _FORMATS:
        return "who reads the files knows that format"
    return "the files are bare data: who reads them knows without a library what lies where"


CHANGE = TuningChange("interface", "posix, uring, stdio, mmap or a library's name", _values, _make)
