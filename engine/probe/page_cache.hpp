// How much of a range of a file is in this host's page cache, without bringing anything into it.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "probe/ring.hpp"

namespace venturi::probe {

/// kCached, kCacheUnknown or 0, by cachestat (Linux 6.5). It sees this host's page cache alone.
inline std::uint8_t cache_flags(int file, std::uint64_t offset, std::uint64_t bytes) noexcept {
  constexpr long kCachestat = 451;
  struct Range {
    std::uint64_t offset;
    std::uint64_t bytes;
  } const range{offset, bytes};
  struct Pages {
    std::uint64_t cached, dirty, writeback, evicted, recently_evicted;
  } pages{};
  if (::syscall(kCachestat, file, &range, &pages, 0) != 0) return kCacheUnknown;
  return pages.cached > 0 ? kCached : 0;
}

}  // namespace venturi::probe
