"""PnetCDF programs: calls on variables, with their shapes and where in them data lies."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from capture.conftest import Capture
from venturi.model.operation import COLLECTIVE, NON_BLOCKING, OPENED_TOGETHER, Kind
from venturi.model.trace import Layer

PROGRAM = """
#include <mpi.h>
#include <pnetcdf.h>
#define DO(call) if ((call) != NC_NOERR) MPI_Abort(MPI_COMM_WORLD, __LINE__)
int main(int argc, char** argv) {
  int rank, file, dims[2], value, mark, request, state;
  float data[50] = {0}, *parts = data;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  DO(ncmpi_create(MPI_COMM_WORLD, "ufs:x.nc", NC_CLOBBER, MPI_INFO_NULL, &file));
  DO(ncmpi_def_dim(file, "time", 3, &dims[0]));
  DO(ncmpi_def_dim(file, "x", 100, &dims[1]));
  DO(ncmpi_def_var(file, "value", NC_FLOAT, 2, dims, &value));
  DO(ncmpi_def_var(file, "mark", NC_DOUBLE, 0, dims, &mark));
  DO(ncmpi_enddef(file));
  MPI_Offset start[2] = {0, 50 * rank}, count[2] = {1, 50};
  DO(ncmpi_put_vara_float_all(file, value, start, count, data));
  start[0] = 1;
  DO(ncmpi_put_vara_all(file, value, start, count, data, 50, MPI_FLOAT));
  start[0] = 2;
  DO(ncmpi_iput_vara_float(file, value, start, count, data, &request));
  DO(ncmpi_wait_all(file, 1, &request, &state));
  MPI_Offset first[2] = {0, 0}, second[2] = {2, 90}, size[2] = {1, 5};
  MPI_Offset *starts[2] = {first, second}, *counts[2] = {size, size};
  DO(ncmpi_get_varn_float_all(file, value, 2, starts, counts, parts));
  DO(ncmpi_begin_indep_data(file));
  double one = 1;
  if (rank == 0) DO(ncmpi_put_var_double(file, mark, &one));
  DO(ncmpi_end_indep_data(file));
  DO(ncmpi_close(file));
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.needs("openmpi")
def test_variables_have_shapes(capture: Capture, tmp_path: Path) -> None:
    source, program = tmp_path / "variables.c", tmp_path / "variables"
    source.write_text(PROGRAM)
    line = ["mpicc.openmpi", "-o", str(program), str(source), "-lpnetcdf"]
    subprocess.run(line, check=True)
    run = capture("mpirun.openmpi", "--allow-run-as-root", "-n", "2", str(program))
    trace, operations = run.trace, run.captured.operations
    assert operations is not None
    files = {f.path: f for f in trace.files if f.within is not None}
    value = files["value"]
    assert (value.shape, value.element_bytes) == ([3, 100], 4)
    assert value.within is not None
    assert trace.files[value.within].path == f"{capture.here}/x.nc"
    rank_of = [process.rank for process in trace.processes]
    mine = operations.take(operations.is_layer(Layer.PNETCDF_VARIABLE))
    calls = list(
        zip(
            [rank_of[process] for process in mine.process],
            [trace.files[file].path for file in mine.file],
            mine.offset.tolist(),
            mine.bytes.tolist(),
            mine.detail.tolist(),
            strict=True,
        )
    )
    for rank in range(2):
        assert [call[1:] for call in calls if call[0] == rank and call[1] == "value"] == [
            ("value", 200 * rank, 200, COLLECTIVE),
            ("value", 200 * rank + 400, 200, COLLECTIVE),
            ("value", 200 * rank + 800, 200, NON_BLOCKING),
            ("value", 0, 40, COLLECTIVE),
        ]
    assert [call for call in calls if call[1] == "mark"] == [(0, "mark", 0, 8, 0)]
    opens = operations.take(operations.is_layer(Layer.PNETCDF_FILE) & operations.is_kind(Kind.OPEN))
    assert [bool(detail & OPENED_TOGETHER) for detail in opens.detail.tolist()] == [True, True]
    assert trace.gaps == []


@pytest.mark.needs("openmpi")
def test_counters_of_variables(capture: Capture, tmp_path: Path) -> None:
    source, program = tmp_path / "variables.c", tmp_path / "variables"
    source.write_text(PROGRAM)
    line = ["mpicc.openmpi", "-o", str(program), str(source), "-lpnetcdf"]
    subprocess.run(line, check=True)
    launch = ("mpirun.openmpi", "--allow-run-as-root", "-n", "2", str(program))
    run = capture(*launch, options=("--counters",))
    records = [r for r in run.trace.records if r.layer is Layer.PNETCDF_VARIABLE]
    values = [r.counters for r in records if r.file == "value"]
    expected = {
        "COLL_WRITES": 2,
        "NB_WRITES": 1,
        "INDEP_WRITES": 0,
        "COLL_READS": 1,
        "BYTES_WRITTEN": 600,
        "BYTES_READ": 40,
        "NDIMS": 2,
        "NPOINTS": 300,
    }
    assert [{name: value[name] for name in expected} for value in values] == [expected, expected]


SEVERAL = """
#include <mpi.h>
#include <pnetcdf.h>
#define DO(call) if ((call) != NC_NOERR) MPI_Abort(MPI_COMM_WORLD, __LINE__)
int main(int argc, char** argv) {
  int rank, file, dim, variables[2];
  float first[50] = {0}, second[50] = {0}, *both[2] = {first, second};
  void* any[2] = {first, second};
  MPI_Datatype shape, types[2] = {MPI_FLOAT, MPI_FLOAT};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  DO(ncmpi_create(MPI_COMM_WORLD, "y.nc", NC_CLOBBER, MPI_INFO_NULL, &file));
  DO(ncmpi_def_dim(file, "x", 100, &dim));
  DO(ncmpi_def_var(file, "a", NC_FLOAT, 1, &dim, &variables[0]));
  DO(ncmpi_def_var(file, "b", NC_FLOAT, 1, &dim, &variables[1]));
  DO(ncmpi_enddef(file));
  MPI_Offset start[1] = {50 * rank}, count[1] = {50}, amounts[2] = {50, 50};
  MPI_Offset *starts[2] = {start, start}, *counts[2] = {count, count};
  DO(ncmpi_mput_vara_float_all(file, 2, variables, starts, counts, both));
  DO(ncmpi_mget_vara_all(file, 2, variables, starts, counts, any, amounts, types));
  MPI_Type_contiguous(10, MPI_FLOAT, &shape);
  MPI_Type_commit(&shape);
  DO(ncmpi_get_vard_all(file, variables[1], shape, first, 10, MPI_FLOAT));
  MPI_Type_free(&shape);
  DO(ncmpi_close(file));
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.needs("openmpi")
def test_calls_on_several_variables_and_by_types(capture: Capture, tmp_path: Path) -> None:
    source, program = tmp_path / "several.c", tmp_path / "several"
    source.write_text(SEVERAL)
    line = ["mpicc.openmpi", "-o", str(program), str(source), "-lpnetcdf"]
    subprocess.run(line, check=True)
    run = capture("mpirun.openmpi", "--allow-run-as-root", "-n", "2", str(program))
    assert not run.done.stdout
    rows = [row[1:5] for row in run.rows() if row[0] == Layer.PNETCDF_VARIABLE.value]
    assert sorted(rows) == sorted(
        [(kind, name, at, 200) for kind in ("write", "read") for name in "ab" for at in (0, 200)]
        + [("read", "b", -1, 40)] * 2
    )
