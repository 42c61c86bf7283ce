// mlock for the client, plain writing and reading for the servers.
#include "execute/cache_pressure.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include "base/descriptor.hpp"

namespace venturi::execute {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
/// For the ranks' own buffers and the system.
constexpr std::uint64_t kReserveBytes = 256 * kMiB;
constexpr std::uint64_t kLockBytes = 64 * kMiB;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// The first number of a file, or `otherwise`: no such file, or a word such as `max`.
std::uint64_t number_in(const std::string& path, std::uint64_t otherwise) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : otherwise;
}

/// The number after a word at the beginning of a line; 0 if there is none.
std::uint64_t number_after(const std::string& path, const std::string& word) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    std::uint64_t value = 0;
    if (words >> first >> value && first == word) return value;
  }
  return 0;
}

/// What the names of the two versions of control groups are.
struct GroupNames {
  const char* limit;
  const char* usage;
  const char* cache;
};
constexpr GroupNames kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache"};
constexpr GroupNames kVersion2{"memory.max", "memory.current", "file"};

/// Takes the limits of a control group and of all that are above it into account.
void keep_within(std::string group, const std::string& root, const GroupNames& names,
                 NodeMemory& memory) {
  for (;;) {
    const std::string folder = root + group + "/";
    const std::uint64_t limit = number_in(folder + names.limit, kNoLimit);
    if (limit < memory.total) {
      const std::uint64_t usage = number_in(folder + names.usage, 0);
      const std::uint64_t cache = number_after(folder + "memory.stat", names.cache);
      const std::uint64_t needed = usage - std::min(usage, cache);
      memory.total = limit;
      memory.available = std::min(memory.available, limit - std::min(limit, needed));
    }
    if (group.empty() || group == "/") return;
    group.erase(group.find_last_of('/'));
  }
}

std::string gib(std::uint64_t bytes) {
  return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / static_cast<double>(1024 * kMiB));
}

std::uint64_t ranks_on_node(const RankView& view) {
  const auto& nodes = view.group.placement().node_of_rank;
  return static_cast<std::uint64_t>(std::count(nodes.begin(), nodes.end(), view.group.node()));
}

/// One rank's scratch file.
class Scratch {
 public:
  Scratch(Context& context, std::uint64_t bytes)
      : context_(context),
        path_(fmt::format("{}/.overfill.{}", context.plan.directory, context.group.rank())),
        bytes_(bytes),
        file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) {
    if (!file_) fail("made", errno);
    base::Identity found;
    if (const int error = base::identify(file_.get(), "", found)) fail("looked at", error);
    context.manifest->add({.kind = EntryKind::kFile,
                           .identity = found,
                           .path = path_.substr(context.plan.directory.size() + 1)});
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { ::unlink(path_.c_str()); }

  void write() {
    std::byte* data = context_.read_buffer.reserve(kMiB);
    for (std::uint64_t at = 0; at < bytes_;) {
      // Other bytes each time: servers may find equal ones.
      const payload::Stamp stamp({.seed = context_.group.rank(), .path_key = ~std::uint64_t{0}});
      const std::uint64_t length = std::min(kMiB, bytes_ - at);
      stamp.fill({data, length}, at);
      at += moved(::pwrite(file_.get(), data, length, static_cast<off_t>(at)), "written");
      context_.tick(context_.clock.now_ns());
    }
    if (::fsync(file_.get()) != 0) fail("made persistent", errno);
  }

  void read() {
    ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED);
    std::byte* data = context_.read_buffer.reserve(kMiB);
    for (std::uint64_t at = 0; at < bytes_;) {
      const std::uint64_t length = std::min(kMiB, bytes_ - at);
      at += moved(::pread(file_.get(), data, length, static_cast<off_t>(at)), "read");
      context_.tick(context_.clock.now_ns());
    }
  }

 private:
  std::uint64_t moved(ssize_t result, const char* what) const {
    if (result > 0) return static_cast<std::uint64_t>(result);
    if (result < 0 && errno == EINTR) return 0;
    fail(what, result == 0 ? EIO : errno);
  }

  [[noreturn]] void fail(const char* what, int error) const {
    throw base::target_error(path_, fmt::format("the scratch file that overfills caches could not "
                                                "be {}: {}",
                                                what, std::strerror(error)));
  }

  Context& context_;
  std::string path_;
  std::uint64_t bytes_;
  base::Descriptor file_;
};

}  // namespace

NodeMemory node_memory() {
  constexpr std::uint64_t kKiB = 1024;
  NodeMemory memory{number_after("/proc/meminfo", "MemTotal:") * kKiB,
                    number_after("/proc/meminfo", "MemAvailable:") * kKiB};
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string kinds = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (kinds.empty()) keep_within(group, "/sys/fs/cgroup", kVersion2, memory);
    if (kinds == "memory") keep_within(group, "/sys/fs/cgroup/memory", kVersion1, memory);
  }
  return memory;
}

Occupation::Occupation(Context& context, std::uint64_t bytes) : bytes_(bytes) {
  memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED) throw base::target_error("occupy", std::strerror(errno));
  for (std::uint64_t at = 0; at < bytes_; at += kLockBytes) {
    const std::uint64_t length = std::min(kLockBytes, bytes_ - at);
    if (::mlock(static_cast<std::byte*>(memory_) + at, length) != 0) {
      const int error = errno;
      ::munmap(memory_, bytes_);
      throw base::target_error(
          "occupy",
          fmt::format("{} of memory could not be locked: {}", gib(bytes_), std::strerror(error)),
          "raise the limit of locked memory (ulimit -l), or occupy less");
    }
    context.tick(context.clock.now_ns());
  }
}

Occupation::~Occupation() { ::munmap(memory_, bytes_); }

std::uint64_t occupied_part(const Context& context, double share) {
  const NodeMemory memory = node_memory();
  const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(memory.total));
  if (wanted + kReserveBytes > memory.available) {
    throw base::target_error(
        "occupy",
        fmt::format("occupying {} of {} on {} would leave less than {} of the {} that "
                    "are available, and something would be swapped or killed",
                    gib(wanted), gib(memory.total),
                    context.group.placement().hosts[context.group.node()], gib(kReserveBytes),
                    gib(memory.available)),
        "occupy less, or free memory first");
  }
  return wanted / ranks_on_node(context);
}

void overfill(Context& context, std::uint64_t bytes) {
  struct statvfs space{};
  const std::uint64_t part = (bytes + context.group.size() - 1) / context.group.size();
  if (::statvfs(context.plan.directory.c_str(), &space) == 0 &&
      space.f_bavail * space.f_frsize < bytes) {
    throw base::target_error(context.plan.directory,
                             fmt::format("overfilling caches needs {}, but only {} are free",
                                         gib(bytes), gib(space.f_bavail * space.f_frsize)),
                             "free some space, or overfill less");
  }
  Scratch scratch(context, part);
  scratch.write();
  scratch.read();
}

}  // namespace venturi::execute
