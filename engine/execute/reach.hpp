// How far a phase with a limit came with a file: later phases use no more than was made.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "comm/group.hpp"

namespace venturi::execute {

/// For each rank, how many bytes it made before a limit stopped it, in the order in which they were
/// made: from the beginning of the rank's part, or in one random order.
class Reach {
 public:
  /// An order of bytes; every other number is the digest of a random one
  /// (`pattern::RandomCursor::digest`).
  static constexpr std::uint64_t kNothing = 0;
  static constexpr std::uint64_t kFromBeginning = 1;
  /// Nobody can say which bytes are there.
  static constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

  /// The file is made anew: nothing is known to be missing.
  void restart() noexcept {
    made_.clear();
    limits_.clear();
    order_ = kNothing;
    is_new_ = true;
  }
  /// Data was written that no limit cut short. From here on random writes leave no gaps, as far as
  /// this knows.
  void note_unlimited() noexcept { is_new_ = false; }
  /// In the running phase `amount` more was made in the place of rank `owner`. Who makes the same
  /// random places again makes nothing more.
  void note(std::uint64_t owner, std::uint64_t ranks, std::uint64_t amount, std::uint64_t order) {
    const bool ascends = order == kFromBeginning;
    if (!ascends && !is_new_) return;
    made_.resize(ranks, 0);
    made_[owner] = ascends ? made_[owner] + amount : std::max(made_[owner], amount);
    order_ = order_ == kNothing || order_ == order ? order : kUnknown;
  }
  /// A phase ended that a limit cut short: all ranks tell each other what they made. Collective.
  void settle(comm::Group& group) {
    made_.resize(group.size(), 0);
    group.reduce(std::span<std::uint64_t>(made_), comm::Reduction::kMaximum);
    std::array<std::uint64_t, 2> orders{order_, order_ == kNothing ? kNothing : ~order_};
    group.reduce(orders, comm::Reduction::kMaximum);
    const bool any = std::any_of(made_.begin(), made_.end(), [](auto made) { return made > 0; });
    if (any) {
      limits_ = made_;
      order_of_limits_ = orders[0] == ~orders[1] ? orders[0] : kUnknown;
    }
    made_.clear();
    order_ = kNothing;
  }
  /// A phase ended that did all its work.
  void finish() noexcept {
    if (order_ != kNothing) is_new_ = false;
  }
  /// Whether a limit cut the file short.
  [[nodiscard]] bool is_cut() const noexcept { return !limits_.empty(); }
  /// In which order what is there was made; only of a file that was cut short.
  [[nodiscard]] std::uint64_t order() const noexcept { return order_of_limits_; }
  /// How much of the part of rank `owner` there is.
  [[nodiscard]] std::uint64_t of(std::uint64_t owner) const noexcept {
    return is_cut() ? limits_[owner] : std::numeric_limits<std::uint64_t>::max();
  }

 private:
  std::vector<std::uint64_t> made_;
  std::vector<std::uint64_t> limits_;
  std::uint64_t order_ = kNothing;
  std::uint64_t order_of_limits_ = kNothing;
  /// Made by this run, and nothing but what a limit may cut short was written yet.
  bool is_new_ = false;
};

}  // namespace venturi::execute
