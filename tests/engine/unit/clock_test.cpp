// The counter agrees with the operating system, and simulated time stands still by itself.
#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace venturi::base {
namespace {

TEST(Clock, AgreesWithTheOperatingSystem) {
  Clock clock = Clock::real();
  const std::uint64_t begin = monotonic_ns();
  const std::uint64_t own_begin = clock.now_ns();
  const timespec pause{.tv_sec = 0, .tv_nsec = 100'000'000};
  nanosleep(&pause, nullptr);
  const auto system = static_cast<double>(monotonic_ns() - begin);
  const auto own = static_cast<double>(clock.now_ns() - own_begin);
  EXPECT_NEAR(own / system, 1.0, 0.01);
  clock.resync();
  EXPECT_NEAR(static_cast<double>(clock.now_ns()), static_cast<double>(monotonic_ns()), 1e6);
}

TEST(Clock, NeverRunsBackwards) {
  const Clock clock = Clock::real();
  std::uint64_t last = clock.now_ns();
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t now = clock.now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, SimulatedTimeOnlyAdvances) {
  Clock clock = Clock::simulated();
  EXPECT_EQ(clock.now_ns(), 0U);
  clock.advance(5);
  clock.advance_to(3);
  EXPECT_EQ(clock.now_ns(), 5U);
  clock.advance_to(9);
  EXPECT_EQ(clock.now_ns(), 9U);
}

}  // namespace
}  // namespace venturi::base
