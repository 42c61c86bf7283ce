// Which bytes a rank touches and in which order: cursors over offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "pattern/box.hpp"
#include "pattern/expression.hpp"
#include "pattern/mix.hpp"
#include "pattern/nest.hpp"
#include "pattern/random.hpp"
#include "pattern/table.hpp"
#include "pattern/zipf.hpp"

namespace venturi::pattern {

/// Any of them. All have `left`, `take` and `keep_within`, and say whether all their requests have
/// the same size and direction.
using Cursor =
    std::variant<NestCursor, RandomCursor, ZipfCursor, TableCursor, MixedCursor, BoxCursor>;

/// What a cursor depends on beside its pattern.
struct Circumstances {
  const Slots& slots;
  /// Bytes of the largest request.
  std::uint64_t size_bytes = 0;
  /// Chooses the places of random access, the same for all ranks that share a file.
  std::uint64_t key = 0;
  /// Chooses this rank's order of sizes and directions.
  std::uint64_t own_key = 0;
  /// Where requests begin that go on: at the file's end, or at its position.
  std::uint64_t start_bytes = 0;
  /// What boxes lie in.
  const std::vector<schema::Dataset>& datasets;
  /// So many pieces are in use at a time.
  std::size_t in_flight = 1;
};

/// The requests of a step. Throws base::Error (exit 2) if an offset would be negative or beyond
/// 2^63, or a box outside its dataset.
Cursor make_cursor(const schema::Transfer& step, const Circumstances& at);

}  // namespace venturi::pattern
