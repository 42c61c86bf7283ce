// Ranks that move data of MPI-IO as chance has it, each by itself: irregular_file SEED STEPS CALLS.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_AT = 400000, MOST_SIZE = 9000 };

static char buffer[MOST_SIZE];

static int below(int most) { return (int)(random() % most); }

static MPI_File opened(const char* name, int mode) {
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file) != MPI_SUCCESS) abort();
  return file;
}

int main(int argc, char** argv) {
  int rank;
  char name[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 4) abort();
  srandom((unsigned)(atoi(argv[1]) * 1000 + rank));
  MPI_File input = opened("input", MPI_MODE_RDONLY);
  for (int step = 0; step < atoi(argv[2]); step++) {
    snprintf(name, sizeof name, "out%d", step);
    MPI_File out = opened(name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (int i = below(atoi(argv[3])) + 2; i > 0; i--)
      MPI_File_write_at(out, below(MOST_AT), buffer, 1 + below(MOST_SIZE), MPI_BYTE,
                        MPI_STATUS_IGNORE);
    MPI_File_write_at(out, MOST_AT + rank * MOST_SIZE, buffer, MOST_SIZE, MPI_BYTE,
                      MPI_STATUS_IGNORE);
    MPI_File_sync(out);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = below(atoi(argv[3])); i > 0; i--)
      MPI_File_read_at(below(2) ? out : input, below(MOST_AT), buffer, 1 + below(MOST_SIZE),
                       MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&out);
  }
  MPI_File_close(&input);
  MPI_Finalize();
  return 0;
}
