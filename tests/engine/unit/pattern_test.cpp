// Patterns touch what they say, each byte once, and names come out as they are written.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"
#include "pattern/access.hpp"
#include "pattern/name.hpp"

namespace venturi::pattern {
namespace {

TEST(Mix, IsABijection) {
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const std::uint64_t x = i * 0x9e3779b97f4a7c15U + i;
    ASSERT_EQ(base::unmix(base::mix(x)), x);
  }
}

TEST(Permutation, IsABijectionForEverySizeAndKey) {
  for (std::uint64_t size = 1; size < 700; ++size) {
    const Permutation order(size, size * 77);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t at = order(i);
      ASSERT_LT(at, size);
      seen.insert(at);
    }
    ASSERT_EQ(seen.size(), size);
  }
}

TEST(Permutation, ShufflesAndDependsOnTheKey) {
  const Permutation a(10'000, 1);
  const Permutation b(10'000, 2);
  int fixed = 0;
  int equal = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    fixed += static_cast<int>(a(i) == i);
    equal += static_cast<int>(a(i) == b(i));
  }
  EXPECT_LT(fixed, 20);
  EXPECT_LT(equal, 20);
}

TEST(Uniform, IsFlat) {
  std::array<int, 7> counts{};
  for (std::uint64_t i = 0; i < 70'000; ++i) ++counts[base::uniform(3, i, 7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
}

TEST(Nest, AscendsIfNoRequestBeginsBeforeTheEndOfTheLast) {
  const auto ascends = [](std::vector<NestLevel> levels) {
    return NestCursor(1000, std::move(levels), 10).ascends();
  };
  EXPECT_TRUE(ascends({}));
  EXPECT_TRUE(ascends({{3, 10, 0}}));
  EXPECT_FALSE(ascends({{3, 9, 0}}));
  EXPECT_FALSE(ascends({{3, 0, 0}}));
  EXPECT_FALSE(ascends({{3, -10, 0}}));
  EXPECT_TRUE(ascends({{1, -10, 0}}));
  EXPECT_TRUE(ascends({{2, 30, 0}, {3, 10, 0}}));
  EXPECT_FALSE(ascends({{2, 29, 0}, {3, 10, 0}}));
  EXPECT_FALSE(ascends({{3, 10, 0}, {2, 30, 0}}));
  EXPECT_TRUE(ascends({{3, 10, 0}, {0, 1, 0}}));
}

TEST(Nest, ExpandsOutermostFirst) {
  NestCursor cursor(100, {{2, 1000, 0}, {3, 10, 0}});
  std::vector<std::uint64_t> offsets;
  while (cursor.left() > 0) offsets.push_back(cursor.next());
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{100, 110, 120, 1100, 1110, 1120}));
}

TEST(Nest, ManyAtOnceAreTheSameAsOneByOne) {
  for (const std::vector<NestLevel>& levels : {std::vector<NestLevel>{},
                                               {{7, 10, 0}},
                                               {{2, 1000, 0}, {3, -10, 0}},
                                               {{3, 1000, 0}, {1, 5, 0}, {4, 10, 0}},
                                               {{5, 10, 0}, {1, 7, 0}}}) {
    for (std::uint64_t most = 1; most < 9; ++most) {
      NestCursor one(100, levels);
      NestCursor many(100, levels);
      while (many.left() > 0) {
        many.next(std::min(most, many.left()),
                  [&](std::uint64_t offset) { EXPECT_EQ(offset, one.next()); });
        ASSERT_EQ(many.left(), one.left());
      }
    }
  }
}

TEST(Nest, StridesMayBeNegative) {
  NestCursor cursor(30, {{4, -10, 0}});
  EXPECT_EQ(cursor.lowest(), 0);
  std::vector<std::uint64_t> offsets;
  while (cursor.left() > 0) offsets.push_back(cursor.next());
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{30, 20, 10, 0}));
}

TEST(Nest, NoLevelIsOneRequestAndAnEmptyLevelIsNone) {
  EXPECT_EQ(NestCursor(5, {}).left(), 1U);
  EXPECT_EQ(NestCursor(5, {{3, 1, 0}, {0, 1, 0}}).left(), 0U);
}

TEST(Nest, OverflowIsAnError) {
  EXPECT_THROW(NestCursor(0, {{std::uint64_t{1} << 40U, std::int64_t{1} << 40U, 0}}), base::Error);
  EXPECT_THROW(NestCursor(0, {{std::uint64_t{1} << 40U, 0, 0}, {std::uint64_t{1} << 40U, 0, 0}}),
               base::Error);
}

TEST(RandomCursor, RefusesIndicesBeyondItsSlots) {
  RandomCursor::Shape shape{.slots = 10, .count = 5, .first = 1, .step = 3, .size_bytes = 8};
  EXPECT_THROW(RandomCursor(shape, 1), base::Error);
  shape.replacement = true;
  RandomCursor cursor(shape, 1);
  while (cursor.left() > 0) EXPECT_LT(cursor.next(), 80U);
}

TEST(Name, PathsThatLeaveTheDirectoryAreRefused) {
  for (const char* path : {"", "/etc", "..", "a/../b", "a//b", "./a", "a/", "a\nb"}) {
    EXPECT_NE(path_fault(path), nullptr) << path;
  }
  for (const char* path : {"a", "a/b", "..a", "a..", ".a"}) {
    EXPECT_EQ(path_fault(path), nullptr) << path;
  }
}

}  // namespace
}  // namespace venturi::pattern
