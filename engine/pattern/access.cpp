// Evaluation of patterns, with every overflow caught before the first request.
#include "pattern/access.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/error.hpp"

namespace venturi::pattern {
namespace {

constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

[[noreturn]] void beyond() {
  throw base::plan_error("pattern", "an offset is negative or beyond 2^63 - 1 bytes");
}

std::int64_t checked_reach(std::uint64_t count, std::int64_t stride) {
  std::int64_t reach = 0;
  if (count > kMost || __builtin_mul_overflow(static_cast<std::int64_t>(count - 1), stride, &reach))
    beyond();
  return reach;
}

void checked_add(std::int64_t& to, std::int64_t what) {
  if (__builtin_add_overflow(to, what, &to)) beyond();
}

std::uint64_t checked_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > kMost) {
    throw base::plan_error("pattern", "the number of requests does not fit into 63 bits");
  }
  return product;
}

Cursor make_nest(const schema::Nest& nest, const Slots& slots, std::uint64_t size_bytes) {
  Evaluator evaluator;
  const std::int64_t base = evaluator.integer(nest.base, slots, "pattern.base");
  std::vector<NestCursor::Level> levels;
  levels.reserve(nest.loops.size());
  for (const schema::Loop& loop : nest.loops) {
    levels.push_back({evaluator.count(loop.count, slots, "pattern.loops.count"),
                      evaluator.integer(loop.stride, slots, "pattern.loops.stride"), 0});
  }
  NestCursor cursor(base, std::move(levels));
  if (cursor.total() > 0) {
    std::int64_t end = cursor.highest();
    if (size_bytes > kMost || cursor.lowest() < 0) beyond();
    checked_add(end, static_cast<std::int64_t>(size_bytes));
  }
  return cursor;
}

}  // namespace

NestCursor::NestCursor(std::int64_t base_bytes, std::vector<Level> levels)
    : levels_(std::move(levels)), offset_(base_bytes), lowest_(base_bytes), highest_(base_bytes) {
  for (const Level& level : levels_) total_ = checked_product(total_, level.count);
  left_ = total_;
  if (total_ == 0) return;
  for (const Level& level : levels_) {
    const std::int64_t reach = checked_reach(level.count, level.stride_bytes);
    checked_add(reach < 0 ? lowest_ : highest_, reach);
  }
}

RandomCursor::RandomCursor(const Shape& shape, std::uint64_t key)
    : shape_(shape), key_(key), permutation_(shape.slots, key) {
  if (shape.count == 0) return;
  if (shape.slots == 0) throw base::plan_error("pattern.slots", "random access needs a slot");
  std::uint64_t last = checked_product(shape.count - 1, shape.step);
  if (__builtin_add_overflow(last, shape.first, &last) || last > kMost) beyond();
  if (!shape.replacement && last >= shape.slots) {
    throw base::plan_error("pattern.slots",
                           fmt::format("request {} is beyond the {} slots", last, shape.slots));
  }
  std::int64_t end = shape.base_bytes;
  if (end < 0) beyond();
  checked_add(end, static_cast<std::int64_t>(checked_product(shape.slots, shape.size_bytes)));
}

Cursor make_cursor(const schema::Pattern& pattern, const Slots& slots, std::uint64_t size_bytes,
                   std::uint64_t key) {
  if (const auto* nest = std::get_if<schema::Nest>(&pattern.value)) {
    return make_nest(*nest, slots, size_bytes);
  }
  const auto& random = std::get<schema::Random>(pattern.value);
  Evaluator evaluator;
  RandomCursor::Shape shape;
  shape.base_bytes = evaluator.integer(random.base, slots, "pattern.base");
  shape.slots = evaluator.count(random.slots, slots, "pattern.slots");
  shape.count = evaluator.count(random.count, slots, "pattern.count");
  shape.first = evaluator.count(random.first, slots, "pattern.first");
  shape.step = evaluator.count(random.step, slots, "pattern.step");
  shape.size_bytes = size_bytes;
  shape.replacement = random.replacement;
  return RandomCursor(shape, key);
}

}  // namespace venturi::pattern
