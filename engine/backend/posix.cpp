// The POSIX interface: one pread or pwrite per request, names relative to open directories.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "backend/table.hpp"
#include "base/descriptor.hpp"

namespace venturi::backend {
namespace {

constexpr mode_t kFileMode = 0644;
constexpr mode_t kDirectoryMode = 0755;
/// Linux moves at most this much in one call (0x7ffff000); asking for more is a short transfer.
constexpr std::uint64_t kMostBytes = 0x7ffff000U;

void describe(const struct stat& from, Identity& out) {
  out = {static_cast<std::uint64_t>(from.st_dev), static_cast<std::uint64_t>(from.st_ino),
         static_cast<std::uint64_t>(from.st_size)};
}

int flags_of(OpenMode mode) {
  switch (mode) {
    case OpenMode::kCreate:
      return O_CREAT | O_EXCL | O_RDWR;
    case OpenMode::kTruncate:
      return O_TRUNC | O_RDWR;
    case OpenMode::kRead:
      return O_RDONLY;
    case OpenMode::kReadWrite:
      break;
  }
  return O_RDWR;
}

class Posix : public Backend {
 public:
  Posix(const Environment& environment, bool direct)
      : clock_(environment.clock),
        root_(::open(environment.root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
        direct_(direct) {}

  [[nodiscard]] Traits traits() const noexcept override {
    return {.real_files = true, .bypasses_cache = direct_};
  }

  int open_directory(const char* path, Directory& out) override {
    out = ::openat(root_.get(), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return out < 0 ? errno : 0;
  }
  void close_directory(Directory directory) noexcept override {
    ::close(static_cast<int>(directory));
  }

  int open(Directory at, const char* name, OpenMode mode, Handle& out) override {
    const int flags = flags_of(mode) | O_CLOEXEC | (direct_ ? O_DIRECT : 0);
    do {
      out = ::openat(base_of(at), name, flags, kFileMode);
    } while (out < 0 && errno == EINTR);
    return out < 0 ? errno : 0;
  }
  int close(Handle file) override { return ::close(static_cast<int>(file)) == 0 ? 0 : errno; }
  int sync(Handle file, schema::SyncMode mode) override {
    const int descriptor = static_cast<int>(file);
    // POSIX has no buffer above the kernel, so `flush` has nothing to do.
    if (mode == schema::SyncMode::kNone || mode == schema::SyncMode::kFlush) return 0;
    const int result =
        mode == schema::SyncMode::kFsync ? ::fsync(descriptor) : ::fdatasync(descriptor);
    return result == 0 ? 0 : errno;
  }
  int identify(Handle file, Identity& out) override {
    struct stat status{};
    if (::fstat(static_cast<int>(file), &status) != 0) return errno;
    describe(status, out);
    return 0;
  }

  int stat(Directory at, const char* name, Identity& out) override {
    struct stat status{};
    if (::fstatat(base_of(at), name, &status, AT_SYMLINK_NOFOLLOW) != 0) return errno;
    describe(status, out);
    return 0;
  }
  int unlink(Directory at, const char* name) override {
    return ::unlinkat(base_of(at), name, 0) == 0 ? 0 : errno;
  }
  int make_directory(Directory at, const char* name) override {
    return ::mkdirat(base_of(at), name, kDirectoryMode) == 0 ? 0 : errno;
  }
  int remove_directory(Directory at, const char* name) override {
    return ::unlinkat(base_of(at), name, AT_REMOVEDIR) == 0 ? 0 : errno;
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

  [[nodiscard]] const char* hint(int error) const noexcept override {
    return direct_ && error == EINVAL
               ? "with direct=true sizes and offsets must be multiples of the storage's block "
                 "(4096 is safe), and the file system must support O_DIRECT"
               : "";
  }

 private:
  [[nodiscard]] int base_of(Directory at) const noexcept {
    return at == kRoot ? root_.get() : static_cast<int>(at);
  }

  template <class Call>
  std::size_t run(std::span<const Request> requests, std::span<Completion> completions,
                  const Call& call) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      ssize_t moved = 0;
      do {
        moved = call(requests[i], std::min(requests[i].bytes, kMostBytes));
      } while (moved < 0 && errno == EINTR);
      completions[i] = {clock_->now_ns(), moved < 0 ? 0 : static_cast<std::uint64_t>(moved),
                        moved < 0 ? errno : 0};
      if (completions[i].bytes != requests[i].bytes) return i + 1;
    }
    return requests.size();
  }

  base::Clock* clock_;
  base::Descriptor root_;
  bool direct_;
};

}  // namespace

const Entry& posix_entry();
const Entry& posix_entry() {
  static const Entry entry{
      {{"direct", "boolean", "false", "open with O_DIRECT, past the page cache", "true or false"}},
      {"shared files", "random access", "names", "sync"},
      [](const Environment& environment,
         const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        return std::make_unique<Posix>(environment,
                                       boolean_option(posix_entry(), options, "direct"));
      }};
  return entry;
}

}  // namespace venturi::backend
