// Computing uses up the caches at its rate, and catches up with no more than they hold.
#include "execute/footprint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "execute/cold_code.hpp"

namespace venturi::execute {
namespace {

/// The lines that were used an odd number of times.
std::ptrdiff_t lines(const Footprint& footprint) {
  return std::ranges::count(footprint.memory(), std::byte{1});
}

TEST(Footprint, usesMemoryAsTimePasses) {
  Footprint footprint;
  footprint.begin();
  footprint.reach(1000);
  EXPECT_EQ(footprint.used_bytes(), 8192U);
  EXPECT_EQ(lines(footprint), 8192 / 64);
  footprint.reach(1500);
  EXPECT_EQ(lines(footprint), 12288 / 64);
}

TEST(Footprint, comesBackToWhatItUsedWhereComputingIsLong) {
  Footprint footprint;
  footprint.begin();
  footprint.reach(10'000);
  EXPECT_EQ(lines(footprint), (80'000 + 1023) / 1024 * 1024 / 64);
  footprint.reach(1'000'000);
  EXPECT_GE(footprint.used_bytes(), 800'000U);
  EXPECT_LT(footprint.used_bytes(), 801'024U);
}

TEST(Footprint, goesOnWhereItWasAtTheNextPause) {
  Footprint footprint;
  for (int i = 0; i < 10; ++i) {
    footprint.begin();
    footprint.reach(128);
  }
  EXPECT_EQ(lines(footprint), 10 * 1024 / 64);
}

TEST(Footprint, usesAsMuchInManyShortPausesAsInOneLong) {
  Footprint footprint;
  for (int i = 0; i < 1000; ++i) {
    footprint.begin();
    footprint.reach(10);
  }
  EXPECT_EQ(lines(footprint), (10'000 * 8 + 1023) / 1024 * 1024 / 64);
}

TEST(Footprint, skipsWhatPassedWhileOthersHadTheProcessor) {
  Footprint footprint;
  footprint.begin();
  footprint.reach(10'000'000'000);
  EXPECT_GE(footprint.used_bytes(), 80'000'000U);
  // Each line of it once: all of the memory was used, and none twice.
  EXPECT_EQ(lines(footprint), static_cast<std::ptrdiff_t>(footprint.memory().size() / 64));
}

TEST(Footprint, runsCodeAsTimePasses) {
  Footprint footprint;
  footprint.begin();
  footprint.reach(1600);
  EXPECT_EQ(footprint.used_pieces(), 160U);
  for (int i = 0; i < 1000; ++i) {
    footprint.begin();
    footprint.reach(10);
  }
  // The last step of 16 was for the next turns.
  EXPECT_LT(footprint.used_pieces(), 16U + 1U);
  footprint.begin();
  footprint.reach(10'000'000'000);
  EXPECT_GE(footprint.used_pieces(), 1'000'000U);
}

TEST(ColdCode, isMoreThanACoreKeeps) {
  std::set<ColdPiece> pieces;
  std::set<std::uint64_t> results;
  for (const ColdPiece piece : cold_code()) {
    pieces.insert(piece);
    results.insert(piece(0x123456789ABCDEFU));
  }
  constexpr std::size_t kLineBytes = 64;
  EXPECT_GE(pieces.size() * kLineBytes, std::size_t{256} << 10U);
  // Nothing made one of them out of several.
  EXPECT_GE(results.size(), pieces.size() / 2);
}

}  // namespace
}  // namespace venturi::execute
