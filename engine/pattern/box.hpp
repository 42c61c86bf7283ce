// Walks over n-dimensional datasets: a cursor whose requests are boxes of elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pattern/dataset.hpp"
#include "pattern/expression.hpp"
#include "pattern/nest.hpp"
#include "pattern/piece.hpp"

namespace venturi::pattern {

/// Boxes of one shape that move along dimensions and from copy to copy, outermost level first.
class BoxCursor {
 public:
  /// One level of the walk.
  struct Level {
    /// -1 is the next copy.
    int dimension = 0;
    std::uint64_t count = 0;
    std::int64_t step = 0;
    std::uint64_t index = 0;
    std::int64_t step_bytes = 0;
  };

  static constexpr bool kUniform = true;

  /// As many pieces as `in_flight` stay valid at a time. Throws base::Error (exit 2) if a box
  /// leaves its dataset.
  BoxCursor(const DatasetLayout& layout, const Box& first, std::vector<Level> levels,
            std::size_t in_flight);

  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  /// Ends after the first `requests`.
  void keep_within(std::uint64_t requests) noexcept { left_ = std::min(left_, requests); }
  /// Where the bytes of all requests lie: one place for each run of bytes that lie together, in
  /// the order of the requests. Before the first was taken.
  [[nodiscard]] NestCursor places(const DatasetLayout& layout) const;

  /// The next request; only if `left()` > 0.
  Piece take() noexcept {
    Box& box = ring_[turn_];
    turn_ = turn_ + 1 < ring_.size() ? turn_ + 1 : 0;
    box = box_;
    const Piece piece{static_cast<std::uint64_t>(offset_), size_bytes_, &box};
    --left_;
    for (std::size_t level = levels_.size(); level > 0; --level) {
      Level& turn = levels_[level - 1];
      if (++turn.index < turn.count) {
        move(turn, 1);
        break;
      }
      move(turn, -static_cast<std::int64_t>(turn.count - 1));
      turn.index = 0;
    }
    return piece;
  }

 private:
  void move(const Level& level, std::int64_t times) noexcept {
    std::uint64_t& at =
        level.dimension < 0 ? box_.copy : box_.start[static_cast<std::size_t>(level.dimension)];
    at += static_cast<std::uint64_t>(level.step * times);
    offset_ += level.step_bytes * times;
  }

  std::vector<Level> levels_;
  Box box_;
  std::vector<Box> ring_;
  std::size_t turn_ = 0;
  std::uint64_t size_bytes_ = 1;
  std::int64_t offset_ = 0;
  std::uint64_t left_ = 1;
  std::uint64_t total_ = 1;
};

/// Evaluates a pattern of boxes. Throws base::Error (exit 2) if a box leaves its dataset or has
/// another size than `size_bytes`.
BoxCursor make_box_cursor(const schema::Box& pattern, const Slots& slots, std::uint64_t size_bytes,
                          const std::vector<schema::Dataset>& datasets, std::size_t in_flight);

}  // namespace venturi::pattern
