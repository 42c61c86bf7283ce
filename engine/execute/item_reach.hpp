// How far phases with a limit came with the items of a tree: later phases take those that exist.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <unordered_map>
#include <vector>

#include "comm/group.hpp"

namespace venturi::execute {

/// For each owner the positions of items that exist, as far as limits are concerned: those that
/// were made reach up to `high`, those below `low` were removed. Both are done in order, so two
/// numbers are enough, wherever the windows of the steps lie.
class ItemReach {
 public:
  struct Span {
    std::uint64_t low = 0;
    std::uint64_t high = std::numeric_limits<std::uint64_t>::max();
  };

  /// The owner's items are made anew from the first on.
  void restart(std::uint64_t owner) {
    marks_.erase(owner);
    agreed_.clear();
  }
  /// This rank made, or removed, the owner's items up to this position.
  void note_made(std::uint64_t owner, std::uint64_t end) {
    std::uint64_t& made = marks_[owner].made;
    made = std::max(made, end + 1);
  }
  void note_removed(std::uint64_t owner, std::uint64_t end) {
    std::uint64_t& removed = marks_[owner].removed;
    removed = std::max(removed, end);
  }
  /// A limit cut a phase short: all ranks tell each other what they did. Collective.
  void settle(comm::Group& group);
  /// Nothing is known any more.
  void forget() noexcept {
    marks_.clear();
    agreed_.clear();
  }
  [[nodiscard]] Span of(std::uint64_t owner) const noexcept {
    return agreed_.empty() ? Span{} : agreed_[owner];
  }

 private:
  struct Marks {
    /// One more than the end of what was made; 0 if this rank made nothing.
    std::uint64_t made = 0;
    std::uint64_t removed = 0;
  };

  std::unordered_map<std::uint64_t, Marks> marks_;
  std::vector<Span> agreed_;
};

/// Settles every tree of a family, in the same order on all ranks. Collective.
void settle_all(comm::Group& group, std::map<std::uint64_t, ItemReach>& reaches);

}  // namespace venturi::execute
