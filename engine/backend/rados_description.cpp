// What RADOS is and can do.
#include "backend/description.hpp"

namespace venturi::backend {

const Description& rados_description();
const Description& rados_description() {
  static const Description description{
      .level = kLibrary,
      .name_space = kFlatKeys,
      .ownership = kMarkerKey,
      .capabilities = {kSharedFiles, kRandomAccess, kSync, kBytes},
      .options = {{"pool", "text", "", "the pool, which must exist", "the name of a pool"},
                  {"user", "text", "client.admin", "whose key is used", "client.NAME"},
                  {"conf", "text", "",
                   "the cluster's configuration; without it CEPH_CONF, or Ceph's usual places",
                   "a path"},
                  {"prefix", "text", "venturi",
                   "the namespace of the run begins with it, and then with the name of the run",
                   "letters, digits, - _ . and /"},
                  {"timeout_s", "integer", "60",
                   "seconds after which a server that does not answer is an error", "1 to 3600",
                   1.0, 3600.0}},
      .container = "an object store",
      .calls = {.write = "rados_write", .read = "rados_read"},
      .elsewhere = {.ior = "RADOS"},
  };
  return description;
}

}  // namespace venturi::backend
