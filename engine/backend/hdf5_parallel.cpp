// HDF5 with MPI: all sharers open a file with MPI-IO below.
#include <mpi.h>

#include "backend/hdf5.hpp"
#include "backend/mpi_file.hpp"

namespace venturi::backend::hdf5 {

bool is_parallel() noexcept { return true; }

bool share(hid_t access_list, const comm::Group& sharers, const schema::File& file) {
  const MpiHints hints(file);
  if (H5Pset_fapl_mpio(access_list, communicator_of(sharers, "hdf5"), hints.get()) < 0) {
    return false;
  }
  if (!boolean_option(hdf5_entry(), file.options, "collective_metadata")) return true;
  return H5Pset_all_coll_metadata_ops(access_list, true) >= 0 &&
         H5Pset_coll_metadata_write(access_list, true) >= 0;
}

std::vector<schema::Fact> facts_below(hid_t file) {
  void* handle = nullptr;
  if (H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0 || handle == nullptr) return {};
  return hints_in_force(*static_cast<MPI_File*>(handle));
}

bool together(hid_t transfer_list) {
  return H5Pset_dxpl_mpio(transfer_list, H5FD_MPIO_COLLECTIVE) >= 0;
}

}  // namespace venturi::backend::hdf5
