// Bytes at a place of a file, all of them: the system may move fewer with a call.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/descriptor_names.hpp"

namespace venturi::backend {

/// Calls `call(done, most)`, which moves at most so many bytes behind those that are done, until
/// all are. An errno; EIO if the file is shorter.
template <class Call>
int move_all(const Call& call, std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes;) {
    const ssize_t moved = call(done, std::min(bytes - done, kMostBytes));
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved < 0 ? errno : EIO;
    done += static_cast<std::uint64_t>(moved);
  }
  return 0;
}

/// All bytes to a place of a file. An errno.
inline int write_at(int file, std::span<const std::byte> data, std::uint64_t offset) {
  return move_all(
      [&](std::uint64_t done, std::uint64_t most) {
        return ::pwrite(file, data.data() + done, most, static_cast<off_t>(offset + done));
      },
      data.size());
}

/// All bytes from a place of a file. An errno; EIO if the file is shorter.
inline int read_at(int file, std::span<std::byte> data, std::uint64_t offset) {
  return move_all(
      [&](std::uint64_t done, std::uint64_t most) {
        return ::pread(file, data.data() + done, most, static_cast<off_t>(offset + done));
      },
      data.size());
}

}  // namespace venturi::backend
