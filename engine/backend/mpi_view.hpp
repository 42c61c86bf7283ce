// MPI file views: a file seen as nothing but the places of one rank's regular access.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "pattern/nest.hpp"

namespace venturi::backend {

/// What a file looks like to one rank: its places behind each other, with nothing between them.
class MpiView {
 public:
  /// Places that ascend (`NestCursor::ascends`).
  explicit MpiView(const pattern::NestCursor& nest);

  bool operator==(const MpiView&) const = default;

  /// Where a byte of one of the places stands in the view; the view's unit is the byte, so that
  /// the rest of a short request can be named, too.
  [[nodiscard]] MPI_Offset position_of(std::uint64_t offset) const noexcept;
  /// Shows a file so. Collective; an MPI result.
  [[nodiscard]] int set(MPI_File file) const;

 private:
  struct Level {
    std::uint64_t count = 0;
    std::uint64_t stride_bytes = 0;

    bool operator==(const Level&) const = default;
  };

  /// MPI counts turns with an `int`; those of the outermost level are not counted.
  [[nodiscard]] bool is_countable() const noexcept;

  std::uint64_t base_bytes_;
  std::uint64_t place_bytes_;
  /// Levels of more than one turn, the outermost first; none: one place.
  std::vector<Level> levels_;
};

}  // namespace venturi::backend
