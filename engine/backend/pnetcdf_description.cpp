// What PnetCDF is and can do, with or without the library.
#include "backend/description.hpp"

namespace venturi::backend {

const Description& pnetcdf_description();
const Description& pnetcdf_description() {
  static const Description description{
      .level = kLibrary,
      .addressing = kOfFormat,
      .capabilities = {kSharedFiles, kRandomAccess, kNames, kStripes, kSync, kDatasets, kDepth,
                       kCollective, kHints},
      .options = {{"fill", "boolean", "false", "space of a new variable is filled first",
                   "true or false"}},
      .needs_mpi = true,
      .shared_through = "mpiio",
      .splits = kSplitsWrites,
      .format = {.chunks = false, .read_while_open = false},
      .calls = {.write = "ncmpi_put_vara()",
                .read = "ncmpi_get_vara()",
                .both = "PnetCDF (ncmpi_put_vara() and ncmpi_get_vara())",
                .sync = "ncmpi_sync()",
                .collective = "ncmpi_put_vara_all() and ncmpi_get_vara_all()",
                .independent = "ncmpi_begin_indep_data() and ncmpi_put_vara()"},
      .elsewhere = {.ior = "NCMPI", .trace_layers = {"pnetcdf_file", "pnetcdf_variable"}},
  };
  return description;
}

}  // namespace venturi::backend
