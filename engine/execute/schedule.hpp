// An open loop: requests begin at times of their own, however long those before them take.
#pragma once

#include <algorithm>
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

  /// A sleeper wakes up late by up to about this much.
  static constexpr std::uint64_t kAwakeNs = 100'000;

  /// When the next request should begin.
  [[nodiscard]] std::uint64_t next_ns() const noexcept {
    return start_ns_ + static_cast<std::uint64_t>(next_after_ns_);
  }
  /// Waits for that time, or not at all if it has passed. False when the phase's limit or trouble
  /// came first.
  bool wait();
  /// The same, and the request that begins then is started; its intended start is told.
  bool come_to_turn(std::uint64_t& intended_ns);
  /// The next request begins, so much later than it should because those before it were in its
  /// way; the one behind it is the next now.
  void start(std::uint64_t late_ns) noexcept;
  /// A request was done.
  void ended(std::uint64_t end_ns) noexcept {
    last_end_ns_ = std::max(last_end_ns_, end_ns);
    ++requests_;
  }

 private:
  [[nodiscard]] double distance_ns(std::uint64_t index) const noexcept;

  Context& context_;
  double mean_ns_;
  bool poisson_;
  std::uint64_t key_;
  std::uint64_t start_ns_;
  double next_after_ns_ = 0.0;
  std::uint64_t started_ = 0;
  std::uint64_t last_end_ns_;
  std::uint64_t requests_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t most_late_ns_ = 0;
};

}  // namespace venturi::execute
