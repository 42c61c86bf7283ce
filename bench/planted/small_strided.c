// Parallel HDF5: COUNT rows, of which each rank owns BYTES neighbouring bytes, written row piece
// by row piece by independent requests; mended: by collective ones.
#include <hdf5.h>
#include <mpi.h>

#include "decoy.h"

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) decoys();
  MPI_Barrier(MPI_COMM_WORLD);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t file = H5Fcreate("field.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  must(file >= 0, "field.h5");
  const hsize_t shape[2] = {COUNT, (hsize_t)BYTES * ranks};
  const hsize_t part[2] = {COUNT, BYTES}, begin[2] = {0, (hsize_t)BYTES * rank};
  const hid_t space = H5Screate_simple(2, shape, NULL), memory = H5Screate_simple(2, part, NULL);
  const hid_t field =
      H5Dcreate2(file, "field", H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(transfer, MENDED ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
  char* data = computed((size_t)COUNT * BYTES);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, NULL, part, NULL);
  must(H5Dwrite(field, H5T_STD_U8LE, memory, space, transfer, data) >= 0, "H5Dwrite");
  H5Dclose(field);
  H5Fclose(file);
  MPI_Finalize();
  return 0;
}
