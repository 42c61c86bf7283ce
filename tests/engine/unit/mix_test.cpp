// Mixes have their exact shares; tables are turned through; peers are on other nodes.
#include "pattern/mix.hpp"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "pattern/neighbour.hpp"
#include "pattern/table.hpp"

namespace venturi::pattern {
namespace {

std::map<std::pair<std::uint64_t, bool>, std::uint64_t> counts(const Distribution& distribution) {
  std::map<std::pair<std::uint64_t, bool>, std::uint64_t> found;
  for (std::uint64_t i = 0; i < distribution.count(); ++i) {
    const Kind kind = distribution(i);
    ++found[{kind.bytes, kind.turned}];
  }
  return found;
}

TEST(Distribution, GivesEachKindItsExactShare) {
  for (std::uint64_t count = 0; count < 300; ++count) {
    const Distribution distribution(count, {{4096, 7}, {512, 2}, {65536, 1}}, 0.3, count);
    const auto found = counts(distribution);
    std::uint64_t reads = 0;
    std::uint64_t large = 0;
    std::uint64_t bytes = 0;
    for (const auto& [kind, times] : found) {
      reads += kind.second ? times : 0;
      large += kind.first == 65536 ? times : 0;
      bytes += kind.first * times;
    }
    EXPECT_EQ(reads, static_cast<std::uint64_t>(static_cast<double>(count) * 0.3 + 0.5));
    EXPECT_EQ(large, count - count * 9 / 10);
    EXPECT_EQ(distribution.total_bytes(), bytes);
  }
}

TEST(Distribution, OrdersDependOnTheKey) {
  const Distribution a(1000, {{1, 1}, {2, 1}}, 0.0, 1);
  const Distribution b(1000, {{1, 1}, {2, 1}}, 0.0, 2);
  int equal = 0;
  int changes = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    equal += static_cast<int>(a(i).bytes == b(i).bytes);
    changes += static_cast<int>(i > 0 && a(i).bytes != a(i - 1).bytes);
  }
  EXPECT_NEAR(equal, 500, 80);
  EXPECT_NEAR(changes, 500, 80);
}

TEST(MixedCursor, PacksItsRequestsOneBehindTheOther) {
  MixedCursor cursor(PackedPlaces(100), Distribution(50, {{10, 1}, {3, 4}}, 0.0, 7), 10);
  std::uint64_t next = 100;
  while (cursor.left() > 0) {
    const Piece piece = cursor.take();
    ASSERT_EQ(piece.offset, next);
    next += piece.bytes;
  }
  EXPECT_EQ(next, 100U + 10 * 10 + 40 * 3);
  EXPECT_EQ(cursor.taken_bytes(), next - 100);
}

TEST(MixedCursor, EndsWhereLessWasWritten) {
  MixedCursor cursor(PackedPlaces(0), Distribution(50, {{10, 1}, {3, 4}}, 0.0, 7), 10);
  cursor.keep_within(4);
  while (cursor.left() > 0) {
    const Piece piece = cursor.take();
    EXPECT_LE(piece.offset + piece.bytes, 40U);
  }
  EXPECT_GT(cursor.taken_bytes(), 30U);
  MixedCursor none(PackedPlaces(0), Distribution(50, {{10, 1}, {3, 4}}, 0.0, 7), 10);
  none.keep_within(0);
  EXPECT_EQ(none.left(), 0U);
}

TEST(MixedCursor, TouchesThePlacesOfItsPattern) {
  const RandomCursor::Shape shape{.slots = 64, .count = 64, .step = 1, .size_bytes = 4096};
  MixedCursor cursor(RandomCursor(shape, 3), Distribution(64, {{512, 1}, {4096, 1}}, 0.5, 9), 4096);
  RandomCursor plain(shape, 3);
  std::uint64_t reads = 0;
  while (cursor.left() > 0) {
    const Piece piece = cursor.take();
    EXPECT_EQ(piece.offset, plain.next());
    reads += static_cast<std::uint64_t>(piece.turned);
  }
  EXPECT_EQ(reads, 32U);
}

TEST(TableCursor, TurnsThroughItsRows) {
  std::vector<schema::TableRow> rows(2);
  rows[0].offset = 100;
  rows[0].bytes = 8;
  rows[1].offset = 0;
  rows[1].bytes = 16;
  TableCursor cursor(rows, {.base_bytes = 1000, .stride_bytes = 200, .turns = 2});
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  while (cursor.left() > 0) {
    const Piece piece = cursor.take();
    found.emplace_back(piece.offset, piece.bytes);
  }
  EXPECT_EQ(found, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                       {1100, 8}, {1000, 16}, {1300, 8}, {1200, 16}}));
  EXPECT_THROW(TableCursor(rows, {.base_bytes = -50, .turns = 1}), base::Error);
  EXPECT_THROW(TableCursor(rows, {.stride_bytes = std::int64_t{1} << 62U, .turns = 9}),
               base::Error);
}

TEST(Neighbours, PeersAreAtTheSamePlaceOfTheNextNode) {
  const Neighbours uneven({4, 4, 4, 9, 9, 2});
  const std::vector<std::int64_t> next{3, 4, 3, 5, 5, 0};
  const std::vector<std::int64_t> second{5, 5, 5, 0, 1, 3};
  for (std::int64_t rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(uneven.same_slot_next_node(rank, 1), next[static_cast<std::size_t>(rank)]) << rank;
    EXPECT_EQ(uneven.same_slot_next_node(rank, 2), second[static_cast<std::size_t>(rank)]) << rank;
    EXPECT_EQ(uneven.same_slot_next_node(rank, -2), uneven.same_slot_next_node(rank, 1));
  }
  EXPECT_EQ(uneven.same_slot_next_node(2, 3), 2);
  EXPECT_EQ(uneven.same_slot_next_node(2, 4), 3);
  EXPECT_EQ(Neighbours({7, 7, 7}).same_slot_next_node(2, 1), 0);
  EXPECT_EQ(uneven.same_slot_next_node(5, 3), 5);
  EXPECT_THROW(static_cast<void>(uneven.same_slot_next_node(6, 1)), std::domain_error);
  EXPECT_THROW(static_cast<void>(Neighbours().same_slot_next_node(0, 1)), std::domain_error);
}

TEST(Neighbours, PeersOfEvenNodesAreAPermutation) {
  const Neighbours even({0, 1, 2, 0, 1, 2, 0, 1, 2});
  std::vector<int> hits(9, 0);
  for (std::int64_t rank = 0; rank < 9; ++rank) {
    ++hits[static_cast<std::size_t>(even.same_slot_next_node(rank, 1))];
  }
  EXPECT_EQ(hits, std::vector<int>(9, 1));
}

TEST(Neighbours, StrangersAreOnOtherNodesAndAllAsLikely) {
  const Neighbours map({0, 0, 0, 1, 1, 2});
  std::vector<int> hits(6, 0);
  for (std::uint64_t key = 0; key < 30'000; ++key) {
    ++hits[static_cast<std::size_t>(map.random_remote_rank(1, base::mix(key)))];
  }
  EXPECT_EQ(hits[0] + hits[1] + hits[2], 0);
  for (std::size_t rank = 3; rank < 6; ++rank) EXPECT_NEAR(hits[rank], 10'000, 400);
  const Neighbours one_node({5, 5, 5});
  std::vector<int> near(3, 0);
  for (std::uint64_t key = 0; key < 3000; ++key) {
    ++near[static_cast<std::size_t>(one_node.random_remote_rank(1, base::mix(key)))];
  }
  for (const int count : near) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace
}  // namespace venturi::pattern
