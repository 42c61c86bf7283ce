// posix_fadvise asks the kernel to forget pages; mincore says whether it did.
#include "execute/cache.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "base/descriptor.hpp"
#include "pattern/name.hpp"

namespace venturi::execute {
namespace {

constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 30U;

/// Pages that another rank of the node is just dropping, or that wait in a per-processor list, are
/// passed over the first time.
constexpr int kAttempts = 5;

struct Pages {
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
};

/// Counts a file's pages in memory, a window at a time.
void count_pages(int file, Pages& pages) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> map;
  for (std::uint64_t begin = 0; begin < size; begin += kWindowBytes) {
    const std::uint64_t length = std::min(kWindowBytes, size - begin);
    void* window = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, file, static_cast<off_t>(begin));
    const std::uint64_t count = (length + page_bytes - 1) / page_bytes;
    map.assign(count, 1);
    pages.all += count;
    if (window != MAP_FAILED) {
      // If mincore cannot tell, the map still says that all pages are there: never claim cold.
      if (::mincore(window, length, map.data()) != 0) std::fill(map.begin(), map.end(), 1);
      ::munmap(window, length);
    }
    pages.resident +=
        std::accumulate(map.begin(), map.end(), std::uint64_t{0},
                        [](std::uint64_t sum, unsigned char page) { return sum + (page & 1U); });
  }
}

Residency residency_of(const Pages& pages) {
  if (pages.all == 0) return Residency::kNothing;
  if (pages.resident * 100 <= pages.all) return Residency::kStorage;
  return pages.resident * 10 >= pages.all * 9 ? Residency::kMemory : Residency::kPartly;
}

void drop_one(const std::string& name, Pages& pages) {
  const base::Descriptor file(::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return;
  ::fsync(file.get());  // dirty pages cannot be dropped
  Pages left;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
    left = {};
    count_pages(file.get(), left);
    if (residency_of(left) != Residency::kMemory && residency_of(left) != Residency::kPartly) break;
    const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  pages.all += left.all;
  pages.resident += left.resident;
}

void drop_tree(Context& context, const FileState& file, Pages& pages) {
  const schema::Tree& tree = *file.plan->tree;
  const std::string root = context.plan.directory + "/" + context.path_of(*file.plan);
  const std::uint64_t items = context.evaluator.count(tree.items, context.slots, "tree.items");
  pattern::ItemName name(context.group.rank());
  for (std::uint64_t node = 0; node < pattern::tree_nodes(tree.depth, tree.branch); ++node) {
    const std::string directory =
        root + pattern::tree_node_path(node, static_cast<std::uint64_t>(tree.branch)) + "/";
    for (std::uint64_t item = 0; item < items; ++item) {
      drop_one(directory + name(item), pages);
      context.tick(context.clock.now_ns());
    }
  }
}

}  // namespace

void drop_caches(Context& context, const std::vector<std::size_t>& files) {
  for (const std::size_t index : files) {
    FileState& file = context.files[index];
    if (file.plan->foreign || !file.storage->traits().real_files) continue;
    Pages pages;
    if (file.plan->tree) drop_tree(context, file, pages);
    for (const std::string& path : file.touched) {
      drop_one(context.plan.directory + "/" + path, pages);
      context.tick(context.clock.now_ns());
    }
    if (pages.all > 0) file.residency = residency_of(pages);
  }
}

CacheVerdict judge_cache(Context& context, const PhaseState& phase) {
  std::array<std::uint64_t, 6> seen{};
  std::copy(phase.read_from.begin(), phase.read_from.end(), seen.begin());
  seen[5] = static_cast<std::uint64_t>(phase.bypassed_cache);
  context.group.reduce(seen, comm::Reduction::kMaximum);
  const auto read_from = [&](Residency where) {
    return seen[static_cast<std::size_t>(where)] != 0;
  };
  const auto kinds =
      std::count_if(seen.begin(), seen.begin() + 5, [](std::uint64_t flag) { return flag != 0; });
  using enum schema::CacheState;
  if (kinds == 0) return {kNone, "nothing was read through the page cache"};
  if (kinds > 1 || read_from(Residency::kPartly)) {
    return {kMixed, kinds > 1 ? "data in different states was read"
                              : "pages were dropped, but some stayed in memory"};
  }
  if (read_from(Residency::kMemory)) {
    const bool dropped = phase.plan->cache == schema::CachePolicy::kDrop;
    return {kWarm, dropped ? "pages were to be dropped, but they stayed in memory"
                           : "the data was written or read before in this run and not dropped"};
  }
  if (read_from(Residency::kStorage)) {
    return {kCold, seen[5] != 0 ? "O_DIRECT passes by the page cache"
                                : "pages were dropped, and mincore confirmed that they are gone"};
  }
  return {kUnknown, read_from(Residency::kForeign)
                        ? "the data was made outside this run or on another node"
                        : "nothing is known about who wrote the data"};
}

}  // namespace venturi::execute
