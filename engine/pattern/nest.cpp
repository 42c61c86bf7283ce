// Regular access, with every overflow caught before the first request.
#include "pattern/nest.hpp"

#include <utility>

#include "pattern/bound.hpp"

namespace venturi::pattern {

NestCursor::NestCursor(std::int64_t base_bytes, NestLevels levels, std::uint64_t size_bytes)
    : levels_(std::move(levels)),
      size_bytes_(size_bytes),
      offset_(base_bytes),
      lowest_(base_bytes),
      highest_(base_bytes) {
  for (const NestLevel& level : levels_) total_ = checked_product(total_, level.count);
  left_ = total_;
  if (total_ == 0) return;
  for (const NestLevel& level : levels_) {
    const std::int64_t reach = checked_reach(level.count, level.stride_bytes);
    checked_add(reach < 0 ? lowest_ : highest_, reach);
  }
}

bool NestCursor::ascends() const noexcept {
  if (total_ == 0) return true;
  // How far one turn of the levels inside reaches; offsets were checked, so it does not overflow.
  std::uint64_t span_bytes = size_bytes_;
  for (std::size_t i = levels_.size(); i-- > 0;) {
    const NestLevel& level = levels_[i];
    if (level.count == 1) continue;
    if (level.stride_bytes < 0) return false;
    const auto stride = static_cast<std::uint64_t>(level.stride_bytes);
    if (stride < span_bytes) return false;
    span_bytes += (level.count - 1) * stride;
  }
  return true;
}

}  // namespace venturi::pattern
