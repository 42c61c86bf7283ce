// getdents64 and fstatat; who reads a large directory leaves most of its names for others.
#include "execute/tree_walk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "base/beneath.hpp"
#include "execute/removal.hpp"

namespace venturi::execute {
namespace {

using schema::OperationKind;

/// Read at once of a directory: larger than the C library's, because directories are large here.
constexpr std::size_t kReadBytes = 65'536;
/// Names in one piece.
constexpr std::size_t kNames = 256;
constexpr std::size_t kNamesBytes = 32'768;
/// A rank that has so many pieces looks at names itself.
constexpr std::size_t kMostPieces = 4096;
/// Longer paths are opened in parts.
constexpr std::size_t kPathBytes = 4000;

bool is_gone(int error) noexcept { return error == ENOENT || error == ENOTDIR || error == ESTALE; }

}  // namespace

TreeWalk::TreeWalk(Context& context, WorkStealingQueue& queue, const std::string& top,
                   FindCriteria criteria, bool ours)
    : context_(context),
      queue_(queue),
      criteria_(std::move(criteria)),
      ours_(ours),
      top_(::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      last_ns_(context.clock.now_ns()) {
  if (top_) return;
  throw base::Error({.code = "io",
                     .message = fmt::format("find cannot open {}: {}", top, std::strerror(errno)),
                     .where = "find",
                     .exit_code = base::kExitFailed});
}

void TreeWalk::look(const std::string& piece) {
  const std::size_t zero = piece.find('\0');
  const std::string path = piece.substr(0, zero);
  last_ns_ = context_.clock.now_ns();
  const base::Descriptor directory = open(path);
  if (!directory) {
    if (!is_gone(errno)) fail(path, errno);
    return;
  }
  if (zero + 1 == piece.size()) return read(directory.get(), path);
  for (const char* name = piece.c_str() + zero + 1; name < piece.data() + piece.size();
       name += std::strlen(name) + 1) {
    if (context_.failed()) return;
    look_at_status(directory.get(), path, name);
  }
}

/// A directory below the top, reached without following a link. A path may be longer than what the
/// kernel takes at once.
base::Descriptor TreeWalk::open(const std::string& path) const {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  base::Descriptor at;
  std::string rest = path.empty() ? "." : path;
  while (rest.size() > kPathBytes) {
    const std::size_t slash = rest.rfind('/', kPathBytes);
    const std::string part = rest.substr(0, slash);
    base::Descriptor next(base::open_beneath(at ? at.get() : top_.get(), part.c_str(), kFlags));
    if (!next) return next;
    at = std::move(next);
    rest.erase(0, slash + 1);
  }
  return base::Descriptor(base::open_beneath(at ? at.get() : top_.get(), rest.c_str(), kFlags));
}

void TreeWalk::read(int directory, const std::string& path) {
  alignas(dirent64) std::array<char, kReadBytes> entries;
  while (!context_.failed()) {
    const long bytes = ::syscall(SYS_getdents64, directory, entries.data(), entries.size());
    if (bytes < 0 && !is_gone(errno)) fail(path, errno);
    if (bytes <= 0) break;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      look_at_name(directory, path, entry->d_name, entry->d_type);
      at += entry->d_reclen;
    }
    queue_.serve();
    context_.tick(last_ns_);
  }
  // The last names of a directory, which may be all of them, are not worth a message.
  std::string last;
  last.swap(names_);
  waiting_ = 0;
  for (const char* name = last.c_str(); name < last.data() + last.size();
       name += std::strlen(name) + 1) {
    if (context_.failed()) return;
    look_at_status(directory, path, name);
  }
}

void TreeWalk::look_at_name(int directory, const std::string& path, const char* name,
                            unsigned char type) {
  const std::string_view text = name;
  if (text == "." || text == "..") return;
  if (ours_ && path.empty() && text == kMarkerName) return;
  const bool named = has_name(name);
  if (type == DT_UNKNOWN || (named && criteria_.needs_status())) {
    names_.append(text).push_back('\0');
    if (++waiting_ >= kNames || names_.size() >= kNamesBytes) put_names(directory, path);
    return;
  }
  if (type == DT_DIR) {
    queue_.put(fmt::format("{}{}{}{}", path, path.empty() ? "" : "/", text, '\0'));
  }
  count(named);
}

/// The status of names: work for whoever has time.
void TreeWalk::put_names(int directory, const std::string& path) {
  std::string names;
  names.swap(names_);
  waiting_ = 0;
  if (queue_.size() < kMostPieces && context_.group.size() > 1) {
    return queue_.put(fmt::format("{}{}{}", path, '\0', names));
  }
  for (const char* name = names.c_str(); name < names.data() + names.size();
       name += std::strlen(name) + 1) {
    look_at_status(directory, path, name);
  }
}

void TreeWalk::look_at_status(int directory, const std::string& path, const char* name) {
  struct stat status{};
  if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (!is_gone(errno)) fail(fmt::format("{}/{}", path, name), errno);
    return;
  }
  if (S_ISDIR(status.st_mode)) {
    queue_.put(fmt::format("{}{}{}{}", path, path.empty() ? "" : "/", name, '\0'));
  }
  count(has_name(name) && fits(status));
  queue_.serve();
}

bool TreeWalk::has_name(const char* name) const {
  return criteria_.name.empty() || ::fnmatch(criteria_.name.c_str(), name, 0) == 0;
}

bool TreeWalk::fits(const struct stat& status) const {
  if (criteria_.bytes && std::cmp_not_equal(status.st_size, *criteria_.bytes)) return false;
  const timespec& changed = status.st_ctim;
  return !criteria_.after || std::tie(changed.tv_sec, changed.tv_nsec) >
                                 std::tie(criteria_.after->tv_sec, criteria_.after->tv_nsec);
}

/// One name was looked at: its time is that since the one before it.
void TreeWalk::count(bool fits) {
  const std::uint64_t now = context_.clock.now_ns();
  context_.meter().record(OperationKind::kFind, last_ns_, now, 0);
  if (fits) context_.meter().add_found(1);
  context_.count(0, 1);
  last_ns_ = now;
  context_.tick(now);
}

void TreeWalk::fail(const std::string& path, int error) {
  context_.fail_operation({.kind = OperationKind::kFind, .path = path, .error = error},
                          "a directory that cannot be read, or lies on storage that failed");
}

}  // namespace venturi::execute
