// The content of one file into another one, by whatever way the storage has.
#pragma once

#include "execute/context.hpp"

namespace venturi::execute {

/// An open file that nobody moved in yet, and an empty one.
struct CopyEnds {
  backend::Backend& from_storage;
  backend::Handle from;
  backend::Backend& to_storage;
  backend::Handle to;
  schema::CopyWay way;
};

/// How a copy ended.
struct CopyOutcome {
  /// What was measured last, or failed.
  schema::OperationKind kind = schema::OperationKind::kCopy;
  int error = 0;
  std::uint64_t bytes = 0;
  std::uint64_t operations = 0;
  /// When the last operation ended that went well.
  std::uint64_t end_ns = 0;
};

/// Copies all there is. It is measured as what it was: `clone` where blocks are shared, `copy`
/// where the kernel moved the bytes, else as the reads and writes that it took.
[[nodiscard]] CopyOutcome copy_content(Context& context, const CopyEnds& ends,
                                       std::uint64_t begin_ns);

}  // namespace venturi::execute
