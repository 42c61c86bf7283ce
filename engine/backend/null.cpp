// Storage that does nothing: what is left is the cost of the engine.
#include <algorithm>
#include <cerrno>
#include <vector>

#include "backend/table.hpp"

namespace venturi::backend {
namespace {

class Null : public Backend {
 public:
  explicit Null(base::Clock* clock) : clock_(clock) {}
  [[nodiscard]] Traits traits() const noexcept override { return {}; }
  int open_directory(const char*, Directory& out) override {
    out = 0;
    return 0;
  }
  void close_directory(Directory) noexcept override {}
  int open(Directory, const char*, OpenMode, Handle& out) override {
    out = 0;
    return 0;
  }
  int close(Handle) override { return 0; }
  int sync(Handle, schema::SyncMode) override { return 0; }
  int identify(Handle, Identity&) override { return ENOTSUP; }
  int stat(Directory, const char*) override { return 0; }
  int set_status(Directory, const char*, StatusPart) override { return 0; }
  int unlink(Directory, const char*) override { return 0; }
  int make_directory(Directory, const char*) override { return 0; }
  int remove_directory(Directory, const char*) override { return 0; }
  int rename(Directory, const char*, const char*) override { return 0; }
  int replace(Directory, const char*, const char*) override { return 0; }
  int truncate(Handle, std::uint64_t) override { return 0; }
  int seek(Handle, std::uint64_t) override { return 0; }
  int read_behind(Handle, std::span<std::byte>) override { return 0; }
  int copy(Handle, Handle, schema::CopyWay, Copied&) override { return 0; }
  int link(Directory, const char*, const char*) override { return 0; }
  int symlink(Directory, const char*, const char*) override { return 0; }
  int make_node(Directory, const char*) override { return 0; }
  int read_directory(Directory, const char*, std::uint64_t&) override { return 0; }
  int set_attribute(Handle, const char*, std::span<const std::byte>) override { return 0; }
  int get_attribute(Handle, const char*, std::span<std::byte>) override { return 0; }
  std::size_t submit(Handle, schema::Direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      completions[i] = {clock_->now_ns(), requests[i].bytes, 0};
    }
    return requests.size();
  }
  int arrange(Handle, std::uint32_t depth, std::span<std::byte>) override {
    begun_.reserve(depth);
    return 0;
  }
  int begin(Handle, schema::Direction, const Request& request, std::uint32_t tag) override {
    begun_.push_back({tag, {0, request.bytes, 0}});
    return 0;
  }
  std::size_t reap(std::span<Done> done, std::uint64_t) override {
    const std::size_t count = std::min(done.size(), begun_.size());
    const std::uint64_t now = clock_->now_ns();  // they are seen to be done together
    for (std::size_t i = 0; i < count; ++i) {
      done[i] = begun_[i];
      done[i].completion.end_ns = now;
    }
    begun_.erase(begun_.begin(), begun_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }
  [[nodiscard]] bool knows(Handle, const Request&) const noexcept override { return false; }

 private:
  base::Clock* clock_;
  std::vector<Done> begun_;
};

}  // namespace

const Description& null_description();
const Description& null_description() {
  static const Description description{
      .level = kNoStorage,
      .capabilities = {kSharedFiles, kRandomAccess, kNames, kSync, kAppend, kBytes, kDepth,
                       kTruncate, kCopy, kSeek},
      .label = "null interface",
      .elsewhere = {.ior = "DUMMY", .mdtest = "DUMMY"},
  };
  return description;
}

const Entry& null_entry();
const Entry& null_entry() {
  static const Entry entry{{},
                           null_description().capabilities,
                           [](const Environment& environment,
                              const std::vector<schema::Option>&) -> std::unique_ptr<Backend> {
                             return std::make_unique<Null>(environment.clock);
                           }};
  return entry;
}

}  // namespace venturi::backend
