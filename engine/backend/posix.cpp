// The POSIX interface: one pread or pwrite per request, names relative to open directories.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "backend/table.hpp"
#include "base/beneath.hpp"
#include "base/descriptor.hpp"

namespace venturi::backend {
namespace {

constexpr mode_t kFileMode = 0644;
constexpr mode_t kDirectoryMode = 0755;
/// Linux moves at most this much in one call (0x7ffff000); asking for more is a short transfer.
constexpr std::uint64_t kMostBytes = 0x7ffff000U;

int flags_of(OpenMode mode) {
  switch (mode) {
    case OpenMode::kCreate:
      return O_CREAT | O_EXCL | O_RDWR;
    case OpenMode::kRead:
      return O_RDONLY | O_NONBLOCK;  // files do not know the flag, pipes do
    case OpenMode::kTruncate:
    case OpenMode::kReadWrite:
      break;
  }
  return O_RDWR;
}

/// Takes the content of an open file, unless another name leads to it. An errno, 0 for success.
int empty(int descriptor) {
  Identity identity;
  if (const int error = base::identify(descriptor, "", identity)) return error;
  if (!identity.regular || identity.links != 1) return EEXIST;
  return ::ftruncate(descriptor, 0) == 0 ? 0 : errno;
}

class Posix : public Backend {
 public:
  Posix(const Environment& environment, bool direct)
      : clock_(environment.clock),
        root_(::open(environment.root.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)),
        direct_(direct) {}

  [[nodiscard]] Traits traits() const noexcept override {
    return {.real_files = true, .bypasses_cache = direct_};
  }

  int open_directory(const char* path, Directory& out) override {
    out = base::open_beneath(root_.get(), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return out < 0 ? errno : 0;
  }
  void close_directory(Directory directory) noexcept override {
    ::close(static_cast<int>(directory));
  }

  int open(Directory at, const char* name, OpenMode mode, Handle& out) override {
    const int flags = flags_of(mode) | O_CLOEXEC | (direct_ ? O_DIRECT : 0);
    do {
      // Only the name of somebody else's file is absolute.
      out = *name == '/' ? ::open(name, flags, kFileMode)
                         : base::open_beneath(base_of(at), name, flags, kFileMode);
    } while (out < 0 && errno == EINTR);
    if (out < 0) return errno;
    const int error = mode == OpenMode::kTruncate ? empty(static_cast<int>(out)) : 0;
    if (error != 0) ::close(static_cast<int>(out));
    return error;
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
    return base::identify(static_cast<int>(file), "", out);
  }

  int stat(Directory at, const char* name, Identity& out) override {
    const base::Place place(base_of(at), name);
    return place.error() != 0 ? place.error()
                              : base::identify(place.directory(), place.name(), out);
  }
  int unlink(Directory at, const char* name) override { return remove(at, name, 0); }
  int make_directory(Directory at, const char* name) override {
    const base::Place place(base_of(at), name);
    if (place.error() != 0) return place.error();
    return ::mkdirat(place.directory(), place.name(), kDirectoryMode) == 0 ? 0 : errno;
  }
  int remove_directory(Directory at, const char* name) override {
    return remove(at, name, AT_REMOVEDIR);
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
    if (error == ELOOP || error == ENOTDIR) {
      return "below the run's directory there is a symbolic link, and none is followed, or a file "
             "where a directory should be";
    }
    return direct_ && error == EINVAL
               ? "with direct=true sizes and offsets must be multiples of the storage's block "
                 "(4096 is safe), and the file system must support O_DIRECT"
               : "";
  }

 private:
  int remove(Directory at, const char* name, int flags) {
    const base::Place place(base_of(at), name);
    if (place.error() != 0) return place.error();
    return ::unlinkat(place.directory(), place.name(), flags) == 0 ? 0 : errno;
  }

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
