// What MPI-IO is and can do, with or without an MPI.
#include "backend/description.hpp"

namespace venturi::backend {

const Description& mpiio_description();
const Description& mpiio_description() {
  static const Description description{
      .level = kLibrary,
      .capabilities = {kSharedFiles, kRandomAccess, kNames, kStripes, kSync, kBytes, kDepth,
                       kCollective, kHints},
      .options = {{"preallocate", "bytes", "0", "reserve so many bytes in each new file",
                   "bytes, 0 for none"},
                  {"view", "word", "none",
                   "`strided`: before each step all sharers set file views that show each its own "
                   "places, and "
                   "offsets count the bytes of these. `dataset`: the same, and a rank's part of a "
                   "dataset is "
                   "one request, through a derived type",
                   "none|strided|dataset"}},
      .needs_mpi = true,
      .calls = {.write = "MPI_File_write_at()",
                .read = "MPI_File_read_at()",
                .both = "MPI-IO (MPI_File_write_at() and MPI_File_read_at())",
                .sync = "MPI_File_sync()",
                .collective = "MPI_File_write_at_all() and MPI_File_read_at_all()",
                .independent = "MPI_File_write_at() and MPI_File_read_at()"},
      .elsewhere = {.ior = "MPIIO", .trace_layers = {"mpiio"}},
  };
  return description;
}

}  // namespace venturi::backend
