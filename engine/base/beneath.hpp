// Names below a directory, reached without following any symbolic link, and what they stand for.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "base/descriptor.hpp"
#include "base/random.hpp"

namespace venturi::base {

/// In `Identity::device`: a place of keys on a server, and no device.
inline constexpr std::uint64_t kKeyDevice = std::uint64_t{1} << 63U;

/// What a name or a descriptor stands for.
struct Identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  /// Since 1970; 0 where the file system does not know. An inode may be used again, with another
  /// time of birth.
  std::uint64_t birth_ns = 0;
  /// What replaces the time of birth where the file system does not know it: a key of the attribute
  /// `kMarkAttribute`, or else of the file's handle, which has a generation; 0 where it has
  /// neither.
  std::uint64_t mark = 0;
  /// How many names it has.
  std::uint64_t links = 1;
  /// Whose it is.
  std::uint64_t owner = 0;
  /// A regular file, neither directory nor device, pipe or symbolic link.
  bool regular = true;
  bool directory = false;

  /// It is a key on a server, whose mark is made of the run's random key.
  [[nodiscard]] bool is_key() const noexcept { return (device & kKeyDevice) != 0; }
  /// The same file or directory, as far as the file system can tell: enough to go on with it.
  [[nodiscard]] bool is_same(const Identity& other) const noexcept {
    return device == other.device && inode == other.inode &&
           (birth_ns == other.birth_ns || birth_ns == 0 || other.birth_ns == 0) &&
           (mark == other.mark || mark == 0 || other.mark == 0);
  }
  /// Surely the same one: enough to remove it. An inode number alone is handed out again at once.
  [[nodiscard]] bool is_surely_same(const Identity& other) const noexcept {
    return is_same(other) && birth_ns == other.birth_ns && mark == other.mark &&
           (birth_ns != 0 || mark != 0);
  }
};

/// The attribute that marks a file or directory of a run where the file system knows no time of
/// birth.
inline constexpr const char* kMarkAttribute = "user.venturi.mark";

/// A name below a descriptor as a path, for calls that take no descriptor.
inline std::string path_through(int directory, const char* name) {
  if (directory == AT_FDCWD) return name;
  std::string path = "/proc/self/fd/" + std::to_string(directory);
  if (*name != '\0') path += std::string("/") + name;
  return path;
}

/// What tells a file without a time of birth from a later one with its inode number; 0: nothing.
inline std::uint64_t mark_of(int directory, const char* name) {
  std::array<char, 64> value{};
  const std::string path = path_through(directory, name);
  const ssize_t bytes = *name == '\0'
                            ? ::getxattr(path.c_str(), kMarkAttribute, value.data(), value.size())
                            : ::lgetxattr(path.c_str(), kMarkAttribute, value.data(), value.size());
  if (bytes > 0) return key_of({value.data(), static_cast<std::size_t>(bytes)}) | 1U;
  alignas(file_handle) std::array<char, sizeof(file_handle) + MAX_HANDLE_SZ> memory{};
  auto* handle = reinterpret_cast<file_handle*>(memory.data());
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  const int flags = *name == '\0' ? AT_EMPTY_PATH : 0;
  if (::name_to_handle_at(directory, name, handle, &mount, flags) != 0) return 0;
  const auto* content = reinterpret_cast<const char*>(handle->f_handle);
  return combine(static_cast<std::uint64_t>(handle->handle_type),
                 key_of({content, handle->handle_bytes})) |
         1U;
}

