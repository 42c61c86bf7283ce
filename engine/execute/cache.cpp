// posix_fadvise asks the kernel to forget pages; then we count whether it did.
#include "execute/cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "base/descriptor.hpp"
#include "execute/item_reach.hpp"
#include "execute/page_count.hpp"
#include "pattern/tree.hpp"

namespace venturi::execute {
namespace {

/// Pages that another rank of the node is just dropping, or that wait in a per-processor list, are
/// passed over the first time.
constexpr int kAttempts = 5;
/// After so many files in a row that stayed (a file system in memory keeps all), none is waited
/// for.
constexpr int kPatience = 32;

Residency residency_of(const Pages& pages) {
  if (pages.all == 0) return Residency::kNothing;
  if (pages.resident * 100 <= pages.all) return Residency::kStorage;
  return pages.resident * 10 >= pages.all * 9 ? Residency::kMemory : Residency::kPartly;
}

/// Drops pages of one file after another, and learns where that is of no use.
class Dropping {
 public:
  void drop(const std::string& name) {
    const base::Descriptor file(
        ::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file) return;
    Pages left = attempt(file.get());
    if (left.resident > 0) {
      ::fsync(file.get());  // dirty pages cannot be dropped; with clean ones it would be a flush
      const int attempts = stuck_ < kPatience ? kAttempts : 1;
      for (int again = 0; again < attempts && stays(left); ++again) {
        if (again > 0) pause();
        left = attempt(file.get());
      }
    }
    if (left.all > 0) stuck_ = residency_of(left) == Residency::kMemory ? stuck_ + 1 : 0;
    pages_.all += left.all;
    pages_.resident += left.resident;
  }

  [[nodiscard]] const Pages& pages() const { return pages_; }

 private:
  static bool stays(const Pages& pages) {
    const Residency found = residency_of(pages);
    return found == Residency::kMemory || found == Residency::kPartly;
  }

  static Pages attempt(int descriptor) {
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    Pages left;
    count_pages(descriptor, left);
    return left;
  }

  static void pause() {
    const timespec time{.tv_sec = 0, .tv_nsec = 1'000'000};
    ::nanosleep(&time, nullptr);
  }

  Pages pages_;
  int stuck_ = 0;  // files in a row that stayed
};

/// Names that no rank made, because a limit ended their phase, are not looked for.
void drop_tree(Context& context, FileState& file, Dropping& dropping) {
  const schema::Tree& plan = *file.plan->tree;
  OpenTree& tree = file.trees.get(context, file);
  const std::uint64_t items = context.evaluator.count(plan.items, context.slots, "tree.items");
  const std::uint64_t first_node = pattern::first_item_node(plan);
  const std::uint64_t total = items * (pattern::tree_nodes(plan.depth, plan.branch) - first_node);
  std::uint64_t entered = std::numeric_limits<std::uint64_t>::max();
  std::string directory;
  const auto drop_part = [&](pattern::ItemPart part, ItemReach::Span there) {
    const std::uint64_t end = part.first + std::min(part.count, there.high);
    for (std::uint64_t at = part.first + std::min(part.count, there.low); at < end; ++at) {
      const std::uint64_t node = first_node + at / items;
      const std::uint64_t index = at % items;
      if (node != entered) directory = path_of_node(file, tree, node) + "/";
      entered = node;
      const char* name = tree.item_name(node, node * items + index, index);
      dropping.drop(fmt::format("{}/{}{}", context.plan.directory, directory, name));
      context.tick(context.clock.now_ns());
    }
  };
  const std::uint64_t ranks = context.group.size();
  switch (plan.owner) {
    case schema::ItemOwner::kRank:
      return drop_part({.count = total}, tree.reach->of(context.group.rank()));
    case schema::ItemOwner::kShared:
      return drop_part({.count = total}, {});
    case schema::ItemOwner::kAll:
      for (std::uint64_t owner = 0; owner < ranks; ++owner) {
        drop_part(pattern::item_part(total, ranks, owner), tree.reach->of(owner));
      }
  }
}

}  // namespace

void drop_caches(Context& context, const std::vector<std::size_t>& files) {
  for (const std::size_t index : files) {
    FileState& file = context.files[index];
    const backend::Traits traits = file.storage->traits();
    if (file.plan->foreign || !traits.real_files || traits.is_keyed) continue;
    Dropping dropping;
    if (file.plan->tree) drop_tree(context, file, dropping);
    for (const std::string& path : file.touched) {
      for (const std::string& part : file.plain->parts(path)) {
        dropping.drop(context.plan.directory + "/" + part);
      }
      context.tick(context.clock.now_ns());
    }
    const Pages& pages = dropping.pages();
    if (pages.all > 0) file.residency = residency_of(pages);
  }
}

namespace {

/// What is known of the files without looking at them. Collective.
CacheVerdict judge_notes(RankView& view, const PhaseState& phase) {
  std::array<std::uint64_t, 6> seen{};
  std::copy(phase.read_from.begin(), phase.read_from.end(), seen.begin());
  seen[5] = static_cast<std::uint64_t>(phase.bypassed_cache);
  view.group.reduce(seen, comm::Reduction::kMaximum);
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
    if (seen[5] != 0) return {kCold, "O_DIRECT passes by the page cache", {}, true};
    return {kCold, "pages were dropped, and counting confirmed that they are gone"};
  }
  return {kUnknown, read_from(Residency::kForeign)
                        ? "the data was made outside this run or on another node"
                        : "nothing is known about who wrote the data"};
}

/// What was counted before the phase, in place of what was noted about the files.
CacheVerdict judge_count(const Pages& pages, bool dropped) {
  const double share = static_cast<double>(pages.resident) / static_cast<double>(pages.all);
  const std::string text =
      fmt::format("{:.3g} % of the pages were in this node's memory", 100.0 * share);
  using enum schema::CacheState;
  switch (residency_of(pages)) {
    case Residency::kMemory:
      return {kWarm,
              dropped ? "pages were to be dropped, but they stayed in memory: " + text : text,
              share};
    case Residency::kPartly:
      return {kMixed, dropped ? "pages were dropped, but some stayed in memory: " + text : text,
              share};
    default:
      return {kCold, text, share};
  }
}

}  // namespace

CacheVerdict judge_cache(Context& context, const PhaseState& phase) {
  std::array<std::uint64_t, 3> counted{phase.to_read.pages.all, phase.to_read.pages.resident,
                                       static_cast<std::uint64_t>(phase.to_read.own)};
  context.group.reduce(counted, comm::Reduction::kSum);
  CacheVerdict verdict = judge_notes(context, phase);
  if (counted[0] == 0 || verdict.state == schema::CacheState::kNone) return verdict;
  const Pages pages{counted[0], std::min(counted[0], counted[1])};
  const bool dropped = phase.plan->cache == schema::CachePolicy::kDrop;
  CacheVerdict by_count = judge_count(pages, dropped);
  verdict.cached_share = by_count.cached_share;
  // No page here says nothing about the memory of whoever made the data.
  if (verdict.state == schema::CacheState::kUnknown) {
    verdict.reason += "; " + by_count.reason;
    by_count.reason = verdict.reason;
    if (by_count.state == schema::CacheState::kCold) return verdict;
  }
  if (verdict.bypassed) return verdict;
  if (counted[2] > 0 && by_count.state == schema::CacheState::kCold) {
    by_count.state = schema::CacheState::kMixed;
    by_count.reason += ", and what the phase wrote itself was read, too";
  }
  return by_count;
}

}  // namespace venturi::execute
