// What io_uring is and can do, with or without liburing.
#include "backend/descriptor_names.hpp"

namespace venturi::backend {
namespace {

std::vector<OptionInfo> all_options() {
  std::vector<OptionInfo> options = open_options();
  options.push_back({"registered_buffers", "boolean", "false",
                     "memory of requests is registered once a step, not mapped for each request",
                     "true or false"});
  options.push_back({"registered_files", "boolean", "false",
                     "open files are registered, so that a request need not look them up",
                     "true or false"});
  options.push_back({"poll", "boolean", "false",
                     "completions are polled for at the device (IORING_SETUP_IOPOLL); needs "
                     "direct=true and a device with polled queues",
                     "true or false"});
  return options;
}

}  // namespace

const Description& uring_description();
const Description& uring_description() {
  static const Description description{
      .data_path = kByRing,
      .capabilities = {kSharedFiles, kRandomAccess, kNames, kStripes, kSync, kBytes, kAppend,
                       kDepth, kTruncate, kSeek},
      .options = all_options(),
      .calls = {.write = "io_uring_prep_write()",
                .read = "io_uring_prep_read()",
                .both = "io_uring (io_uring_prep_write(), io_uring_submit())"},
      .elsewhere = {.ior = "AIO"},
  };
  return description;
}

}  // namespace venturi::backend
