// Boxes stay inside their dataset, cover what they say, and their runs are where the elements lie.
#include "pattern/box.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "base/error.hpp"

namespace venturi::pattern {
namespace {

schema::Dataset dataset(std::vector<std::int64_t> shape, std::int64_t copies,
                        schema::ElementType type = schema::ElementType::kF64) {
  schema::Dataset made;
  made.name = "d";
  made.copies = copies;
  made.type = type;
  made.shape = std::move(shape);
  return made;
}

Box box(std::vector<std::uint64_t> start, std::vector<std::uint64_t> extent) {
  Box made;
  made.dimensions = start.size();
  std::copy(start.begin(), start.end(), made.start.begin());
  std::copy(extent.begin(), extent.end(), made.extent.begin());
  return made;
}

/// The offsets of a box's elements, one by one, in the order of memory.
std::vector<std::uint64_t> offsets_by_hand(const DatasetLayout& layout, const Box& which) {
  std::vector<std::uint64_t> offsets;
  std::uint64_t elements = 1;
  for (std::size_t d = 0; d < which.dimensions; ++d) elements *= which.extent[d];
  for (std::uint64_t number = 0; number < elements; ++number) {
    Box one = which;
    std::uint64_t rest = number;
    for (std::size_t d = which.dimensions; d > 0; --d) {
      one.start[d - 1] += rest % which.extent[d - 1];
      rest /= which.extent[d - 1];
    }
    offsets.push_back(layout.offset_of(one));
  }
  return offsets;
}

TEST(DatasetLayout, RunsAreTheElementsInOrder) {
  std::mt19937 draw(7);
  const auto up_to = [&](std::uint64_t most) { return draw() % most; };
  for (int round = 0; round < 2000; ++round) {
    const std::size_t dimensions = 1 + up_to(4);
    std::vector<std::int64_t> shape;
    Box which;
    which.dimensions = dimensions;
    for (std::size_t d = 0; d < dimensions; ++d) {
      shape.push_back(static_cast<std::int64_t>(1 + up_to(5)));
      which.start[d] = up_to(static_cast<std::uint64_t>(shape[d]));
      which.extent[d] = 1 + up_to(static_cast<std::uint64_t>(shape[d]) - which.start[d]);
    }
    which.copy = up_to(3);
    const DatasetLayout layout({dataset({3, 2}, 2), dataset(shape, 3, schema::ElementType::kI16)},
                               1);
    std::vector<std::uint64_t> found;
    std::uint64_t expected_at = 0;
    layout.for_each_run(which, [&](std::uint64_t offset, std::uint64_t at, std::uint64_t bytes) {
      EXPECT_EQ(at, expected_at);
      expected_at += bytes;
      for (std::uint64_t b = 0; b < bytes; b += 2) found.push_back(offset + b);
    });
    ASSERT_EQ(found, offsets_by_hand(layout, which));
    EXPECT_GE(found.front(), 2U * 3 * 2 * 8);
  }
}

TEST(BoxCursor, SlabsOfAllCopiesCoverTheDatasetOnce) {
  const std::vector<schema::Dataset> datasets{dataset({4, 6, 5}, 3)};
  const DatasetLayout layout(datasets, 0);
  BoxCursor cursor(layout, box({0, 0, 0}, {1, 3, 5}), {{-1, 3, 1}, {0, 4, 1}, {1, 2, 3}}, 2);
  EXPECT_EQ(cursor.total(), 24U);
  std::map<std::uint64_t, int> touched;
  std::uint64_t last = 0;
  while (cursor.left() > 0) {
    const Piece piece = cursor.take();
    EXPECT_EQ(piece.bytes, 3U * 5 * 8);
    EXPECT_EQ(piece.offset, layout.offset_of(*piece.box));
    EXPECT_TRUE(last == 0 || piece.offset > last);
    last = piece.offset;
    layout.for_each_run(*piece.box, [&](std::uint64_t offset, std::uint64_t, std::uint64_t bytes) {
      for (std::uint64_t b = 0; b < bytes; b += 8) ++touched[offset + b];
    });
  }
  EXPECT_EQ(touched.size(), 3U * 4 * 6 * 5);
  for (const auto& [offset, times] : touched) EXPECT_EQ(times, 1) << offset;
}

TEST(BoxCursor, PiecesStayValidWhileTheyAreInFlight) {
  const std::vector<schema::Dataset> datasets{dataset({16}, 1)};
  BoxCursor cursor(DatasetLayout(datasets, 0), box({15}, {1}), {{0, 16, -1}}, 4);
  std::vector<const Box*> flight;
  for (std::uint64_t i = 0; i < 4; ++i) flight.push_back(cursor.take().box);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(flight[i]->start[0], 15 - i);
}

TEST(BoxCursor, RefusesToLeaveTheDataset) {
  const std::vector<schema::Dataset> datasets{dataset({4, 6}, 2)};
  const DatasetLayout layout(datasets, 0);
  const auto make = [&](const Box& first, std::vector<BoxCursor::Level> levels) {
    return BoxCursor(layout, first, std::move(levels), 1);
  };
  EXPECT_NO_THROW(make(box({0, 0}, {4, 6}), {{-1, 2, 1}}));
  EXPECT_NO_THROW(make(box({3, 5}, {1, 1}), {{0, 4, -1}, {1, 6, -1}}));
  EXPECT_THROW(make(box({0, 0}, {4, 6}), {{-1, 3, 1}}), base::Error);
  EXPECT_THROW(make(box({1, 0}, {4, 6}), {}), base::Error);
  EXPECT_THROW(make(box({0, 0}, {1, 7}), {}), base::Error);
  EXPECT_THROW(make(box({0, 1}, {1, 3}), {{1, 2, 3}}), base::Error);
  EXPECT_THROW(make(box({0, 1}, {1, 3}), {{1, 2, -2}}), base::Error);
  EXPECT_THROW(make(box({0, 0}, {1, 1}), {{0, 2, 1LL << 62}}), base::Error);
  EXPECT_THROW(make(box({0, 0}, {1, 1}), {{0, 3, 1LL << 62}, {0, 3, 1LL << 62}}), base::Error);
  EXPECT_THROW(make(box({~0ULL, 0}, {1, 1}), {}), base::Error);
}

TEST(BoxCursor, NothingIsInvalidWhereNothingIsDone) {
  const std::vector<schema::Dataset> datasets{dataset({4}, 1)};
  BoxCursor cursor(DatasetLayout(datasets, 0), box({9}, {9}), {{0, 0, 1}}, 1);
  EXPECT_EQ(cursor.left(), 0U);
}

}  // namespace
}  // namespace venturi::pattern
