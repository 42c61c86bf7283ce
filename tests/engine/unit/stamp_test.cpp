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

TEST(Stamp, AFilesBeginningTellsItsKey) {
  for (const double compressibility : {0.0, 0.9}) {
    const Stamp one = stamp(7, compressibility);
    Bytes beginning = filled(one, 4096, 0);
    for (std::size_t at = 0; at < 8 * 20; ++at) beginning[at] = std::byte{0x5a};
    const auto key = Stamp::key_in(beginning);
    ASSERT_TRUE(key);
    const Stamp found(*key, compressibility, 0.0);
    const Bytes far = filled(one, 4096, 1 << 20);
    EXPECT_TRUE(found.matches(far, 1 << 20));
    EXPECT_FALSE(found.matches(beginning, 0));
    EXPECT_EQ(found.examine(far, 4096).damage, schema::Damage::kMisplaced);
    EXPECT_NE(found.examine(filled(stamp(8), 4096, 0), 0).damage, schema::Damage::kStale);
  }
}

TEST(Stamp, WhatIsNotStampedTellsNoKey) {
  EXPECT_FALSE(Stamp::key_in({}));
  EXPECT_FALSE(Stamp::key_in(Bytes(4096)));
  EXPECT_FALSE(Stamp::key_in(Bytes(4096, std::byte{0x5a})));
  EXPECT_FALSE(Stamp::key_in(filled(stamp(), 16, 0)));
  EXPECT_TRUE(Stamp::key_in(filled(stamp(), 24, 0)));
  Bytes concealed = filled(stamp(3, 0.5), 4096, 0);
  conceal(concealed);
  EXPECT_FALSE(Stamp::key_in(concealed));
  EXPECT_EQ(std::count(concealed.begin() + 2048, concealed.end(), std::byte{0}), 2048);
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
  return stamp().examine(data, offset).what;
}

TEST(Stamp, CountsAndLocatesWrongBytes) {
  Bytes data = filled(stamp(), 4096, 8192);
  for (const std::size_t at : {100U, 101U, 2000U}) data[at] ^= std::byte{1};
  const Finding found = stamp().examine(data, 8192);
  EXPECT_EQ(found.bytes, 3U);
  EXPECT_EQ(found.offset, 8192U + 100U);
  EXPECT_EQ(found.damage, schema::Damage::kFlipped);
  EXPECT_EQ(stamp().examine(filled(stamp(), 512, 3), 3).bytes, 0U);
}

TEST(Stamp, DuplicatesAreThePagesBefore) {
  for (const double share : {0.0, 0.25, 0.5, 0.9, 1.0}) {
    const Stamp one(
        {.seed = 1, .path_key = 2, .generation = 3, .compressibility = 0.0, .duplicates = share});
    constexpr std::uint64_t kPages = 1000;
    const Bytes data = filled(one, kPages * 4096, 0);
    std::uint64_t same = 0;
    for (std::uint64_t page = 0; page < kPages; ++page) {
      const std::uint64_t source = one.source_of(page);
      ASSERT_LE(source, page);
      ASSERT_EQ(one.source_of(source), source);
      same += static_cast<std::uint64_t>(source != page);
      const auto at = [&](std::uint64_t which) {
        return data.begin() + static_cast<std::ptrdiff_t>(which * 4096);
      };
      ASSERT_TRUE(std::equal(at(page), at(page) + 4096, at(source)));
      EXPECT_TRUE(one.matches({&data[page * 4096 + 1000], 3096}, page * 4096 + 1000));
    }
    EXPECT_NEAR(static_cast<double>(same) / kPages, share, 0.002) << share;
  }
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
  EXPECT_TRUE(explain(other, kAt).starts_with("foreign"));
  Bytes noise = filled(stamp(), 512, kAt);
  for (std::size_t i = 100; i < 300; ++i) noise[i] = std::byte{'x'};
  EXPECT_TRUE(explain(noise, kAt).starts_with("corrupt"));
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
