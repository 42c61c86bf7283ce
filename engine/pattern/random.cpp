// Checks of random access, and its end where less was written than planned.
#include "pattern/random.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pattern/bound.hpp"

namespace venturi::pattern {

void check_slots(const SlotShape& shape) {
  if (shape.count == 0) return;
  if (shape.slots == 0) throw base::plan_error("pattern.slots", "random access needs a slot");
  std::uint64_t last = checked_product(shape.count - 1, shape.step);
  if (__builtin_add_overflow(last, shape.first, &last) || last > kMostBytes) beyond();
  if (!shape.replacement && last >= shape.slots) {
    throw base::plan_error("pattern.slots",
                           fmt::format("request {} is beyond the {} slots", last, shape.slots));
  }
  std::int64_t end = shape.base_bytes;
  if (end < 0) beyond();
  checked_add(end, static_cast<std::int64_t>(checked_product(shape.slots, shape.size_bytes)));
}

RandomCursor::RandomCursor(const Shape& shape, std::uint64_t key)
    : shape_(shape), key_(key), permutation_(shape.slots, key) {
  check_slots(shape);
}

std::uint64_t RandomCursor::digest() const noexcept {
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63U;
  std::uint64_t sum = key_;
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(shape_.base_bytes), shape_.slots, shape_.step, shape_.size_bytes,
        static_cast<std::uint64_t>(shape_.replacement)}) {
    sum = base::combine(sum, part);
  }
  return (sum & ~kTop) | 2U;
}

void RandomCursor::keep_within(std::uint64_t slots) {
  if (slots >= shape_.slots) return;
  shape_.slots = slots;
  permutation_ = Permutation(std::max<std::uint64_t>(slots, 1), key_);
  const std::uint64_t step = std::max<std::uint64_t>(shape_.step, 1);
  const std::uint64_t most = slots <= shape_.first ? 0 : (slots - shape_.first - 1) / step + 1;
  if (!shape_.replacement || slots == 0) shape_.count = std::min(shape_.count, most);
}

}  // namespace venturi::pattern
