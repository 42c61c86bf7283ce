// Which bytes a rank touches and in which order: cursors over offsets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "pattern/expression.hpp"
#include "pattern/permutation.hpp"

namespace venturi::pattern {

/// Regular access: offset = base + sum(index * stride), outermost level first.
class NestCursor {
 public:
  /// One level of the nest.
  struct Level {
    std::uint64_t count = 0;
    std::int64_t stride_bytes = 0;
    std::uint64_t index = 0;
  };

  NestCursor(std::int64_t base_bytes, std::vector<Level> levels);
  /// How many requests are left.
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  /// Ends after the first `requests`.
  void keep_within(std::uint64_t requests) noexcept { left_ = std::min(left_, requests); }
  /// The lowest and the highest offset of all requests.
  [[nodiscard]] std::int64_t lowest() const noexcept { return lowest_; }
  [[nodiscard]] std::int64_t highest() const noexcept { return highest_; }

  /// The next offset; only if `left()` > 0.
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

 private:
  std::vector<Level> levels_;
  std::int64_t offset_;
  std::uint64_t left_ = 1;
  std::uint64_t total_ = 1;
  std::int64_t lowest_;
  std::int64_t highest_;
};

/// Random access over slots of `size_bytes`; the same slots whatever the number of ranks.
class RandomCursor {
 public:
  /// The numbers of a `random` pattern.
  struct Shape {
    std::int64_t base_bytes = 0;
    std::uint64_t slots = 0;
    std::uint64_t count = 0;
    std::uint64_t first = 0;
    std::uint64_t step = 0;
    std::uint64_t size_bytes = 0;
    bool replacement = false;
  };

  /// Throws base::Error (exit 2) when an offset or an index does not fit.
  RandomCursor(const Shape& shape, std::uint64_t key);
  [[nodiscard]] std::uint64_t left() const noexcept { return shape_.count - done_; }
  /// Touches only the first `slots` slots; without replacement, each at most once.
  void keep_within(std::uint64_t slots) {
    if (slots >= shape_.slots) return;
    shape_.slots = slots;
    permutation_ = Permutation(std::max<std::uint64_t>(slots, 1), key_);
    const std::uint64_t most =
        slots <= shape_.first
            ? 0
            : (slots - shape_.first - 1) / std::max<std::uint64_t>(shape_.step, 1) + 1;
    if (!shape_.replacement || slots == 0) shape_.count = std::min(shape_.count, most);
  }
  std::uint64_t next() noexcept {
    const std::uint64_t index = shape_.first + done_ * shape_.step;
    ++done_;
    const std::uint64_t slot =
        shape_.replacement ? base::uniform(key_, index, shape_.slots) : permutation_(index);
    return static_cast<std::uint64_t>(shape_.base_bytes) + slot * shape_.size_bytes;
  }

 private:
  Shape shape_;
  std::uint64_t key_;
  Permutation permutation_;
  std::uint64_t done_ = 0;
};

/// Either of them.
using Cursor = std::variant<NestCursor, RandomCursor>;

/// Evaluates a pattern for requests of `size_bytes`. `key` chooses the random order. Throws
/// base::Error (exit 2) if an offset would be negative or beyond 2^63.
Cursor make_cursor(const schema::Pattern& pattern, const Slots& slots, std::uint64_t size_bytes,
                   std::uint64_t key);

}  // namespace venturi::pattern
