// What HDF5 is and can do, with or without the library.
#include "backend/description.hpp"

namespace venturi::backend {

const Description& hdf5_description();
const Description& hdf5_description() {
  static const Description description{
      .level = kLibrary,
      .addressing = kOfFormat,
      .capabilities = {kSharedFiles, kRandomAccess, kNames, kStripes, kSync, kDatasets,
                       kCollective},
      .mpi_capabilities = {kHints},
      .options =
          {{"alignment", "bytes", "1", "objects begin at multiples of this (H5Pset_alignment)",
            "1 or more bytes", 1.0},
           {"threshold", "bytes", "0", "smaller objects are not aligned", "0 or more bytes"},
           {"sieve_bytes", "bytes", "0", "buffer for small pieces of contiguous datasets",
            "0 (what HDF5 chooses) or more bytes"},
           {"chunk_cache", "bytes", "0", "keeps chunks of each open dataset (H5Pset_cache)",
            "0 (no chunk is kept) or more bytes; absent: HDF5's own, 1 MiB, since 2.0 8 MiB"},
           {"libver", "word", "earliest",
            "formats of the file: those that old readers know, or new", "earliest|latest"},
           {"no_fill", "boolean", "false", "space of a new dataset is not filled with zeros first",
            "true or false"},
           {"gather", "boolean", "false", "one of the sharers writes and reads for all",
            "true or false"}},
      .mpi_options = {{"collective_metadata", "boolean", "false",
                       "metadata is read and written by calls of all sharers", "true or false"}},
      .shared_through = "mpiio",
      .splits = kSplitsAll,
      .format = {.read_while_open = false},
      .calls = {.write = "H5Dwrite()",
                .read = "H5Dread()",
                .both = "HDF5 (H5Dwrite() and H5Dread())",
                .sync = "H5Fflush() (h5py: flush())",
                .collective = "H5Pset_dxpl_mpio(plist, H5FD_MPIO_COLLECTIVE)",
                .independent = "H5Pset_dxpl_mpio(plist, H5FD_MPIO_INDEPENDENT)",
                .larger = "in Python: larger slices"},
      .elsewhere = {.ior = "HDF5", .trace_layers = {"hdf5_file", "hdf5_dataset"}},
  };
  return description;
}

}  // namespace venturi::backend
