// The ranks' agreement about items that a limit left unmade or in place.
#include "execute/item_reach.hpp"

#include <span>

namespace venturi::execute {

void ItemReach::settle(comm::Group& group) {
  const std::size_t ranks = group.size();
  std::vector<std::uint64_t> values(2 * ranks, 0);
  for (const auto& [owner, marks] : marks_) {
    values[owner] = marks.made;
    values[ranks + owner] = marks.removed;
  }
  group.reduce(std::span<std::uint64_t>(values), comm::Reduction::kMaximum);
  agreed_.assign(ranks, {});
  for (std::size_t owner = 0; owner < ranks; ++owner) {
    if (values[owner] > 0) agreed_[owner].high = values[owner] - 1;
    agreed_[owner].low = values[ranks + owner];
  }
}

void settle_all(comm::Group& group, std::map<std::uint64_t, ItemReach>& reaches) {
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  // Ranks that were stopped early know fewer trees of the family than others.
  auto mine = reaches.begin();
  while (true) {
    const std::uint64_t next = group.minimum(mine == reaches.end() ? kNone : mine->first);
    if (next == kNone) return;
    reaches[next].settle(group);
    mine = reaches.upper_bound(next);
  }
}

}  // namespace venturi::execute
