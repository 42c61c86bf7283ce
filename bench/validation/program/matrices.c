// Matrices larger than memory, as MADBench2 has them: each rank writes its part of all (S), reads,
// changes and rewrites each (W), and reads all once more (C), in a file of its own.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBins = 8, kPasses = 4 };
static const size_t kNumbers = (size_t)1 << 19U;

/// What stands for the algebra.
static void work(double* part) {
  for (int pass = 0; pass < kPasses; ++pass) {
    for (size_t i = 0; i < kNumbers; ++i) part[i] = part[i] * 0.5 + (double)pass;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void put(FILE* file, int bin, const double* part) {
  fseek(file, (long)((size_t)bin * kNumbers * sizeof *part), SEEK_SET);
  if (fwrite(part, sizeof *part, kNumbers, file) != kNumbers) exit(1);
}

static void get(FILE* file, int bin, double* part) {
  fseek(file, (long)((size_t)bin * kNumbers * sizeof *part), SEEK_SET);
  if (fread(part, sizeof *part, kNumbers, file) != kNumbers) exit(1);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char name[32];
  snprintf(name, sizeof name, "data.%d", rank);
  FILE* file = fopen(name, "w+");
  double* part = calloc(kNumbers, sizeof *part);
  if (file == NULL || part == NULL) return 1;
  for (int bin = 0; bin < kBins; ++bin) {
    work(part);
    put(file, bin, part);
  }
  for (int bin = 0; bin < kBins; ++bin) {
    get(file, bin, part);
    work(part);
    put(file, bin, part);
  }
  for (int bin = 0; bin < kBins; ++bin) {
    get(file, bin, part);
    work(part);
  }
  fclose(file);
  free(part);
  MPI_Finalize();
  return 0;
}
