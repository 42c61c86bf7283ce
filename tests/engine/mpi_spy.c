// Tells which MPI-IO calls a rank makes: preloaded, it writes a line for each into $SPY_LOG.PID.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void tell(const char* what, long long offset, long long bytes, long long extent) {
  char name[4096];
  snprintf(name, sizeof name, "%s.%d", getenv("SPY_LOG"), (int)getpid());
  FILE* log = fopen(name, "a");
  if (log == NULL) abort();
  fprintf(log, "%s %lld %lld %lld\n", what, offset, bytes, extent);
  fclose(log);
}

static long long bytes_of(int count, MPI_Datatype type) {
  MPI_Count bytes = 0;
  PMPI_Type_size_x(type, &bytes);
  return (long long)bytes * count;
}

/* Stripes among the hints of an opened file. */
int MPI_File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
  char factor[64] = "-1";
  char unit[64] = "-1";
  int found = 0;
  if (info != MPI_INFO_NULL) {
    PMPI_Info_get(info, "striping_factor", 63, factor, &found);
    PMPI_Info_get(info, "striping_unit", 63, unit, &found);
  }
  tell("open", atoll(factor), atoll(unit), 0);
  return PMPI_File_open(comm, name, mode, info, file);
}

int MPI_File_set_view(MPI_File file, MPI_Offset from, MPI_Datatype unit, MPI_Datatype shown,
                      const char* form, MPI_Info info) {
  MPI_Count low = 0;
  MPI_Count extent = 0;
  PMPI_Type_get_extent_x(shown, &low, &extent);
  tell("view", from, bytes_of(1, shown), extent);
  return PMPI_File_set_view(file, from, unit, shown, form, info);
}

int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void* data, int count,
                      MPI_Datatype type, MPI_Status* status) {
  tell("write", offset, bytes_of(count, type), 0);
  return PMPI_File_write_at(file, offset, data, count, type, status);
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void* data, int count,
                          MPI_Datatype type, MPI_Status* status) {
  tell("write_all", offset, bytes_of(count, type), 0);
  return PMPI_File_write_at_all(file, offset, data, count, type, status);
}

int MPI_File_iwrite_at(MPI_File file, MPI_Offset offset, const void* data, int count,
                       MPI_Datatype type, MPI_Request* request) {
  tell("iwrite", offset, bytes_of(count, type), 0);
  return PMPI_File_iwrite_at(file, offset, data, count, type, request);
}
