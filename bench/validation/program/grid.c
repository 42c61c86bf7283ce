// Checkpoints of a 3-D grid in shared HDF5 files, each rank's box in one call: as FLASH3 has them
// (20 variables of 4 dimensions, `grid flash`), or VORPAL (one of 4, a chunk for each box, `grid
// vorpal`).
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kDumps = 4 };

static void write_variable(hid_t file, const char* name, const hsize_t shape[4],
                           const hsize_t start[4], const hsize_t box[4], int chunked,
                           const double* values) {
  hid_t how = H5Pcreate(H5P_DATASET_CREATE);
  if (chunked) H5Pset_chunk(how, 4, box);
  hid_t space = H5Screate_simple(4, shape, NULL);
  hid_t memory = H5Screate_simple(4, box, NULL);
  hid_t data = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, box, NULL);
  H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values);
  H5Dclose(data);
  H5Sclose(memory);
  H5Sclose(space);
  H5Pclose(how);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int chunked = count > 1 && strcmp(words[1], "vorpal") == 0;
  int variables = chunked ? 1 : 20;
  hsize_t flash[4] = {1, 40, 40, 40};
  hsize_t vorpal[4] = {48, 48, 48, 10};
  const hsize_t* box = chunked ? vorpal : flash;
  hsize_t shape[4] = {box[0] * (hsize_t)ranks, box[1], box[2], box[3]};
  hsize_t start[4] = {box[0] * (hsize_t)rank, 0, 0, 0};
  size_t zones = box[0] * box[1] * box[2] * box[3];
  double* values = malloc(zones * sizeof *values);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  for (int dump = 0; dump < kDumps; ++dump) {
    char name[64];
    for (int pass = 0; pass < 20; ++pass) {  // computing
      for (size_t i = 0; i < zones; ++i) values[i] = (double)(i + (size_t)pass + (size_t)dump);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(name, sizeof name, "chk_%04d.h5", dump);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    for (int variable = 0; variable < variables; ++variable) {
      snprintf(name, sizeof name, "var%02d", variable);
      write_variable(file, name, shape, start, box, chunked, values);
    }
    H5Fclose(file);
  }
  free(values);
  H5Pclose(access);
  MPI_Finalize();
  return 0;
}
