// Whether a file system has room for more: what a library does not say when a write fails.
#pragma once

#include <sys/statvfs.h>

namespace venturi::base {

/// No block is left for those who are not root, or no name. File systems that count neither are
/// never full.
[[nodiscard]] inline bool is_full(const struct statvfs& system) noexcept {
  const bool no_block = system.f_blocks > 0 && system.f_bavail == 0;
  const bool no_name = system.f_files > 0 && system.f_favail == 0;
  return no_block || no_name;
}
/// The same of the file system of an open file; false where it cannot be asked.
[[nodiscard]] inline bool is_full(int descriptor) noexcept {
  struct statvfs system{};
  return ::fstatvfs(descriptor, &system) == 0 && is_full(system);
}
/// The same of a path's.
[[nodiscard]] inline bool is_full(const char* path) noexcept {
  struct statvfs system{};
  return ::statvfs(path, &system) == 0 && is_full(system);
}

}  // namespace venturi::base
