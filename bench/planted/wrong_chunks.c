// HDF5: COUNT rows of a dataset are written one by one, BYTES bytes each, into chunks of whole
// columns; mended: into chunks of whole rows.
#include <hdf5.h>

#include "decoy.h"

int main(void) {
  decoys();
  char* row = computed(BYTES);
  const hid_t file = H5Fcreate("series.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  must(file >= 0, "series.h5");
  const hsize_t shape[2] = {COUNT, BYTES / 8}, part[2] = {1, BYTES / 8}, column[2] = {COUNT, 1};
  const hid_t space = H5Screate_simple(2, shape, NULL), memory = H5Screate_simple(2, part, NULL);
  const hid_t form = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(form, 2, MENDED ? part : column);
  const hid_t series =
      H5Dcreate2(file, "series", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, form, H5P_DEFAULT);
  for (hsize_t i = 0; i < COUNT; ++i) {
    const hsize_t begin[2] = {i, 0};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, NULL, part, NULL);
    must(H5Dwrite(series, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, row) >= 0, "H5Dwrite");
  }
  H5Dclose(series);
  H5Fclose(file);
  return 0;
}
