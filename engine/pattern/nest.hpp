// Regular access: affine nests of loops over offsets.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "pattern/piece.hpp"

namespace venturi::pattern {

/// One level of a nest.
struct NestLevel {
  std::uint64_t count = 0;
  std::int64_t stride_bytes = 0;
  std::uint64_t index = 0;
};

/// The levels of a nest. A step makes one anew at each execution, so a few take no memory.
class NestLevels {
 public:
  NestLevels() = default;
  NestLevels(std::initializer_list<NestLevel> levels)
      : NestLevels(std::span(levels.begin(), levels.size())) {}
  NestLevels(const std::vector<NestLevel>& levels)
      : NestLevels(std::span(levels)) {}  // NOLINT: they are levels
  explicit NestLevels(std::span<const NestLevel> levels) : size_(levels.size()) {
    if (size_ > kFew) many_.resize(size_);
    std::ranges::copy(levels, data());
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] NestLevel& operator[](std::size_t place) noexcept { return data()[place]; }
  [[nodiscard]] const NestLevel& operator[](std::size_t place) const noexcept {
    return begin()[place];
  }
  [[nodiscard]] NestLevel& back() noexcept { return data()[size_ - 1]; }
  [[nodiscard]] const NestLevel* begin() const noexcept {
    return size_ > kFew ? many_.data() : few_.data();
  }
  [[nodiscard]] const NestLevel* end() const noexcept { return begin() + size_; }

 private:
  static constexpr std::size_t kFew = 2;

  [[nodiscard]] NestLevel* data() noexcept { return size_ > kFew ? many_.data() : few_.data(); }

  std::size_t size_ = 0;
  std::array<NestLevel, kFew> few_;
  std::vector<NestLevel> many_;
};

/// Regular access: offset = base + sum(index * stride), outermost level first.
class NestCursor {
 public:
  static constexpr bool kUniform = true;

  NestCursor(std::int64_t base_bytes, NestLevels levels, std::uint64_t size_bytes = 0);
  /// How many requests are left.
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  /// Ends after the first `requests`.
  void keep_within(std::uint64_t requests) noexcept { left_ = std::min(left_, requests); }
  /// The lowest and the highest offset of all requests.
  [[nodiscard]] std::int64_t lowest() const noexcept { return lowest_; }
  [[nodiscard]] std::int64_t highest() const noexcept { return highest_; }
  [[nodiscard]] const NestLevels& levels() const noexcept { return levels_; }
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
      NestLevel& turn = levels_[level - 1];
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
        NestLevel& turn = levels_.back();
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
  NestLevels levels_;
  std::uint64_t size_bytes_;
  std::int64_t offset_;
  std::uint64_t left_ = 1;
  std::uint64_t total_ = 1;
  std::int64_t lowest_;
  std::int64_t highest_;
};

}  // namespace venturi::pattern
