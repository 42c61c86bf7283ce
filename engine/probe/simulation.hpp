// A simulated storage with its clock: the real schedule runs days of it in moments.
#pragma once

#include <algorithm>

#include "probe/storage.hpp"
#include "probe/time.hpp"

namespace venturi::probe {

/// What is simulated: each operation takes `latency_ns`, but from each multiple of `period_ns` on
/// the storage answers nothing for `stall_ns`.
struct Simulated {
  std::uint64_t lasts_ns = 0;
  std::uint64_t latency_ns = 0;
  std::uint64_t period_ns = 0;
  std::uint64_t stall_ns = 0;
  std::uint64_t begin_ns = 0;
  /// At `step_at_ns` after the beginning the wall clock is set forward or back by `step_ns`.
  std::uint64_t step_at_ns = 0;
  std::int64_t step_ns = 0;
};

/// The storage and the clock that it advances.
class Simulation : public Storage, public Time {
 public:
  explicit Simulation(const Simulated& what) : what_(what) {}

  int prepare(const std::atomic<bool>&) override { return 0; }
  Outcome perform(Operation) override {
    const std::uint64_t within = now_ns_ % what_.period_ns;
    if (now_ns_ >= what_.period_ns && within < what_.stall_ns) now_ns_ += what_.stall_ns - within;
    now_ns_ += what_.latency_ns;
    return {};
  }
  [[nodiscard]] std::uint64_t monotonic_ns() const override { return now_ns_; }
  [[nodiscard]] std::uint64_t wall_ns() const override {
    const bool stepped = what_.step_ns != 0 && now_ns_ >= what_.step_at_ns;
    return what_.begin_ns + now_ns_ +
           static_cast<std::uint64_t>(stepped ? what_.step_ns : std::int64_t{0});
  }
  void sleep_until(std::uint64_t until_ns) override { now_ns_ = std::max(now_ns_, until_ns); }
  [[nodiscard]] bool must_stop() const override { return now_ns_ >= what_.lasts_ns; }

 private:
  Simulated what_;
  std::uint64_t now_ns_ = 0;
};

}  // namespace venturi::probe
