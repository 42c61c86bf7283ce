// Evaluation of patterns of boxes; no box may leave its dataset.
#include "pattern/box.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace venturi::pattern {
namespace {

constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::string name_of(int dimension) {
  return dimension < 0 ? "the copies" : fmt::format("dimension {}", dimension);
}

[[noreturn]] void leaves(int dimension, std::uint64_t most) {
  throw base::plan_error(
      "pattern", fmt::format("a box leaves its dataset: {} end at {}", name_of(dimension), most));
}

/// What the levels of one dimension add at least and at most; both beyond any dataset if they
/// overflow.
std::pair<std::int64_t, std::int64_t> reach_of(const std::vector<BoxCursor::Level>& levels,
                                               int dimension, std::uint64_t most) {
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  for (const BoxCursor::Level& level : levels) {
    if (level.dimension != dimension) continue;
    std::int64_t reach = 0;
    if (level.count - 1 > kMost ||
        __builtin_mul_overflow(static_cast<std::int64_t>(level.count - 1), level.step, &reach) ||
        __builtin_add_overflow(reach < 0 ? lowest : highest, reach,
                               reach < 0 ? &lowest : &highest)) {
      leaves(dimension, most);
    }
  }
  return {lowest, highest};
}

/// Refuses a walk along one dimension that begins at `start` unless all of it is within 0 and
/// `most`.
void check_reach(const std::vector<BoxCursor::Level>& levels, int dimension, std::uint64_t start,
                 std::uint64_t extent, std::uint64_t most) {
  const auto [lowest, highest] = reach_of(levels, dimension, most);
  const bool fits = start <= kMost && extent <= most && start <= most - extent &&
                    lowest >= -static_cast<std::int64_t>(start) &&
                    static_cast<std::uint64_t>(highest) <= most - extent - start;
  if (!fits) leaves(dimension, most);
}

}  // namespace

BoxCursor::BoxCursor(const DatasetLayout& layout, const Box& first, std::vector<Level> levels,
                     std::size_t in_flight)
    : levels_(std::move(levels)),
      box_(first),
      ring_(std::max<std::size_t>(1, in_flight)),
      size_bytes_(layout.element_bytes()) {
  for (const Level& level : levels_) {
    if (__builtin_mul_overflow(total_, level.count, &total_) || total_ > kMost) {
      throw base::plan_error("pattern", "the number of requests does not fit into 63 bits");
    }
  }
  left_ = total_;
  if (total_ == 0) return;
  check_reach(levels_, -1, box_.copy, 1, layout.copies());
  for (std::size_t dimension = 0; dimension < box_.dimensions; ++dimension) {
    check_reach(levels_, static_cast<int>(dimension), box_.start[dimension], box_.extent[dimension],
                layout.extent(dimension));
    size_bytes_ *= box_.extent[dimension];
  }
  for (Level& level : levels_) {
    const std::uint64_t stride =
        level.dimension < 0 ? layout.copy_bytes()
                            : layout.stride_bytes(static_cast<std::size_t>(level.dimension));
    // A level of one turn may have any step; it is never taken.
    if (level.count > 1) level.step_bytes = level.step * static_cast<std::int64_t>(stride);
  }
  offset_ = static_cast<std::int64_t>(layout.offset_of(box_));
}

NestCursor BoxCursor::places(const DatasetLayout& layout) const {
  std::vector<NestLevel> levels;
  levels.reserve(levels_.size());
  for (const Level& level : levels_) levels.push_back({level.count, level.step_bytes, 0});
  const std::size_t outer = layout.run_dimension(box_);
  for (std::size_t dimension = 0; dimension < outer; ++dimension) {
    const auto stride = static_cast<std::int64_t>(layout.stride_bytes(dimension));
    levels.push_back({box_.extent[dimension], stride, 0});
  }
  return {offset_, std::move(levels), box_.extent[outer] * layout.stride_bytes(outer)};
}

BoxCursor make_box_cursor(const schema::Box& pattern, const Slots& slots, std::uint64_t size_bytes,
                          const std::vector<schema::Dataset>& datasets, std::size_t in_flight) {
  const DatasetLayout layout(datasets, static_cast<std::size_t>(pattern.dataset));
  if (pattern.start.size() != layout.dimensions() || pattern.extent.size() != layout.dimensions()) {
    throw base::plan_error("pattern", fmt::format("the dataset has {} dimensions, the box another "
                                                  "number",
                                                  layout.dimensions()));
  }
  Evaluator evaluator;
  Box box;
  box.dataset = static_cast<std::size_t>(pattern.dataset);
  box.copy =
      pattern.first_copy ? evaluator.count(*pattern.first_copy, slots, "pattern.first_copy") : 0;
  box.dimensions = layout.dimensions();
  for (std::size_t dimension = 0; dimension < box.dimensions; ++dimension) {
    box.start[dimension] = evaluator.count(pattern.start[dimension], slots, "pattern.start");
    box.extent[dimension] = evaluator.count(pattern.extent[dimension], slots, "pattern.extent");
  }
  std::vector<BoxCursor::Level> levels;
  for (const schema::BoxLoop& loop : pattern.loops) {
    if (loop.dimension >= static_cast<std::int64_t>(box.dimensions)) {
      throw base::plan_error("pattern.loops.dimension",
                             fmt::format("there is no dimension {}", loop.dimension));
    }
    levels.push_back({static_cast<int>(loop.dimension),
                      evaluator.count(loop.count, slots, "pattern.loops.count"),
                      evaluator.integer(loop.step, slots, "pattern.loops.step")});
  }
  BoxCursor cursor(layout, box, std::move(levels), in_flight);
  if (cursor.total() == 0) return cursor;
  std::uint64_t bytes = layout.element_bytes();
  for (std::size_t d = 0; d < box.dimensions; ++d) bytes *= box.extent[d];
  if (bytes == size_bytes && bytes > 0) return cursor;
  throw base::plan_error(
      "size", fmt::format("a box of {} bytes, but requests of {} bytes", bytes, size_bytes));
}

}  // namespace venturi::pattern
