// The probe's clocks: real ones, and ones that a test advances.
#pragma once

#include <cstdint>

#include "base/clock.hpp"

namespace venturi::probe {

/// CLOCK_MONOTONIC carries the grid; the wall clock only says when that was.
class Time {
 public:
  Time() = default;
  Time(const Time&) = delete;
  Time& operator=(const Time&) = delete;
  virtual ~Time() = default;

  [[nodiscard]] virtual std::uint64_t monotonic_ns() const = 0;
  [[nodiscard]] virtual std::uint64_t wall_ns() const = 0;
  /// Returns at that moment of CLOCK_MONOTONIC, or earlier if the worker is to stop.
  virtual void sleep_until(std::uint64_t monotonic_ns) = 0;
  /// Whether the worker is to stop.
  [[nodiscard]] virtual bool must_stop() const = 0;
};

/// CLOCK_REALTIME in nanoseconds.
inline std::uint64_t realtime_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace venturi::probe
