// cachestat counts in the kernel; mincore fills a map that we count.
#include "execute/page_count.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace venturi::execute {
namespace {

constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 30U;
/// The system's headers may be older than the kernel.
constexpr long kCachestatCall = 451;

struct CachestatRange {
  std::uint64_t offset;
  std::uint64_t length;
};

struct Cachestat {
  std::uint64_t cached;
  std::uint64_t dirty;
  std::uint64_t written_back;
  std::uint64_t evicted;
  std::uint64_t recently_evicted;
};

/// A window of a file; if mincore cannot tell, all of it counts.
std::uint64_t resident_in(int file, std::uint64_t begin, std::uint64_t length,
                          std::vector<unsigned char>& map) {
  std::fill(map.begin(), map.end(), 1);
  void* window = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, file, static_cast<off_t>(begin));
  if (window != MAP_FAILED) {
    if (::mincore(window, length, map.data()) != 0) std::fill(map.begin(), map.end(), 1);
    ::munmap(window, length);
  }
  return std::accumulate(map.begin(), map.end(), std::uint64_t{0},
                         [](std::uint64_t sum, unsigned char page) { return sum + (page & 1U); });
}

/// Pages that hold data: the holes of a sparse file are in no memory and on no storage. A file
/// system that does not say what it allocated has no holes as far as we know.
std::uint64_t data_pages(const struct stat& status, std::uint64_t page_bytes) {
  constexpr std::uint64_t kBlockBytes = 512;  // the unit of st_blocks
  const std::uint64_t all =
      (static_cast<std::uint64_t>(status.st_size) + page_bytes - 1) / page_bytes;
  const std::uint64_t allocated_bytes = static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes;
  return allocated_bytes == 0 ? all
                              : std::min(all, (allocated_bytes + page_bytes - 1) / page_bytes);
}

}  // namespace

void count_pages(int file, Pages& pages) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t all = data_pages(status, page_bytes);
  pages.all += all;
  CachestatRange range{0, size};
  Cachestat found{};
  if (size > 0 && ::syscall(kCachestatCall, file, &range, &found, 0U) == 0) {
    pages.resident += std::min(found.cached, all);
    return;
  }
  std::vector<unsigned char> map;
  for (std::uint64_t begin = 0; begin < size; begin += kWindowBytes) {
    const std::uint64_t length = std::min(kWindowBytes, size - begin);
    map.resize((length + page_bytes - 1) / page_bytes);
    pages.resident += resident_in(file, begin, length, map);
  }
}

}  // namespace venturi::execute
