// Waiting for what only polling shows.
#pragma once

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

#include "base/clock.hpp"
#include "base/cycle_counter.hpp"

namespace venturi::comm {

/// Spins, then yields, then sleeps longer and longer.
class BackOff {
 public:
  BackOff() = default;
  /// For so long it does nothing between two looks: for what comes at any moment, with a core of
  /// its own. Not even a pause, of which a virtual machine's host may make a long one.
  explicit BackOff(std::uint64_t awake_ns) : awake_ns_(awake_ns) {}

  void wait() {
    if (awake_ns_ > 0 && base::monotonic_ns() - since_ns_ < awake_ns_) return;
    if (idle_) {
      pause_ns_ = std::min(pause_ns_ + 20'000L, 500'000L);
      const timespec pause{.tv_sec = 0, .tv_nsec = pause_ns_};
      nanosleep(&pause, nullptr);
      return;
    }
    ++turns_;
    if (turns_ < 1000) {
      base::relax();
    } else {
      sched_yield();
    }
    // An MPI whose ranks share cores gives its core away in each test: a turn may last long.
    idle_ = turns_ >= 1200 || base::monotonic_ns() - since_ns_ > kBusyNs;
  }
  /// Whether it is worth looking at anything else.
  [[nodiscard]] bool idle() const noexcept { return idle_; }

 private:
  static constexpr std::uint64_t kBusyNs = 2'000'000;

  std::uint64_t awake_ns_ = 0;
  std::uint64_t since_ns_ = base::monotonic_ns();
  long turns_ = 0;
  long pause_ns_ = 0;
  bool idle_ = false;
};

/// What ranks spend awake to start together: longer than the slice of a process that has the core
/// of one of them.
inline constexpr std::uint64_t kMeetNs = 20'000'000;

/// Turns until something is so; nobody can break the wait.
template <class Condition>
void wait_for(const Condition& condition) {
  BackOff back_off;
  while (!condition()) back_off.wait();
}

}  // namespace venturi::comm
