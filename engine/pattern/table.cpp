// Checks of a table before its first request.
#include "pattern/table.hpp"

#include "pattern/bound.hpp"

namespace venturi::pattern {

TableCursor::TableCursor(const std::vector<schema::TableRow>& rows, const Shape& shape)
    : rows_(&rows),
      base_bytes_(shape.base_bytes),
      stride_bytes_(shape.stride_bytes),
      left_(checked_product(rows.size(), shape.turns)) {
  if (left_ == 0) return;
  std::int64_t last_base = base_bytes_;
  checked_add(last_base, checked_reach(shape.turns, stride_bytes_));
  for (const schema::TableRow& row : rows) {
    for (std::int64_t end : {base_bytes_, last_base}) {
      checked_add(end, row.offset);
      if (end < 0) beyond();
      checked_add(end, row.bytes);
    }
  }
}

}  // namespace venturi::pattern
