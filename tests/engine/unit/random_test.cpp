// Random access: every order and every place as likely as it should be, on any number of ranks.
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "base/error.hpp"
#include "pattern/random.hpp"
#include "pattern/zipf.hpp"

namespace venturi::pattern {
namespace {

/// How far a chi-squared sum lies above its mean, in standard deviations.
double excess(double chi_squared, double freedom) {
  return (chi_squared - freedom) / std::sqrt(2.0 * freedom);
}

double chi_squared(const std::vector<double>& seen, const std::vector<double>& wanted) {
  double sum = 0.0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    sum += (seen[i] - wanted[i]) * (seen[i] - wanted[i]) / wanted[i];
  }
  return sum;
}

TEST(Permutation, EveryOrderOfFewPlacesIsAsLikely) {
  constexpr int kKeys = 60'000;
  for (const std::uint64_t size : {2U, 3U, 4U, 5U}) {
    std::map<std::vector<std::uint64_t>, double> orders;
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const Permutation permutation(size, base::combine(key, 9));
      std::vector<std::uint64_t> order;
      for (std::uint64_t i = 0; i < size; ++i) order.push_back(permutation(i));
      ++orders[order];
    }
    double count = 1;
    for (std::uint64_t i = 2; i <= size; ++i) count *= static_cast<double>(i);
    ASSERT_EQ(orders.size(), static_cast<std::size_t>(count));
    std::vector<double> seen;
    for (const auto& [order, times] : orders) seen.push_back(times);
    const std::vector<double> wanted(seen.size(), kKeys / count);
    EXPECT_LT(std::abs(excess(chi_squared(seen, wanted), count - 1)), 5.0) << size;
  }
}

TEST(Permutation, PairsOfPlacesAreAsLikelyAsTheyShouldBe) {
  constexpr std::size_t kCells = 16;
  constexpr int kKeys = 400'000;
  for (const std::uint64_t size : {100U, 300U, 1024U, 5000U}) {
    std::vector<double> in_cell(kCells, 0.0);
    for (std::uint64_t i = 0; i < size; ++i) ++in_cell[i * kCells / size];
    std::vector<double> seen(kCells * kCells, 0.0);
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const Permutation order(size, base::combine(key, size));
      ++seen[order(0) * kCells / size * kCells + order(size / 2) * kCells / size];
    }
    std::vector<double> wanted;
    const double pairs = static_cast<double>(size) * static_cast<double>(size - 1);
    for (std::size_t a = 0; a < kCells; ++a) {
      for (std::size_t b = 0; b < kCells; ++b) {
        const double ways = in_cell[a] * (in_cell[b] - (a == b ? 1.0 : 0.0));
        wanted.push_back(kKeys * ways / pairs);
      }
    }
    EXPECT_LT(std::abs(excess(chi_squared(seen, wanted), kCells * kCells - 1)), 5.0) << size;
  }
}

/// All offsets of all ranks, sorted.
template <class Cursor, class Make>
std::vector<std::uint64_t> offsets(std::uint64_t ranks, const Make& make) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    Cursor cursor = make(rank);
    while (cursor.left() > 0) found.push_back(cursor.take().offset);
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(RandomCursor, RanksTogetherTouchTheSamePlacesHoweverManyThereAre) {
  constexpr std::uint64_t kRequests = 840;
  for (const bool replacement : {false, true}) {
    std::vector<std::uint64_t> alone;
    for (std::uint64_t ranks = 1; ranks <= 8; ++ranks) {
      const auto found = offsets<RandomCursor>(ranks, [&](std::uint64_t rank) {
        return RandomCursor({.slots = 1000,
                             .count = kRequests / ranks,
                             .first = rank,
                             .step = ranks,
                             .size_bytes = 512,
                             .replacement = replacement},
                            77);
      });
      ASSERT_EQ(found.size(), kRequests);
      if (ranks == 1) alone = found;
      EXPECT_EQ(found, alone) << ranks;
      const bool distinct = std::adjacent_find(found.begin(), found.end()) == found.end();
      EXPECT_EQ(distinct, !replacement);
    }
  }
}

TEST(ZipfCursor, RanksTogetherTouchTheSamePlacesHoweverManyThereAre) {
  std::vector<std::uint64_t> alone;
  for (std::uint64_t ranks = 1; ranks <= 8; ++ranks) {
    const auto found = offsets<ZipfCursor>(ranks, [&](std::uint64_t rank) {
      return ZipfCursor(
          {.slots = 1000, .count = 840 / ranks, .first = rank, .step = ranks, .size_bytes = 512},
          0.9, 77);
    });
    if (ranks == 1) alone = found;
    EXPECT_EQ(found, alone) << ranks;
  }
}

TEST(Zipf, FollowsItsLaw) {
  constexpr std::size_t kPlaces = 50;
  constexpr int kDraws = 400'000;
  for (const double exponent : {0.2, 0.5, 0.99, 1.0, 1.2, 2.0, 5.0}) {
    const Zipf zipf(kPlaces, exponent);
    std::vector<double> seen(kPlaces, 0.0);
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      const std::uint64_t number = zipf(3, i);
      ASSERT_GE(number, 1U);
      ASSERT_LE(number, kPlaces);
      ++seen[number - 1];
    }
    double sum = 0.0;
    for (std::size_t k = 1; k <= kPlaces; ++k) sum += std::pow(static_cast<double>(k), -exponent);
    // Rare numbers are taken together, so that each class has enough draws.
    std::vector<double> classes;
    std::vector<double> wanted;
    for (std::size_t k = 1; k <= kPlaces; ++k) {
      const double expected = kDraws * std::pow(static_cast<double>(k), -exponent) / sum;
      if (!wanted.empty() && (wanted.back() < 10.0 || expected < 10.0)) {
        wanted.back() += expected;
        classes.back() += seen[k - 1];
      } else {
        wanted.push_back(expected);
        classes.push_back(seen[k - 1]);
      }
    }
    const double freedom = static_cast<double>(classes.size() - 1);
    EXPECT_LT(std::abs(excess(chi_squared(classes, wanted), freedom)), 5.0) << exponent;
  }
}

TEST(Zipf, StaysInsideHugeAndTinyRanges) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 62U;
  for (const double exponent : {0.01, 0.99, 1.0, 3.0, 100.0}) {
    for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{2}, kHuge}) {
      const Zipf zipf(n, exponent);
      for (std::uint64_t i = 0; i < 2000; ++i) {
        ASSERT_GE(zipf(1, i), 1U);
        ASSERT_LE(zipf(1, i), n);
      }
    }
  }
}

TEST(ZipfCursor, ScattersTheFrequentPlacesAndStaysWithinWhatIsThere) {
  const SlotShape shape{.slots = 1 << 20, .count = 1000, .step = 1, .size_bytes = 1};
  ZipfCursor cursor(shape, 1.2, 5);
  std::map<std::uint64_t, int> seen;
  while (cursor.left() > 0) ++seen[cursor.next()];
  const auto often = std::max_element(
      seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  EXPECT_GT(often->second, 100);
  EXPECT_NE(often->first, 0U);
  ZipfCursor cut(shape, 1.2, 5);
  cut.keep_within(10);
  while (cut.left() > 0) EXPECT_LT(cut.next(), 10U);
  ZipfCursor none(shape, 1.2, 5);
  none.keep_within(0);
  EXPECT_EQ(none.left(), 0U);
}

}  // namespace
}  // namespace venturi::pattern
