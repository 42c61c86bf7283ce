// Rank 0 gathers COUNT blocks of BYTES bytes of every rank and writes them; mended: each rank
// writes its own into a file of its own.
#include <mpi.h>

#include "decoy.h"

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) decoys();
  MPI_Barrier(MPI_COMM_WORLD);
  char* own = computed(BYTES);
  char* all = rank == 0 ? computed((size_t)ranks * BYTES) : NULL;
  char name[64] = "state.dat";
  if (MENDED) snprintf(name, sizeof name, "state.%d.dat", rank);
  const int file = MENDED || rank == 0 ? open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644) : -1;
  must(file >= 0 || rank > 0, name);
  for (int i = 0; i < COUNT; ++i) {
    if (!MENDED) MPI_Gather(own, BYTES, MPI_BYTE, all, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
    const ssize_t bytes = MENDED ? BYTES : (ssize_t)BYTES * ranks;
    if (file >= 0) must(write(file, MENDED ? own : all, bytes) == bytes, name);
  }
  if (file >= 0) close(file);
  MPI_Finalize();
  return 0;
}
