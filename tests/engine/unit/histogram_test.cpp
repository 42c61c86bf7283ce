// Buckets are those of the document, and merging does not depend on the order.
#include "measure/histogram.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace venturi::measure {
namespace {

std::uint64_t first_of(std::size_t bucket) {
  return bucket < 16 ? bucket : std::uint64_t{16 + bucket % 16} << (bucket / 16 - 1);
}

TEST(Histogram, BucketsCoverAllNumbersWithoutGaps) {
  for (std::size_t i = 0; i + 1 < Histogram::kBuckets; ++i) {
    EXPECT_EQ(Histogram::bucket_of(first_of(i)), i);
    EXPECT_EQ(Histogram::bucket_of(first_of(i + 1) - 1), i);
  }
  EXPECT_EQ(Histogram::bucket_of(~std::uint64_t{0}), Histogram::kBuckets - 1);
}

Histogram random_histogram(std::mt19937_64& random) {
  Histogram histogram;
  for (int i = 0; i < 500; ++i) histogram.record(random() >> (random() % 64));
  return histogram;
}

bool same(const schema::Histogram& a, const schema::Histogram& b) {
  return a.bucket == b.bucket && a.count == b.count && a.min_ns == b.min_ns && a.max_ns == b.max_ns;
}

TEST(Histogram, MergingIsAssociativeAndCommutative) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    const Histogram a = random_histogram(random);
    const Histogram b = random_histogram(random);
    const Histogram c = random_histogram(random);
    Histogram left = a;
    left.merge(b);
    left.merge(c);
    Histogram right = c;
    Histogram inner = b;
    inner.merge(a);
    right.merge(inner);
    EXPECT_TRUE(same(left.document(), right.document()));
    EXPECT_FALSE(same(left.document(), a.document()));
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
