// What netCDF is and can do, with or without the library.
#include "backend/description.hpp"

namespace venturi::backend {

const Description& netcdf_description();
const Description& netcdf_description() {
  static const Description description{
      .level = kLibrary,
      .addressing = kOfFormat,
      .capabilities = {kSharedFiles, kRandomAccess, kNames, kStripes, kSync, kDatasets,
                       kCollective},
      .options =
          {{"format", "word", "cdf5",
            "kind of file: classic with 64-bit sizes or offsets, or HDF5 below (chunks and filters "
            "need that)",
            "cdf5|cdf2|netcdf4"},
           {"no_fill", "boolean", "false", "space of a new variable is not filled first",
            "true or false"}},
      .gathers = true,
      .format = {.chunks = false,
                 .chunks_with = "format=netcdf4",
                 .narrow_with = "format=cdf2",
                 .wide_with = "format=cdf5",
                 .read_while_open = false},
      .calls = {.write = "nc_put_vara()",
                .read = "nc_get_vara()",
                .both = "netCDF (nc_put_vara() and nc_get_vara())",
                .sync = "nc_sync() (netCDF4: sync())",
                .collective = "nc_var_par_access(NC_COLLECTIVE)",
                .independent = "nc_var_par_access(NC_INDEPENDENT)",
                .larger = "in Python: larger slices"},
  };
  return description;
}

}  // namespace venturi::backend
