// The POSIX interface: one pread or pwrite per request.
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "backend/descriptor_names.hpp"
#include "backend/kernel_copy.hpp"
#include "backend/table.hpp"

namespace venturi::backend {
namespace {

class Posix final : public DescriptorNames {
 public:
  using DescriptorNames::DescriptorNames;

  int seek(Handle file, std::uint64_t offset) override { return seek_descriptor(file, offset); }

  int read_behind(Handle file, std::span<std::byte> data) override {
    return read_behind_descriptor(file, data);
  }

  int truncate(Handle file, std::uint64_t bytes) override {
    return ::ftruncate(static_cast<int>(file), static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  }

  int copy(Handle from, Handle to, schema::CopyWay way, Copied& out) override {
    return copy_in_kernel(static_cast<int>(from), static_cast<int>(to), way, out);
  }

  int stat_open(Handle file) override { return stat_descriptor(file); }

  int set_open_status(Handle file, StatusPart part) override {
    return set_descriptor_status(file, part);
  }

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    return direction == schema::Direction::kWrite
               ? run(requests, completions,
                     [fd = static_cast<int>(file)](const Request& request, std::size_t bytes) {
                       return ::pwrite(fd, request.data, bytes, static_cast<off_t>(request.offset));
                     })
               : run(requests, completions,
                     [fd = static_cast<int>(file)](const Request& request, std::size_t bytes) {
                       return ::pread(fd, request.data, bytes, static_cast<off_t>(request.offset));
                     });
  }

 private:
  template <class Call>
  std::size_t run(std::span<const Request> requests, std::span<Completion> completions,
                  const Call& call) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      ssize_t moved = 0;
      do {
        moved = call(requests[i], std::min(requests[i].bytes, kMostBytes));
      } while (moved < 0 && errno == EINTR);
      const int error = moved < 0 ? errno : 0;
      completions[i] = {clock().now_ns(), static_cast<std::uint64_t>(moved), error};
      if (static_cast<std::uint64_t>(moved) == requests[i].bytes) continue;
      if (moved < 0) completions[i].bytes = 0;
      return i + 1;
    }
    return requests.size();
  }
};

}  // namespace

const Description& posix_description();
const Description& posix_description() {
  static const Description description{
      .capabilities = {kSharedFiles, kRandomAccess, kNames, kStripes, kSync, kBytes, kAppend,
                       kTruncate, kCopy, kSeek},
      .options = open_options(),
      .calls = {.write = "write()", .read = "read()", .both = "pwrite() and pread()"},
      .elsewhere = {.ior = "POSIX", .mdtest = "POSIX", .trace_layers = {"posix"}},
  };
  return description;
}

const Entry& posix_entry();
const Entry& posix_entry() {
  static const Entry entry{
      posix_description().options, posix_description().capabilities,
      [](const Environment& environment,
         const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        return std::make_unique<Posix>(environment, open_settings(posix_entry(), options));
      }};
  return entry;
}

}  // namespace venturi::backend
