// Every two ranks meet exactly once, each rank has one partner at a time, and who pauses does once.
#include "kernel/pairing.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace venturi::kernel {
namespace {

TEST(Pairing, EachTwoMeetOnce) {
  for (std::uint64_t ranks = 1; ranks < 40; ++ranks) {
    std::set<std::pair<std::uint64_t, std::uint64_t>> met;
    for (std::uint64_t step = 0; step < pairing_steps(ranks); ++step) {
      std::uint64_t pauses = 0;
      for (std::uint64_t rank = 0; rank < ranks; ++rank) {
        const auto partner = partner_in(step, rank, ranks);
        if (!partner) {
          ++pauses;
          continue;
        }
        EXPECT_NE(*partner, rank);
        EXPECT_EQ(partner_in(step, *partner, ranks), rank);
        if (rank > *partner) continue;
        EXPECT_TRUE(met.emplace(rank, *partner).second);
      }
      EXPECT_EQ(pauses, ranks % 2);
    }
    EXPECT_EQ(met.size(), ranks * (ranks - 1) / 2);
  }
}

}  // namespace
}  // namespace venturi::kernel
