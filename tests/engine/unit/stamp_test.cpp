// Stamped bytes say what is wrong with them.
#include "payload/stamp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace venturi::payload {
namespace {

using Bytes = std::vector<std::byte>;

Stamp stamp(std::uint64_t generation = 3, double compressibility = 0.0) {
  return Stamp(
      {.seed = 1, .path_key = 2, .generation = generation, .compressibility = compressibility});
}

Bytes filled(const Stamp& with, std::size_t size, std::uint64_t offset) {
  Bytes data(size);
  with.fill(data, offset);
  return data;
}

TEST(Stamp, PiecesAreTheWholeAtAnyOffset) {
  for (const double compressibility : {0.0, 0.3, 1.0}) {
    const Stamp one = stamp(3, compressibility);
    const Bytes whole = filled(one, 10'000, 0);
    for (const std::size_t offset : {0U, 1U, 7U, 8U, 13U, 4090U, 4096U}) {
      for (const std::size_t size : {0U, 1U, 3U, 8U, 9U, 31U, 3901U}) {
        const Bytes part = filled(one, size, offset);
        EXPECT_TRUE(std::equal(part.begin(), part.end(),
                               whole.begin() + static_cast<std::ptrdiff_t>(offset)));
        EXPECT_TRUE(one.matches(part, offset));
      }
    }
  }
}

TEST(Stamp, CompressibilityIsTheShareOfZeros) {
  const Bytes data = filled(stamp(3, 0.25), 40'960, 0);
  const auto zeros = std::count(data.begin(), data.end(), std::byte{0});
  EXPECT_NEAR(static_cast<double>(zeros) / 40'960, 0.25, 0.01);
}

TEST(Stamp, EveryBitCounts) {
  const Stamp one = stamp();
  Bytes data = filled(one, 67, 5);
  for (std::size_t bit = 0; bit < data.size() * 8; ++bit) {
    const std::byte mask{static_cast<unsigned char>(1U << (bit % 8))};
    data[bit / 8] ^= mask;
    ASSERT_FALSE(one.matches(data, 5)) << bit;
    data[bit / 8] ^= mask;
  }
  ASSERT_TRUE(one.matches(data, 5));
}

std::string explain(const Bytes& data, std::uint64_t offset) {
  EXPECT_FALSE(stamp().matches(data, offset));
  return stamp().explain(data, offset);
}

TEST(Stamp, ExplainsWhatItFinds) {
  constexpr std::uint64_t kAt = 4'294'967'296U + 4096;
  EXPECT_TRUE(explain(Bytes(512), kAt).starts_with("hole"));
  EXPECT_TRUE(explain(filled(stamp(2), 512, kAt), kAt)
                  .starts_with("stale: offset 4294971392 holds generation 2 instead of 3"));
  // 4 GiB away: where 32-bit offsets wrap and nothing would be found.
  EXPECT_EQ(explain(filled(stamp(), 512, 4096), kAt),
            "misplaced: offset 4294971392 holds what belongs to offset 4096");
  Bytes flipped = filled(stamp(), 512, kAt);
  flipped[100] ^= std::byte{0x20};
  EXPECT_EQ(explain(flipped, kAt),
            "flipped bit: 1 bit(s) differ at offset 4294971488, the first is bit 5 of byte "
            "4294971492");
  Bytes other = filled(Stamp({.seed = 1, .path_key = 9, .generation = 3}), 512, kAt);
  EXPECT_TRUE(explain(other, kAt).starts_with("corrupt"));
  Bytes partly = filled(stamp(), 512, kAt);
  std::fill(partly.begin() + 256, partly.end(), std::byte{0});
  EXPECT_TRUE(explain(partly, kAt).starts_with("hole: zeros at offset 4294971648"));
}

TEST(Stamp, AReadThatMovesNothingIsNoticed) {
  Bytes data = filled(stamp(), 5000, 0);
  poison(data);
  EXPECT_FALSE(stamp().matches(data, 0));
  EXPECT_TRUE(explain(data, 0).starts_with("not read"));
}

}  // namespace
}  // namespace venturi::payload
