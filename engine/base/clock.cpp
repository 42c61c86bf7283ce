// Calibration of the time-stamp counter against CLOCK_MONOTONIC.
#include "base/clock.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace venturi::base {
namespace {

constexpr std::uint64_t kCalibrationNs = 20'000'000;

/// The kernel itself must trust the counter: it demotes one that is not synchronous.
bool kernel_trusts_counter() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  file >> name;
  return name == "tsc" || name == "kvm-clock";
}

std::uint64_t rate_32(Reading from, Reading to) noexcept {
  const auto ns = static_cast<double>(to.ns - from.ns);
  const auto ticks = static_cast<double>(to.ticks - from.ticks);
  return static_cast<std::uint64_t>(ns / ticks * 4294967296.0);
}

}  // namespace

Reading Reading::now() noexcept {
  Reading best;
  std::uint64_t narrowest = std::numeric_limits<std::uint64_t>::max();
  for (int attempt = 0; attempt < 64; ++attempt) {
    const std::uint64_t before = cycle_counter();
    const std::uint64_t ns = monotonic_ns();
    const std::uint64_t width = cycle_counter() - before;
    if (width < narrowest) {
      narrowest = width;
      best = {ns, before + width / 2};
    }
  }
  return best;
}

Clock Clock::real(const Reading& first) {
  Clock clock;
  if (!cycle_counter_invariant() || !kernel_trusts_counter()) return clock;
  const std::uint64_t since = monotonic_ns() - first.ns;
  const timespec pause{
      .tv_sec = 0, .tv_nsec = static_cast<long>(kCalibrationNs - std::min(since, kCalibrationNs))};
  nanosleep(&pause, nullptr);
  const Reading last = Reading::now();
  clock.source_ = Source::kTsc;
  clock.first_ns_ = first.ns;
  clock.first_ticks_ = first.ticks;
  clock.anchor_ns_ = last.ns;
  clock.anchor_ticks_ = last.ticks;
  clock.ns_per_tick_32_ = rate_32(first, last);
  return clock;
}

Clock Clock::simulated() {
  Clock clock;
  clock.source_ = Source::kSimulated;
  return clock;
}

void Clock::resync() noexcept {
  if (source_ != Source::kTsc) return;
  const Reading now = Reading::now();
  ns_per_tick_32_ = rate_32({first_ns_, first_ticks_}, now);
  anchor_ns_ = now.ns;
  anchor_ticks_ = now.ticks;
}

const char* Clock::source_name() const noexcept {
  switch (source_) {
    case Source::kTsc:
      return "tsc";
    case Source::kSimulated:
      return "simulated";
    case Source::kMonotonic:
      break;
  }
  return "monotonic";
}

double Clock::resolution_ns() const noexcept {
  if (source_ == Source::kSimulated) return 1.0;
  std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
  for (int attempt = 0; attempt < 256; ++attempt) {
    const std::uint64_t before = now_ns();
    std::uint64_t after = now_ns();
    while (after == before) after = now_ns();
    smallest = std::min(smallest, after - before);
  }
  return static_cast<double>(smallest);
}

double Clock::overhead_ns() const noexcept {
  if (source_ == Source::kSimulated) return 0.0;
  constexpr int kReadings = 1000;
  const std::uint64_t before = now_ns();
  std::uint64_t last = before;
  for (int reading = 0; reading < kReadings; ++reading) last = now_ns();
  return static_cast<double>(last - before) / kReadings;
}

}  // namespace venturi::base
