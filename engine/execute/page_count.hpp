// How much of a file is in the operating system's page cache.
#pragma once

#include <cstdint>

namespace venturi::execute {

/// Pages of files, and those of them that are in memory.
struct Pages {
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
};

/// What a rank will read in a phase.
struct ToRead {
  /// Of files that it does not write in the phase: what is in memory now will be then.
  Pages pages = {};
  /// Whether it also reads files that it writes.
  bool own = false;
};

/// Adds an open file's pages; asks cachestat (Linux 6.5), else mincore. Where neither can tell, all
/// pages count as resident, so that nothing is called cold that may not be.
void count_pages(int file, Pages& pages);

}  // namespace venturi::execute
