// Folding and merging lose nothing, whatever the length of the phase.
#include "measure/time_line.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace venturi::measure {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

std::uint64_t operations(TimeLine& line) {
  std::uint64_t sum = 0;
  for (const TimeLine::Bin& bin : line.bins()) sum += bin.operations;
  return sum;
}

TEST(TimeLine, WidthDoublesAsTimeGoesOn) {
  TimeLine line(1000 * kMs);
  for (std::uint64_t ms = 0; ms < 10'000; ++ms) ++line.at((1000 + ms) * kMs).operations;
  EXPECT_EQ(operations(line), 10'000U);
  EXPECT_EQ(line.width_ns(), 40 * kMs);
  EXPECT_EQ(line.bins()[0].operations, 40U);
  EXPECT_EQ(line.bins()[249].operations, 40U);
  EXPECT_EQ(line.bins()[250].operations, 0U);
}

TEST(TimeLine, TimesBeforeTheEpochCountAtTheEpoch) {
  TimeLine line(1000 * kMs);
  ++line.at(999 * kMs).operations;
  EXPECT_EQ(line.bins()[0].operations, 1U);
}

TEST(TimeLine, MergingKeepsTheMoment) {
  TimeLine outer(0);
  TimeLine inner(5000 * kMs);
  inner.at(5000 * kMs).bytes_written = 7;
  inner.at(60'000 * kMs).bytes_read = 9;
  outer.merge(inner);
  // Bins of lines with different epochs do not align, so the moment is known to a bin.
  const std::uint64_t width = outer.width_ns();
  const auto near = [&](std::uint64_t ns, std::uint64_t TimeLine::Bin::* what) {
    return outer.at(ns).*what + outer.at(ns + width).*what;
  };
  EXPECT_EQ(near(5000 * kMs, &TimeLine::Bin::bytes_written), 7U);
  EXPECT_EQ(near(60'000 * kMs - width, &TimeLine::Bin::bytes_read), 9U);
}

}  // namespace
}  // namespace venturi::measure
