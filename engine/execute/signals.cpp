// Waiting is a poll: an abort, a lost rank and a deadline are seen, and a failure elsewhere, too.
#include "execute/signals.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>

#include "base/random.hpp"
#include "execute/program.hpp"

namespace venturi::execute {
namespace {

/// What no signal is called: names are never empty.
const std::uint64_t kGaveUp = base::key_of("");

constexpr long kFirstPauseNs = 20'000;
constexpr long kLongestPauseNs = 500'000;

}  // namespace

Signals::Signals(const schema::Plan& plan, comm::Group& world) : world_(world) {
  for (std::size_t i = 0; i < plan.groups.size(); ++i) {
    const schema::Group& group = plan.groups[i];
    if (!has_waits(group.program)) continue;
    for (std::int64_t instance = 0; instance < group.instances; ++instance) {
      homes_.push_back({static_cast<std::int64_t>(i),
                        static_cast<std::size_t>(group.first + instance * group.ranks)});
    }
  }
}

void Signals::give(const std::vector<std::int64_t>& groups, std::string_view name,
                   std::uint64_t at_ns) {
  const std::uint64_t key = base::key_of(name);
  for (const Home& home : homes_) {
    if (std::find(groups.begin(), groups.end(), home.group) == groups.end()) continue;
    world_.tell(home.rank, key, at_ns);
  }
}

void Signals::give_up() {
  if (gave_up_) return;
  gave_up_ = true;
  for (const Home& home : homes_) world_.tell(home.rank, kGaveUp, 0);
}

Signals::End Signals::await(std::string_view name, std::uint64_t count, base::Clock& clock) {
  const std::uint64_t key = base::key_of(name);
  long pause_ns = kFirstPauseNs;
  for (;;) {
    const comm::EventCount event_count = world_.event_count(key);
    if (event_count.times >= count) {
      if (clock.is_simulated()) clock.advance_to(event_count.latest_ns);
      return End::kLiteral;
    }
    if (world_.event_count(kGaveUp).times > 0) return End::kGivenUp;
    world_.poll();
    const timespec pause{.tv_sec = 0, .tv_nsec = pause_ns};
    nanosleep(&pause, nullptr);
    pause_ns = std::min(pause_ns * 2, kLongestPauseNs);
  }
}

void Signals::forget() {
  if (any()) world_.forget_told();
}

}  // namespace venturi::execute
