// Access by a table of offsets and sizes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pattern/piece.hpp"
#include "schema/plan.hpp"

namespace venturi::pattern {

/// The rows of a table in order, turn after turn, each turn `stride_bytes` further on.
class TableCursor {
 public:
  static constexpr bool kUniform = false;

  /// Where and how often.
  struct Shape {
    std::int64_t base_bytes = 0;
    std::int64_t stride_bytes = 0;
    std::uint64_t turns = 0;
  };

  /// `rows` must live as long as the cursor. Throws base::Error (exit 2) when an offset does not
  /// fit.
  TableCursor(const std::vector<schema::TableRow>& rows, const Shape& shape);
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  /// Ends after the first `requests`.
  void keep_within(std::uint64_t requests) noexcept { left_ = std::min(left_, requests); }
  /// The next request; only if `left()` > 0.
  Piece take() noexcept {
    const schema::TableRow& row = (*rows_)[row_];
    const Piece piece{static_cast<std::uint64_t>(base_bytes_ + row.offset),
                      static_cast<std::uint64_t>(row.bytes)};
    --left_;
    if (++row_ == rows_->size()) {
      row_ = 0;
      base_bytes_ += left_ > 0 ? stride_bytes_ : 0;
    }
    return piece;
  }

 private:
  const std::vector<schema::TableRow>* rows_;
  std::int64_t base_bytes_;
  std::int64_t stride_bytes_;
  std::uint64_t left_;
  std::size_t row_ = 0;
};

}  // namespace venturi::pattern
