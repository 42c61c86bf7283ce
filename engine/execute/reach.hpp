// How far a phase with a limit came with a file: later phases use no more than was made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "comm/group.hpp"

namespace venturi::execute {

/// For each rank, how many bytes (or items of a tree) it made before a limit stopped it. Amounts
/// count from the beginning of the rank's part, in the order in which it was made.
class Reach {
 public:
  /// The file is made anew: nothing is known to be missing.
  void restart() noexcept {
    made_.clear();
    limits_.clear();
  }
  /// In the running phase `amount` more was made in the place of rank `owner`.
  void note(std::uint64_t owner, std::uint64_t ranks, std::uint64_t amount) {
    made_.resize(ranks, 0);
    made_[owner] += amount;
  }
  /// A phase ended that a limit cut short: all ranks tell each other what they made. Collective.
  void settle(comm::Group& group) {
    made_.resize(group.size(), 0);
    group.reduce(std::span<std::uint64_t>(made_), comm::Reduction::kMaximum);
    const bool any = std::any_of(made_.begin(), made_.end(), [](auto made) { return made > 0; });
    if (any) limits_ = made_;
    made_.clear();
  }
  /// Whether a limit cut the file short.
  [[nodiscard]] bool is_cut() const noexcept { return !limits_.empty(); }
  /// How much of the part of rank `owner` there is.
  [[nodiscard]] std::uint64_t of(std::uint64_t owner) const noexcept {
    return is_cut() ? limits_[owner] : std::numeric_limits<std::uint64_t>::max();
  }

 private:
  std::vector<std::uint64_t> made_;
  std::vector<std::uint64_t> limits_;
};

}  // namespace venturi::execute
