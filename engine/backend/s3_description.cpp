// What S3 is and can do.
#include "backend/description.hpp"

namespace venturi::backend {

const Description& s3_description();
const Description& s3_description() {
  static const Description description{
      .level = kLibrary,
      .name_space = kFlatKeys,
      .ownership = kMarkerKey,
      .capabilities = {kSync, kBytes},
      .options = {{"bucket", "text", "", "the bucket, which must exist", "the name of a bucket"},
                  {"endpoint", "text", "",
                   "the server; without it AWS_ENDPOINT_URL, or else Amazon's of the region",
                   "http://HOST:PORT or https://HOST"},
                  {"region", "text", "",
                   "the region that requests are signed for; without it AWS_REGION, or us-east-1",
                   "the name of a region"},
                  {"prefix", "text", "venturi",
                   "keys begin with it, and then with the name of the run",
                   "letters, digits, - _ . and /"},
                  {"part_bytes", "bytes", "8 MiB",
                   "a larger object is uploaded in parts of this size, each when it is full",
                   "5 MiB to 5 GiB", 5.0 * (1 << 20), 5.0 * (1 << 30)},
                  {"sign_bodies", "boolean", "false",
                   "sign what is written, too, at the price of its SHA-256", "true or false"}},
      .buffers = true,
      .container = "an object store",
      .format = {.read_while_open = false, .read_after_sync = true},
      .calls = {.write = "PutObject", .read = "GetObject"},
  };
  return description;
}

}  // namespace venturi::backend
