// Sizes of the items of a tree: one for all, or a distribution that is exact in every block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/random.hpp"

namespace venturi::pattern {

/// Of as many items in order as the weights add up to, exactly `weight` have a share's size. Each
/// such block of items goes through the shares in an even spread that is turned by a keyed amount,
/// so a reader knows the size and the totals are known without a list.
class ItemSizes {
 public:
  /// Forgets the shares; all items have this size until shares are added.
  void restart(std::uint64_t bytes, std::uint64_t key) noexcept {
    shares_.clear();
    most_bytes_ = bytes;
    key_ = key;
  }
  void add(std::uint64_t bytes, std::uint64_t weight) {
    const std::uint64_t before = shares_.empty() ? 0 : shares_.back().end;
    most_bytes_ = shares_.empty() ? bytes : std::max(most_bytes_, bytes);
    shares_.push_back({before + weight, bytes});
    stride_ = stride_of(before + weight);
  }
  /// The size of the item at a position of its owner.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t position) const noexcept {
    if (shares_.empty()) return most_bytes_;
    const std::uint64_t period = shares_.back().end;
    const std::uint64_t turn = base::combine(key_, position / period) % period;
    const std::uint64_t at = (position % period * stride_ + turn) % period;
    std::size_t share = 0;
    while (at >= shares_[share].end) ++share;
    return shares_[share].bytes;
  }
  [[nodiscard]] std::uint64_t most_bytes() const noexcept { return most_bytes_; }

 private:
  struct Share {
    std::uint64_t end;
    std::uint64_t bytes;
  };

  /// Near the golden section of the period, and without a common factor with it.
  static std::uint64_t stride_of(std::uint64_t period) noexcept {
    std::uint64_t stride = period * 5 / 8 + 1;
    while (std::gcd(stride, period) != 1) ++stride;
    return stride;
  }

  std::vector<Share> shares_;
  std::uint64_t most_bytes_ = 0;
  std::uint64_t key_ = 0;
  std::uint64_t stride_ = 1;
};

}  // namespace venturi::pattern
