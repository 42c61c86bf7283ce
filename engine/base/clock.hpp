// The clock that all durations come from: time-stamp counter, operating system, or simulated.
#pragma once

#include <cstdint>
#include <ctime>

#include "base/cycle_counter.hpp"

namespace venturi::base {

inline constexpr double kNsPerS = 1e9;

/// CLOCK_MONOTONIC in nanoseconds.
inline std::uint64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// Both clocks at one moment.
struct Reading {
  std::uint64_t ns = 0;
  std::uint64_t ticks = 0;

  /// The tightest of several brackets, so that a preemption does not count.
  static Reading now() noexcept;
};

/// A small value: reading it costs one counter read and one multiplication, no virtual call.
class Clock {
 public:
  enum class Source : std::uint8_t { kTsc, kMonotonic, kSimulated };

  /// The best real clock of this machine. Calibrating the counter takes 20 ms, of which those
  /// since `first` need not be waited for.
  static Clock real(const Reading& first = Reading::now());
  /// A clock that stands still until `advance`.
  static Clock simulated();

  /// Nanoseconds; of CLOCK_MONOTONIC's epoch if real, from 0 if simulated.
  [[nodiscard]] std::uint64_t now_ns() const noexcept {
    if (source_ == Source::kTsc) {
      __extension__ using Wide = unsigned __int128;
      const std::uint64_t ticks = cycle_counter() - anchor_ticks_;
      return anchor_ns_ + static_cast<std::uint64_t>((Wide{ticks} * ns_per_tick_32_) >> 32U);
    }
    return source_ == Source::kSimulated ? virtual_ns_ : monotonic_ns();
  }

  /// Simulated time passes; nothing happens to a real clock.
  void advance(std::uint64_t ns) noexcept { virtual_ns_ += ns; }
  /// Simulated time is at least this; nothing happens to a real clock.
  void advance_to(std::uint64_t ns) noexcept { virtual_ns_ = ns > virtual_ns_ ? ns : virtual_ns_; }
  /// Ties the counter to CLOCK_MONOTONIC anew and refines its rate over all the time since the
  /// calibration. Time may step by the error that had gathered: call it outside measurements.
  void resync() noexcept;

  [[nodiscard]] bool is_simulated() const noexcept { return source_ == Source::kSimulated; }
  /// `tsc`, `monotonic` or `simulated`.
  [[nodiscard]] const char* source_name() const noexcept;
  /// The smallest difference that two readings show.
  [[nodiscard]] double resolution_ns() const noexcept;
  /// What one reading costs.
  [[nodiscard]] double overhead_ns() const noexcept;

 private:
  Source source_ = Source::kMonotonic;
  std::uint64_t anchor_ns_ = 0;
  std::uint64_t anchor_ticks_ = 0;
  std::uint64_t ns_per_tick_32_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t first_ticks_ = 0;
  std::uint64_t virtual_ns_ = 0;
};

/// Nanoseconds as seconds.
[[nodiscard]] inline double seconds(std::uint64_t ns) noexcept {
  return static_cast<double>(ns) / kNsPerS;
}

}  // namespace venturi::base
