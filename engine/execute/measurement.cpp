// What a rank says of its phases while they run, and between them.
#include "execute/measurement.hpp"

namespace venturi::execute {

Measurement::Measurement(const RankView& view, base::Clock& the_clock, Report report)
    : clock(the_clock),
      view_(view),
      report_(std::move(report)),
      idle_meter_(std::make_unique<measure::Meter>(0)),
      damage_log_(view.plan.journal, view.world.rank()) {}

void Measurement::note_damage(const measure::Fault& fault) {
  damage_log_.add(phases.empty() ? "" : phases.back().plan->path, view_.repetition, fault);
}

void Measurement::note_pause(std::uint64_t begin_ns, std::uint64_t end_ns, bool waits) {
  constexpr std::size_t kMost = 4096;
  if (!phases.empty() || view_.group.size() == view_.world.size() || view_.group.rank() != 0)
    return;
  if (pauses_.size() == kMost) return;
  pauses_.push_back({.at_s = since_hello(common_ns(begin_ns)),
                     .seconds = base::seconds(end_ns - begin_ns),
                     .waits = waits});
}

void Measurement::report_pauses() {
  if (pauses_.empty()) return;
  schema::Paused event;
  event.group = view_.part.plan->name;
  event.instance = static_cast<std::int64_t>(view_.part.instance);
  event.repetition = static_cast<std::int64_t>(view_.repetition);
  event.pauses = std::exchange(pauses_, {});
  report(std::move(event));
}

void Measurement::report_progress() {
  if (view_.group.rank() != 0 || phases.empty()) return;
  const std::uint64_t now = base::monotonic_ns();
  if (now - last_progress_ns_ < kProgressNs) return;
  last_progress_ns_ = now;
  schema::Progress event;
  event.path = phases.back().plan->path;
  event.repetition = static_cast<std::int64_t>(view_.repetition);
  const std::uint64_t at = clock.now_ns();
  event.at_s = base::seconds(at > phases.back().start_ns ? at - phases.back().start_ns : 0);
  for (const comm::Counters* counters : view_.group.visible_counters()) {
    event.bytes += static_cast<std::int64_t>(counters->bytes.load(std::memory_order_relaxed));
    event.operations +=
        static_cast<std::int64_t>(counters->operations.load(std::memory_order_relaxed));
    event.active += static_cast<std::int64_t>(counters->active.load(std::memory_order_relaxed));
  }
  report(std::move(event));
}

}  // namespace venturi::execute
