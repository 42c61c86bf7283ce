// Regular access, with every overflow caught before the first request.
#include "pattern/nest.hpp"

#include <utility>

#include "pattern/bound.hpp"

namespace venturi::pattern {

NestCursor::NestCursor(std::int64_t base_bytes, std::vector<Level> levels, std::uint64_t size_bytes)
    : levels_(std::move(levels)),
      size_bytes_(size_bytes),
      offset_(base_bytes),
      lowest_(base_bytes),
      highest_(base_bytes) {
  for (const Level& level : levels_) total_ = checked_product(total_, level.count);
  left_ = total_;
  if (total_ == 0) return;
  for (const Level& level : levels_) {
    const std::int64_t reach = checked_reach(level.count, level.stride_bytes);
    checked_add(reach < 0 ? lowest_ : highest_, reach);
  }
}

}  // namespace venturi::pattern
