// HDF5 without MPI: one process has a file; where several share it, one of them writes for all.
#include "backend/hdf5.hpp"

namespace venturi::backend::hdf5 {

bool is_parallel() noexcept { return false; }

bool share(hid_t, const comm::Group&, const schema::File&) { return false; }

std::vector<schema::Fact> facts_below(hid_t) { return {}; }

bool together(hid_t) { return false; }

}  // namespace venturi::backend::hdf5