/// Identifies a name (of a link: the link itself) or, if it is empty, the descriptor. Returns an
/// errno, 0 for success.
inline int identify(int directory, const char* name, Identity& out) noexcept {
  struct statx status{};
  const int flags = AT_SYMLINK_NOFOLLOW | (*name == '\0' ? AT_EMPTY_PATH : 0);
  if (::statx(directory, name, flags, STATX_BASIC_STATS | STATX_BTIME, &status) != 0) return errno;
  constexpr std::uint64_t kNs = 1'000'000'000;
  const bool has_birth = (status.stx_mask & STATX_BTIME) != 0;
  out = {.device = makedev(status.stx_dev_major, status.stx_dev_minor),
         .inode = status.stx_ino,
         .bytes = status.stx_size,
         .birth_ns = has_birth ? static_cast<std::uint64_t>(status.stx_btime.tv_sec) * kNs +
                                     status.stx_btime.tv_nsec
                               : 0,
         .links = status.stx_nlink,
         .owner = status.stx_uid,
         .regular = S_ISREG(status.stx_mode),
         .directory = S_ISDIR(status.stx_mode)};
  if (out.birth_ns == 0) out.mark = mark_of(directory, name);
  return 0;
}

/// Marks what this process just made, if the file system knows no time of birth and takes
/// attributes; `made` is then known by that mark. Whoever has no mark keeps its handle's.
inline void set_mark(int directory, const char* name, std::uint64_t mark, Identity& made) {
  if (made.birth_ns != 0) return;
  const std::string text = std::to_string(mark);
  const std::string path = path_through(directory, name);
  const int result = *name == '\0'
                         ? ::setxattr(path.c_str(), kMarkAttribute, text.data(), text.size(), 0)
                         : ::lsetxattr(path.c_str(), kMarkAttribute, text.data(), text.size(), 0);
  if (result == 0) made.mark = mark_of(directory, name);
}

/// What `open_beneath` does where the kernel or a sandbox has no openat2: one component at a time.
inline int walk_beneath(int directory, const char* path, int flags, mode_t mode) noexcept {
  Descriptor holder;
  int at = directory;
  while (const char* slash = std::strchr(path, '/')) {
    const std::string component(path, slash);
    Descriptor next(::openat(at, component.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return -1;
    holder = std::move(next);
    at = holder.get();
    path = slash + 1;
  }
  const int opened = ::openat(at, path, flags | O_NOFOLLOW, mode);
  const int error = errno;  // closing the directory may change it
  holder = Descriptor();
  errno = error;
  return opened;
}

/// openat2 by its name where the C library, or a tracer before it, has one: so a capture sees the
/// call. Else the system call.
inline int openat2_by_name(int directory, const char* path, const open_how& how) noexcept {
  using Function = int (*)(int, const char*, const open_how*, std::size_t);
  static const auto function = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, "openat2"));
  if (function != nullptr) return function(directory, path, &how, sizeof how);
  return static_cast<int>(::syscall(SYS_openat2, directory, path, &how, sizeof how));
}

/// Like openat for a relative path without `..`, but a symbolic link anywhere in it is an error
/// (ELOOP or ENOTDIR). Returns a descriptor, or -1 and errno.
inline int open_beneath(int directory, const char* path, int flags, mode_t mode = 0) noexcept {
  if (std::strchr(path, '/') == nullptr) return ::openat(directory, path, flags | O_NOFOLLOW, mode);
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  const int opened = openat2_by_name(directory, path, how);
  // With O_DIRECT, EINVAL is the file system's answer and comes after the file was made.
  const bool missing = opened < 0 && (errno == ENOSYS || errno == EPERM ||
                                      (errno == EINVAL && (flags & O_DIRECT) == 0));
  return missing ? walk_beneath(directory, path, flags, mode) : opened;
}

/// The directory of a path's last component, for calls that act on names.
class Place {
 public:
  /// An absolute path is taken as it is; any other is resolved below `directory`.
  Place(int directory, const char* path) noexcept : directory_(directory), name_(path) {
    const char* slash = std::strrchr(path, '/');
    if (*path == '/' || slash == nullptr) return;
    const std::string parent(path, slash);
    const int opened = open_beneath(directory, parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) error_ = errno != 0 ? errno : EBADF;
    holder_ = Descriptor(opened);
    directory_ = holder_.get();
    name_ = slash + 1;
  }
  /// Why there is no such directory; 0 if there is.
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] int directory() const noexcept { return directory_; }
  [[nodiscard]] const char* name() const noexcept { return name_; }

 private:
  Descriptor holder_;
  int directory_;
  const char* name_;
  int error_ = 0;
};

}  // namespace venturi::base
