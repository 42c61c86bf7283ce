// What variables are in each row of a loop's table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pattern/expression.hpp"
#include "schema/plan.hpp"

namespace venturi::pattern {

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

 private:
  struct Numbers {
    std::size_t slot = 0;
    /// Bytes of each.
    std::size_t width = 0;
    std::string bytes;
  };
  std::vector<Numbers> columns_;
};

}  // namespace venturi::pattern
