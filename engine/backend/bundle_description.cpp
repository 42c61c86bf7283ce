// What a bundle is and can do, with or without zlib.
#include "backend/description.hpp"

namespace venturi::backend {

const Description& bundle_description();
const Description& bundle_description() {
  static const Description description{
      .level = kLibrary,
      .addressing = kKeys,
      .capabilities = {kSharedFiles, kRandomAccess, kNames, kStripes, kSync, kCollective, kBytes},
      .options = {{"zlib", "integer", "0", "level with which each rank compresses its pieces",
                   "0 (not at all) to 9", 0.0, 9.0}},
      .gathers = true,
      .container = "a bundle",
      .pieces = "pieces",
      .format = {.read_while_open = false},
  };
  return description;
}

}  // namespace venturi::backend
