// Buckets are those of the document, and merging does not depend on the order.
#include "measure/histogram.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <vector>

namespace venturi::measure {
namespace {

std::uint64_t first_of(std::size_t bucket) {
  constexpr std::size_t kRow = Histogram::kRowBuckets;
  return bucket < kRow ? bucket : std::uint64_t{kRow + bucket % kRow} << (bucket / kRow - 1);
}

TEST(Histogram, BucketsCoverAllNumbersWithoutGaps) {
  for (std::size_t i = 0; i + 1 < Histogram::kBuckets; ++i) {
    EXPECT_EQ(Histogram::bucket_of(first_of(i)), i);
    EXPECT_EQ(Histogram::bucket_of(first_of(i + 1) - 1), i);
  }
  EXPECT_EQ(Histogram::bucket_of(~std::uint64_t{0}), Histogram::kBuckets - 1);
}

TEST(Histogram, BucketsAreAThousandthOfTheirValuesWide) {
  for (std::size_t i = 1; i + 1 < Histogram::kBuckets; ++i) {
    const std::uint64_t width = first_of(i + 1) - first_of(i);
    EXPECT_TRUE(width == 1 || width <= first_of(i) / 1000) << i;
  }
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(Histogram, OnlyWhatIsTouchedTakesMemory) {
  std::vector<Histogram> histograms(64);
  const std::size_t before = resident_bytes();
  // Three decades of latencies: ten powers of two, each of them two pages.
  for (Histogram& histogram : histograms) {
    for (std::uint64_t ns = 100'000; ns < 100'000'000; ns += ns / 700) histogram.record(ns);
  }
  const std::size_t taken = resident_bytes() - before;
  EXPECT_GT(taken, histograms.size() * 40'000);
  EXPECT_LT(taken, histograms.size() * 120'000);
}

std::vector<std::uint64_t> random_values(std::mt19937_64& random) {
  std::vector<std::uint64_t> values(500);
  for (std::uint64_t& value : values) value = random() >> (random() % 64);
  return values;
}

Histogram histogram_of(const std::vector<std::uint64_t>& values) {
  Histogram histogram;
  for (const std::uint64_t value : values) histogram.record(value);
  return histogram;
}

bool same(const schema::Histogram& a, const schema::Histogram& b) {
  return a.bucket == b.bucket && a.count == b.count && a.min_ns == b.min_ns && a.max_ns == b.max_ns;
}

TEST(Histogram, MergingIsAssociativeAndCommutative) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    const std::vector<std::uint64_t> a = random_values(random);
    const std::vector<std::uint64_t> b = random_values(random);
    const std::vector<std::uint64_t> c = random_values(random);
    Histogram left = histogram_of(a);
    left.merge(histogram_of(b));
    left.merge(histogram_of(c));
    Histogram right = histogram_of(c);
    Histogram inner = histogram_of(b);
    inner.merge(histogram_of(a));
    right.merge(inner);
    EXPECT_TRUE(same(left.document(), right.document()));
    EXPECT_FALSE(same(left.document(), histogram_of(a).document()));
  }
}

TEST(Histogram, EmptyHasNoBucketsAndNoExtremes) {
  const schema::Histogram document = Histogram().document();
  EXPECT_TRUE(document.bucket.empty());
  EXPECT_EQ(document.min_ns, 0);
  EXPECT_EQ(document.max_ns, 0);
}

}  // namespace
}  // namespace venturi::measure
