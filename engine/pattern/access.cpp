// From a step of the plan to the cursor of its requests.
#include "pattern/access.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "pattern/bound.hpp"

namespace venturi::pattern {
namespace {

NestCursor make_nest(const schema::Nest& nest, const Circumstances& at) {
  Evaluator evaluator;
  const std::int64_t base = evaluator.integer(nest.base, at.slots, "pattern.base");
  std::vector<NestLevel> levels;
  levels.reserve(nest.loops.size());
  for (const schema::Loop& loop : nest.loops) {
    levels.push_back({evaluator.count(loop.count, at.slots, "pattern.loops.count"),
                      evaluator.integer(loop.stride, at.slots, "pattern.loops.stride"), 0});
  }
  NestCursor cursor(base, std::move(levels), at.size_bytes);
  if (cursor.total() > 0) {
    std::int64_t end = cursor.highest();
    if (at.size_bytes > kMostBytes || cursor.lowest() < 0) beyond();
    checked_add(end, static_cast<std::int64_t>(at.size_bytes));
  }
  return cursor;
}

SlotShape slot_shape(const schema::Random& random, const Circumstances& at) {
  Evaluator evaluator;
  return {.base_bytes = evaluator.integer(random.base, at.slots, "pattern.base"),
          .slots = evaluator.count(random.slots, at.slots, "pattern.slots"),
          .count = evaluator.count(random.count, at.slots, "pattern.count"),
          .first = evaluator.count(random.first, at.slots, "pattern.first"),
          .step = evaluator.count(random.step, at.slots, "pattern.step"),
          .size_bytes = at.size_bytes,
          .replacement = random.replacement};
}

TableCursor make_table(const schema::Table& table, const Circumstances& at) {
  Evaluator evaluator;
  const TableCursor::Shape shape{
      .base_bytes = evaluator.integer(table.base, at.slots, "pattern.base"),
      .stride_bytes = evaluator.integer(table.stride, at.slots, "pattern.stride"),
      .turns = evaluator.count(table.turns, at.slots, "pattern.turns")};
  return {table.rows, shape};
}

/// Requests of one size behind each other.
NestCursor make_run(std::uint64_t base_bytes, std::uint64_t count, std::uint64_t size_bytes) {
  if (base_bytes > kMostBytes || size_bytes > kMostBytes) beyond();
  const auto stride = static_cast<std::int64_t>(size_bytes);
  NestCursor cursor(static_cast<std::int64_t>(base_bytes), {{count, stride, 0}}, size_bytes);
  std::int64_t end = cursor.highest();
  checked_add(end, stride);
  return cursor;
}

/// Requests one behind the other: their beginning and their number.
struct Run {
  std::uint64_t base_bytes = 0;
  std::uint64_t count = 0;
};

/// Nothing if the pattern is another one.
std::optional<Run> run_of(const schema::Pattern& pattern, const Circumstances& at) {
  Evaluator evaluator;
  if (const auto* packed = std::get_if<schema::Packed>(&pattern.value)) {
    return Run{evaluator.count(packed->base, at.slots, "pattern.base"),
               evaluator.count(packed->count, at.slots, "pattern.count")};
  }
  if (const auto* append = std::get_if<schema::Append>(&pattern.value)) {
    return Run{at.start_bytes, evaluator.count(append->count, at.slots, "pattern.count")};
  }
  if (const auto* sequential = std::get_if<schema::Sequential>(&pattern.value)) {
    return Run{at.start_bytes, evaluator.count(sequential->count, at.slots, "pattern.count")};
  }
  return std::nullopt;
}

Cursor make_uniform(const schema::Pattern& pattern, const Circumstances& at) {
  if (const auto* nest = std::get_if<schema::Nest>(&pattern.value)) return make_nest(*nest, at);
  if (const auto* table = std::get_if<schema::Table>(&pattern.value)) return make_table(*table, at);
  if (const auto* random = std::get_if<schema::Random>(&pattern.value)) {
    const SlotShape shape = slot_shape(*random, at);
    if (random->zipf > 0.0) return ZipfCursor(shape, random->zipf, at.key);
    return RandomCursor(shape, at.key);
  }
  if (const auto run = run_of(pattern, at)) {
    return make_run(run->base_bytes, run->count, at.size_bytes);
  }
  return make_box_cursor(std::get<schema::Box>(pattern.value), at.slots, at.size_bytes, at.datasets,
                         at.in_flight);
}

/// Where the requests of a mix lie, and how many there are.
std::pair<MixedCursor::Places, std::uint64_t> mixed_places(const schema::Pattern& pattern,
                                                           const Circumstances& at) {
  if (const auto run = run_of(pattern, at)) return {PackedPlaces(run->base_bytes), run->count};
  Cursor cursor = make_uniform(pattern, at);
  if (auto* nest = std::get_if<NestCursor>(&cursor)) return {*nest, nest->total()};
  if (auto* zipf = std::get_if<ZipfCursor>(&cursor)) return {*zipf, zipf->left()};
  if (auto* random = std::get_if<RandomCursor>(&cursor)) return {*random, random->left()};
  throw base::plan_error("pattern", "this pattern has no mix of sizes or directions");
}

}  // namespace

Cursor make_cursor(const schema::Transfer& step, const Circumstances& at) {
  if (step.mix.empty() && step.reads == 0.0) return make_uniform(step.pattern, at);
  Evaluator evaluator;
  std::vector<Distribution::Part> parts;
  for (const schema::MixPart& part : step.mix) {
    const std::uint64_t bytes = evaluator.count(part.bytes, at.slots, "mix.bytes");
    if (bytes > at.size_bytes) throw base::plan_error("mix.bytes", "is above the step's 'size'");
    parts.push_back({bytes, static_cast<std::uint64_t>(part.weight)});
  }
  if (parts.empty()) parts.push_back({at.size_bytes, 1});
  auto [places, count] = mixed_places(step.pattern, at);
  Distribution distribution(count, parts, step.reads, at.own_key);
  if (const auto run = run_of(step.pattern, at)) {
    std::uint64_t end = run->base_bytes;
    if (__builtin_add_overflow(end, distribution.total_bytes(), &end) || end > kMostBytes) beyond();
  }
  return MixedCursor(std::move(places), std::move(distribution), at.size_bytes);
}

}  // namespace venturi::pattern
