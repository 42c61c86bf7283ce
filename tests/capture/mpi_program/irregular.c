// Ranks that read and write as chance has it: irregular SEED STEPS CALLS, beside a file `input`.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INPUT_BYTES = 1000000, MOST_AT = 400000, MOST_SIZE = 9000 };

static char buffer[MOST_SIZE];

static long below(long most) { return random() % most; }

static int opened(const char* name, int flags) {
  int file = open(name, flags, 0644);
  if (file < 0) abort();
  return file;
}

static void write_all(int file, long size, long at) {
  if (pwrite(file, buffer, (size_t)size, at) != size) abort();
}

int main(int argc, char** argv) {
  int rank;
  char name[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 4) abort();
  srandom((unsigned)(atoi(argv[1]) * 1000 + rank));
  const int input = opened("input", O_RDONLY);
  for (int step = 0; step < atoi(argv[2]); step++) {
    snprintf(name, sizeof name, "step%d", step);
    if (rank == 0 && mkdir(name, 0755) != 0) abort();
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(name, sizeof name, "step%d/shared", step);
    const int shared = opened(name, O_CREAT | O_RDWR);
    snprintf(name, sizeof name, "step%d/own%d", step, rank);
    const int own = opened(name, O_CREAT | O_TRUNC | O_WRONLY);
    for (long i = below(atoi(argv[3])) + 2; i > 0; i--) {
      write_all(below(3) ? shared : own, 1 + below(MOST_SIZE), below(MOST_AT));
      if (!below(20)) usleep(3000);
    }
    write_all(shared, MOST_SIZE, MOST_AT + rank * MOST_SIZE);
    close(own);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = below(atoi(argv[3])); i > 0; i--) {
      const int file = below(2) ? shared : input;
      if (pread(file, buffer, (size_t)(1 + below(MOST_SIZE)), below(MOST_AT)) <= 0) abort();
    }
    close(shared);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(name, sizeof name, "step%d/shared", step);
    if (rank == 0 && below(2) && unlink(name) != 0) abort();
  }
  close(input);
  MPI_Finalize();
  return 0;
}
