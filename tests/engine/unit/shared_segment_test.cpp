// Barriers and reductions of threads that play forked ranks, under the thread sanitizer too.
#include "comm/shared_segment.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace venturi::comm {
namespace {

constexpr std::size_t kRanks = 5;

template <class Body>
void on_ranks(const Body& body) {
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < kRanks; ++rank) threads.emplace_back([&, rank] { body(rank); });
  for (std::thread& thread : threads) thread.join();
}

TEST(SharedSegment, BarriersSeparateWritesFromReads) {
  SharedSegment segment(kRanks);
  std::vector<int> values(kRanks, 0);
  std::atomic<int> wrong = 0;
  on_ranks([&](std::size_t rank) {
    for (int round = 1; round < 300; ++round) {
      values[rank] = round;
      segment.barrier({});
      for (const int value : values) wrong += static_cast<int>(value != round);
      segment.barrier({});
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(SharedSegment, AnAbortEndsEveryWait) {
  SharedSegment segment(kRanks);
  std::atomic<int> ended = 0;
  on_ranks([&](std::size_t rank) {
    if (rank == 0) {
      segment.abort({.code = "test", .message = "first"});
      segment.abort({.code = "test", .message = "second"});
      return;
    }
    try {
      segment.barrier({});
    } catch (const base::Broken& error) {
      ended += static_cast<int>(error.problem().message == "first");
    }
  });
  EXPECT_EQ(ended, static_cast<int>(kRanks) - 1);
}

TEST(SharedSegment, APollCanEndAWait) {
  SharedSegment segment(2);
  struct Enough {};
  EXPECT_THROW(segment.barrier([] { throw Enough{}; }), Enough);
}

}  // namespace
}  // namespace venturi::comm
