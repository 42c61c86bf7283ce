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

TEST(SharedSegment, GatesOfPartsOfTheRanksAreIndependent) {
  SharedSegment segment(kRanks);
  std::vector<int> values(kRanks, 0);
  std::atomic<int> wrong = 0;
  on_ranks([&](std::size_t rank) {
    // Ranks 0 to 1 and 2 to 4, which wait much more often.
    const bool low = rank < 2;
    SharedSegment::Gate& gate = segment.gate(low ? 0 : 2, 3);
    for (int round = 1; round < (low ? 20 : 400); ++round) {
      values[rank] = round;
      segment.pass(gate, low ? 2 : 3, {});
      for (std::size_t other = low ? 0 : 2; other < (low ? 2 : kRanks); ++other) {
        wrong += static_cast<int>(values[other] != round);
      }
      segment.pass(gate, low ? 2 : 3, {});
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(SharedSegment, MailArrivesWholeAndInOrder) {
  SharedSegment segment(kRanks);
  const std::size_t bytes = 2 * SharedSegment::kMailBytes + 5;
  std::atomic<int> wrong = 0;
  on_ranks([&](std::size_t rank) {
    std::vector<std::byte> data(bytes);
    for (std::size_t from = 1; from < kRanks; ++from) {
      if (rank == from) {
        data.assign(bytes, static_cast<std::byte>(rank));
        segment.post(rank, 0, data, {});
        data.back() = std::byte{99};
        segment.post(rank, 0, data, {});
      } else if (rank == 0) {
        segment.fetch(from, 0, data, {});
        wrong += static_cast<int>(data != std::vector(bytes, static_cast<std::byte>(from)));
        segment.fetch(from, 0, data, {});
        wrong += static_cast<int>(data.back() != std::byte{99});
      }
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
