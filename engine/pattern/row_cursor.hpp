// Requests whose sizes, and places where they have some, are columns of a loop's table.
#pragma once

#include <cstdint>

#include "pattern/piece.hpp"
#include "pattern/turn_columns.hpp"

namespace venturi::pattern {

/// A request for each of some rows that follow each other.
class RowCursor {
 public:
  static constexpr bool kUniform = false;

  /// Which rows, and what they say; the columns must live as long as the cursor.
  struct Rows {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    const RowNumbers* sizes = nullptr;
    /// Null: each request begins where the one before it ended.
    const RowNumbers* places = nullptr;
  };

  /// Sizes and places are not negative, and no request ends beyond 2^63; `start_bytes` is where the
  /// first one begins unless it has a place.
  RowCursor(const Rows& rows, std::uint64_t start_bytes) noexcept
      : rows_(rows), end_bytes_(start_bytes) {}

  [[nodiscard]] std::uint64_t left() const noexcept { return rows_.count; }
  /// The next request; only if `left()` > 0.
  Piece take() noexcept {
    const auto bytes = static_cast<std::uint64_t>(rows_.sizes->at(rows_.first));
    const std::uint64_t offset = rows_.places == nullptr
                                     ? end_bytes_
                                     : static_cast<std::uint64_t>(rows_.places->at(rows_.first));
    ++rows_.first;
    --rows_.count;
    end_bytes_ = offset + bytes;
    return {offset, bytes};
  }
  /// Where the last request that was taken ends.
  [[nodiscard]] std::uint64_t end_bytes() const noexcept { return end_bytes_; }

 private:
  Rows rows_;
  std::uint64_t end_bytes_;
};

}  // namespace venturi::pattern
