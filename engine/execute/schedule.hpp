// An open loop: requests begin at times of their own, however long those before them take.
#pragma once

#include <cstdint>

#include "execute/context.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// The intended starts of one step's requests. They begin with the step, at a fixed distance or as
/// a Poisson process whose draws the key gives.
class Schedule {
 public:
  Schedule(Context& context, const schema::Transfer& step, std::uint64_t key);
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  /// Tells the meter how well the rate was kept.
  ~Schedule();

  /// Waits for the next request's time, or not at all if that has passed. False when the phase's
  /// limit or trouble came first.
  bool wait();
  /// When the request should have begun that was waited for last.
  [[nodiscard]] std::uint64_t intended_ns() const noexcept { return intended_ns_; }
  /// It was done.
  void ended(std::uint64_t end_ns) noexcept {
    last_end_ns_ = end_ns;
    ++requests_;
  }

 private:
  [[nodiscard]] double distance_ns(std::uint64_t index) const noexcept;

  Context& context_;
  double mean_ns_;
  bool poisson_;
  std::uint64_t key_;
  std::uint64_t start_ns_;
  double next_ns_ = 0.0;
  std::uint64_t waited_ = 0;
  std::uint64_t intended_ns_;
  std::uint64_t last_end_ns_;
  std::uint64_t requests_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t most_late_ns_ = 0;
};

}  // namespace venturi::execute
