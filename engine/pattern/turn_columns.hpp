// What variables are in each row of a loop's table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pattern/expression.hpp"
#include "schema/plan.hpp"

namespace venturi::pattern {

/// One column of a loop's table.
class RowNumbers {
 public:
  /// Of the variable in this slot; `bytes` holds the numbers, `width` bytes each.
  RowNumbers(std::size_t slot, std::size_t width, std::string bytes)
      : slot_(slot), width_(width), bytes_(std::move(bytes)) {}

  [[nodiscard]] std::size_t slot() const noexcept { return slot_; }
  [[nodiscard]] std::int64_t at(std::uint64_t row) const noexcept {
    switch (width_) {
      case 1:
        return number<std::int8_t>(row);
      case 2:
        return number<std::int16_t>(row);
      case 4:
        return number<std::int32_t>(row);
      default:
        return number<std::int64_t>(row);
    }
  }
  /// How many rows from `row` on have the number that it has; at most `most`, all of them there.
  [[nodiscard]] std::uint64_t alike(std::uint64_t row, std::uint64_t most) const noexcept;

 private:
  template <class Integer>
  [[nodiscard]] Integer number(std::uint64_t row) const noexcept {
    Integer found = 0;
    std::memcpy(&found, bytes_.data() + row * sizeof(Integer), sizeof(Integer));
    return found;
  }
  template <class Integer>
  [[nodiscard]] std::uint64_t alike_as(std::uint64_t row, std::uint64_t most) const noexcept;

  std::size_t slot_;
  std::size_t width_;
  std::string bytes_;
};

/// The columns of a loop's table, ready to be taken row by row.
class TurnColumns {
 public:
  TurnColumns() = default;
  /// Of `rows` rows. Throws base::Error (exit 2) at `where` if a column does not have
  /// a number for each.
  TurnColumns(const std::vector<schema::TurnColumn>& columns, std::uint64_t rows,
              const std::string& where);
  /// Gives the variables the numbers of a row.
  void set(Slots& slots, std::uint64_t row) const;
  /// They are 0 outside of the loop.
  void reset(Slots& slots) const;
  /// The column of a variable; null if it has none.
  [[nodiscard]] const RowNumbers* find(std::size_t slot) const noexcept;
  /// How many rows from `row` on are like it in all columns but those of `free` slots; at most
  /// `most`, all of them there.
  [[nodiscard]] std::uint64_t alike(std::uint64_t row, std::uint64_t most,
                                    std::span<const std::size_t> free) const noexcept;

 private:
  std::vector<RowNumbers> columns_;
};

}  // namespace venturi::pattern
