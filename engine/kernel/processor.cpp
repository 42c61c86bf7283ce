// What the system says of the processor.
#include "kernel/processor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <string>

namespace venturi::kernel {
namespace {

std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// `32K` or `1024K` or `32M` as bytes; 0 for anything else.
std::uint64_t bytes_of(const std::string& text) {
  const std::uint64_t number = std::strtoull(text.c_str(), nullptr, 10);
  if (text.ends_with('K')) return number << 10U;
  return text.ends_with('M') ? number << 20U : number;
}

/// What the system can give without swapping, within the limit of the control group; 0 where it
/// does not say.
std::uint64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::uint64_t available = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("MemAvailable:")) continue;
    available = std::strtoull(line.c_str() + std::strlen("MemAvailable:"), nullptr, 10) << 10U;
  }
  const std::uint64_t limit =
      std::strtoull(line_of("/sys/fs/cgroup/memory.max").c_str(), nullptr, 10);
  return limit == 0 ? available : std::min(available, limit);
}

}  // namespace

std::vector<Cache> data_caches() {
  std::vector<Cache> caches;
  std::set<std::string> seen;
  const long processors = ::sysconf(_SC_NPROCESSORS_CONF);
  for (long processor = 0; processor < processors; ++processor) {
    for (int index = 0; index < 8; ++index) {
      const std::string at =
          fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", processor, index);
      const std::uint64_t level = bytes_of(line_of(at + "level"));
      const std::uint64_t bytes = bytes_of(line_of(at + "size"));
      const std::string sharers = line_of(at + "shared_cpu_list");
      if (level == 0 || bytes == 0 || line_of(at + "type") == "Instruction") continue;
      if (!seen.insert(fmt::format("{} {}", level, sharers)).second) continue;
      const auto same = std::find_if(caches.begin(), caches.end(),
                                     [&](const Cache& cache) { return cache.level == level; });
      if (same == caches.end()) {
        caches.push_back({level, bytes, 1});
      } else {
        ++same->count;
      }
    }
  }
  std::sort(caches.begin(), caches.end(),
            [](const Cache& one, const Cache& other) { return one.level < other.level; });
  return caches;
}

std::uint64_t last_level_bytes(const std::vector<Cache>& caches) {
  constexpr std::uint64_t kUnknown = 32U << 20U;
  return caches.empty() ? kUnknown : caches.back().bytes * caches.back().count;
}

void note_memory(const std::vector<Cache>& caches, schema::KernelResult& out) {
  for (const Cache& cache : caches) {
    out.facts.push_back(
        {fmt::format("cache L{}, bytes", cache.level), std::to_string(cache.bytes)});
    out.facts.push_back(
        {fmt::format("cache L{}, count", cache.level), std::to_string(cache.count)});
  }
  out.facts.push_back({"page, bytes", std::to_string(::sysconf(_SC_PAGESIZE))});
  const std::string huge = line_of("/sys/kernel/mm/transparent_hugepage/enabled");
  out.facts.push_back({"transparent huge pages", huge.empty() ? "unavailable" : huge});
}

void note_placement(comm::Group& group, schema::KernelResult& out) {
  const comm::Placement& placement = group.placement();
  std::string nodes;
  for (const std::size_t node : placement.node_of_rank) nodes += fmt::format(" {}", node);
  out.facts.push_back({"node of each rank", nodes.empty() ? "" : nodes.substr(1)});
  const std::vector<int> processors = group.gather(::sched_getcpu());
  out.facts.push_back({"processor of each rank", fmt::format("{}", fmt::join(processors, " "))});
  for (std::size_t node = 0; node < placement.hosts.size(); ++node) {
    out.facts.push_back({fmt::format("host of node {}", node), placement.hosts[node]});
  }
}

void check_memory(const comm::Group& group, std::uint64_t bytes_of_rank, const std::string& what) {
  const auto& nodes = group.placement().node_of_rank;
  const auto sharers =
      static_cast<std::uint64_t>(std::count(nodes.begin(), nodes.end(), nodes[group.rank()]));
  const std::uint64_t there = available_bytes();
  if (there == 0 || bytes_of_rank <= there / sharers) return;
  throw base::Error({.code = "kernel",
                     .message = fmt::format("{} needs {} MiB of memory on this node, which has {} "
                                            "MiB available",
                                            what, (bytes_of_rank * sharers) >> 20U, there >> 20U),
                     .hint = "choose a smaller size, or leave this kernel out",
                     .exit_code = base::kExitFailed});
}

Pinned::Pinned(const comm::Group& group) {
  if (::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  std::vector<int> usable;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &before_)) usable.push_back(processor);
  }
  const auto& nodes = group.placement().node_of_rank;
  const auto own = nodes.begin() + static_cast<std::ptrdiff_t>(group.rank());
  const auto place = static_cast<std::size_t>(std::count(nodes.begin(), own, *own));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(usable[place % usable.size()], &one);
  is_pinned_ = ::sched_setaffinity(0, sizeof one, &one) == 0;
}

Pinned::~Pinned() {
  if (is_pinned_) ::sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace venturi::kernel
