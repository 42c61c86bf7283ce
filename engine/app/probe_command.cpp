// `venturi-engine probe`: one worker of a probe, or the removal of what it made.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

#include "app/command.hpp"
#include "app/event_output.hpp"
#include "app/json_text.hpp"
#include "base/error.hpp"
#include "probe/companion.hpp"
#include "probe/posix_storage.hpp"
#include "probe/removal.hpp"
#include "probe/schedule.hpp"
#include "probe/simulation.hpp"

namespace venturi::app {
namespace {

using probe::State;

constexpr std::uint64_t kRetryNs = 5'000'000'000;

/// Prepares until all is there: what fails is tried again, because a storage may be well later.
void prepare(probe::Ring& ring, probe::Storage& storage, probe::Companion& companion) {
  ring.header().state = State::kPreparing;
  while (!companion.must_stop()) {
    const int error = storage.prepare(companion.stop());
    ring.header().preparation_error = static_cast<std::uint64_t>(error);
    if (error == 0) return;
    companion.sleep_until(companion.monotonic_ns() + kRetryNs);
  }
}

std::int64_t number_in(const std::string& text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, number).ptr != end) {
    throw base::plan_error("--simulate", fmt::format("'{}' is no whole number", text));
  }
  return number;
}

}  // namespace

int probe_command(const std::string& path) {
  probe::Ring ring(path);
  probe::Header& head = ring.header();
  probe::Companion companion(ring);
  head.pid = static_cast<std::uint64_t>(::getpid());
  head.starts += 1;
  const auto storage = probe::real_storage(ring);
  probe::Schedule schedule(ring, *storage, companion);
  schedule.recover();
  prepare(ring, *storage, companion);
  if (!companion.must_stop()) {
    head.state = State::kRunning;
    schedule.run();
  }
  head.state = State::kStopped;
  head.pid = 0;
  ring.touch(companion.monotonic_ns(), companion.wall_ns());
  return 0;
}

int probe_simulation_command(const std::string& path, const std::vector<std::string>& numbers) {
  probe::Ring ring(path);
  if (numbers.size() != 7) throw base::plan_error("--simulate", "7 numbers are needed");
  std::vector<std::int64_t> of;
  for (const std::string& text : numbers) of.push_back(number_in(text));
  const auto whole = [&](std::size_t at) { return static_cast<std::uint64_t>(of[at]); };
  probe::Simulation simulation({.lasts_ns = whole(0),
                                .latency_ns = whole(1),
                                .period_ns = whole(2),
                                .stall_ns = whole(3),
                                .begin_ns = whole(4),
                                .step_at_ns = whole(5),
                                .step_ns = of[6]});
  probe::Schedule schedule(ring, simulation, simulation);
  schedule.recover();
  ring.header().state = State::kRunning;
  schedule.run();
  ring.header().state = State::kStopped;
  return 0;
}

int probe_removal_command(const std::string& path) {
  probe::Ring ring(path);
  const probe::Removal done = probe::remove_made(ring);
  std::string names;
  for (const std::string& name : done.left) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", quote(name));
  }
  write_text(fmt::format("{{\"removed\": {}, \"left\": [{}], \"left_count\": {}, \"why\": {}}}\n",
                         done.removed, names, done.left_count, quote(done.why)));
  return 0;
}

}  // namespace venturi::app
