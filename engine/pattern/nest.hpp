// Regular access: affine nests of loops over offsets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pattern/piece.hpp"

namespace venturi::pattern {

/// Regular access: offset = base + sum(index * stride), outermost level first.
class NestCursor {
 public:
  static constexpr bool kUniform = true;

  /// One level of the nest.
  struct Level {
    std::uint64_t count = 0;
    std::int64_t stride_bytes = 0;
    std::uint64_t index = 0;
  };

  NestCursor(std::int64_t base_bytes, std::vector<Level> levels, std::uint64_t size_bytes = 0);
  /// How many requests are left.
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  /// Ends after the first `requests`.
  void keep_within(std::uint64_t requests) noexcept { left_ = std::min(left_, requests); }
  /// The lowest and the highest offset of all requests.
  [[nodiscard]] std::int64_t lowest() const noexcept { return lowest_; }
  [[nodiscard]] std::int64_t highest() const noexcept { return highest_; }
  [[nodiscard]] const std::vector<Level>& levels() const noexcept { return levels_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  /// Whether each request begins at the end of the one before it, or further on.
  [[nodiscard]] bool ascends() const noexcept;

  /// The next request; only if `left()` > 0.
  Piece take() noexcept { return {next(), size_bytes_}; }
  /// Its offset alone.
  std::uint64_t next() noexcept {
    const auto offset = static_cast<std::uint64_t>(offset_);
    --left_;
    for (std::size_t level = levels_.size(); level > 0; --level) {
      Level& turn = levels_[level - 1];
      if (++turn.index < turn.count) {
        offset_ += turn.stride_bytes;
        break;
      }
      offset_ -= turn.stride_bytes * static_cast<std::int64_t>(turn.count - 1);
      turn.index = 0;
    }
    return offset;
  }
  /// Calls `each` with the offsets of the next `count` requests, of at most `left()`. The innermost
  /// level is a loop of its own, because most requests differ from the one before by its stride.
  template <class Each>
  void next(std::uint64_t count, const Each& each) noexcept {
    while (count > 0) {
      std::uint64_t straight = 0;
      if (!levels_.empty()) {
        Level& turn = levels_.back();
        straight = std::min(count, turn.count - 1 - turn.index);
        for (std::uint64_t i = 0; i < straight; ++i, offset_ += turn.stride_bytes) {
          each(static_cast<std::uint64_t>(offset_));
        }
        turn.index += straight;
      }
      left_ -= straight;
      count -= straight;
      if (count == 0) return;
      each(next());
      --count;
    }
  }

 private:
  std::vector<Level> levels_;
  std::uint64_t size_bytes_;
  std::int64_t offset_;
  std::uint64_t left_ = 1;
  std::uint64_t total_ = 1;
  std::int64_t lowest_;
  std::int64_t highest_;
};

}  // namespace venturi::pattern
