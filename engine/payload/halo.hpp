// A rank's array as applications have it: its cells between guard cells, variables side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pattern/expression.hpp"
#include "schema/plan.hpp"

namespace venturi::payload {

/// Checks the numbers and expressions once; `slots` is how many there are. Throws base::Error
/// (exit 2).
void check(const schema::Halo& halo, std::size_t slots, const std::string& where);

/// Walks over the cells of an array in the order of the file: variable by variable, each in
/// row-major order, again from the first variable on after the last.
class HaloCursor {
 public:
  /// Throws base::Error (exit 2) if the array does not fit into 2^63 - 1 bytes.
  HaloCursor(const schema::Halo& halo, pattern::Evaluator& evaluator, const pattern::Slots& slots);

  /// Bytes of the array, with its guard cells and all variables.
  [[nodiscard]] std::uint64_t array_bytes() const noexcept { return array_bytes_; }

  /// Fills `out`, whole cells, from the next cells of the array.
  void pack(const std::byte* array, std::span<std::byte> out);
  /// Puts `in`, whole cells, into the next cells of the array.
  void unpack(std::byte* array, std::span<const std::byte> in);

 private:
  struct Dimension {
    std::uint64_t extent = 0;
    std::uint64_t stride_bytes = 0;
    std::uint64_t index = 0;
  };

  /// Calls `move(at, done, cells)` for cells of a row: where the first one is in the array, how
  /// many bytes were walked over before.
  template <class Move>
  void walk(std::uint64_t bytes, const Move& move);
  /// After the last cell of a row.
  void next_row() noexcept;

  std::uint64_t element_bytes_;
  std::uint64_t variables_;
  std::vector<Dimension> dimensions_;
  /// Of the first cell behind the guard cells.
  std::uint64_t first_bytes_ = 0;
  /// Of the current row of the first variable.
  std::uint64_t row_bytes_ = 0;
  std::uint64_t variable_ = 0;
  std::uint64_t array_bytes_ = 0;
};

}  // namespace venturi::payload
