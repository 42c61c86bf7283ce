// What is counted: the clock, the phases that run now, and what a rank says of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "comm/group.hpp"
#include "execute/damage_log.hpp"
#include "execute/phase_state.hpp"
#include "execute/rank_view.hpp"
#include "measure/meter.hpp"
#include "schema/event.hpp"

namespace venturi::execute {

/// Takes an event; called on rank 0 only. Throws base::Broken when nobody listens any more.
using Report = std::function<void(const schema::Event&)>;

/// The numbers of one rank, and its voice.
class Measurement {
 public:
  Measurement(const RankView& view, base::Clock& the_clock, Report report);
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  base::Clock& clock;
  /// The running phases, the innermost last.
  std::vector<PhaseState> phases;
  /// Where the plan asks for it.
  std::optional<measure::OperationLog> operation_log;
  std::uint64_t next_serial = 1;
  std::uint64_t hello_ns = 0;
  std::int64_t clock_offset_ns = 0;
  /// Errors after which this rank went on.
  std::uint64_t passed_errors = 0;
  /// A phase has begun: from here on failures are failures of the measurement.
  bool measured = false;

  /// A moment of this rank on the first rank's clock.
  [[nodiscard]] std::int64_t common_ns(std::uint64_t own_ns) const noexcept {
    return static_cast<std::int64_t>(own_ns) + clock_offset_ns;
  }
  /// Seconds from hello to a moment on the first rank's clock.
  [[nodiscard]] double since_hello(std::int64_t ns) const noexcept {
    return base::seconds(static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, ns - static_cast<std::int64_t>(hello_ns))));
  }

  /// What measures now: the innermost phase, or a meter that nobody reads.
  [[nodiscard]] measure::Meter& meter() noexcept {
    return phases.empty() ? *idle_meter_ : *phases.back().meter;
  }
  /// Counts for the progress of the phase.
  void count(std::uint64_t bytes, std::uint64_t operations) noexcept {
    comm::Counters& mine = view_.group.own_counters();
    constexpr auto kRelaxed = std::memory_order_relaxed;
    mine.bytes.store(mine.bytes.load(kRelaxed) + bytes, kRelaxed);
    mine.operations.store(mine.operations.load(kRelaxed) + operations, kRelaxed);
  }
  /// The operations that follow are on this file entry, for the log.
  void note_file(std::int64_t file) noexcept {
    if (operation_log) operation_log->set_file(static_cast<std::uint64_t>(file));
  }
  /// A part of a file was read back wrong.
  void note_damage(const measure::Fault& fault);

  /// Time between two phases, in which the rank waited for signals or computed.
  void note_pause(std::uint64_t begin_ns, std::uint64_t end_ns, bool waits);
  /// Says what was noted since the last time, where several groups act.
  void report_pauses();
  /// Says how far the running phase is; at most twice a second.
  void report_progress();
  /// The next progress event is due in half a second.
  void restart_progress() noexcept { last_progress_ns_ = base::monotonic_ns(); }

  /// Rank 0 of each group reports.
  template <class Kind>
  void report(Kind event) {
    if (view_.group.rank() != 0) return;
    const Reporting now(view_.group.own_counters());
    report_(schema::Event{std::move(event)});
  }
  void warn(std::string what) { report(schema::Warning{std::move(what)}); }

 private:
  /// While it lives, an event is being written.
  class Reporting {
   public:
    explicit Reporting(comm::Counters& counters) : counters_(counters) { counters_.reporting = 1; }
    Reporting(const Reporting&) = delete;
    Reporting& operator=(const Reporting&) = delete;
    ~Reporting() { counters_.reporting = 0; }

   private:
    comm::Counters& counters_;
  };

  static constexpr std::uint64_t kProgressNs = 500'000'000;

  const RankView& view_;
  Report report_;
  std::unique_ptr<measure::Meter> idle_meter_;
  DamageLog damage_log_;
  std::vector<schema::Pause> pauses_;
  std::uint64_t last_progress_ns_ = 0;
};

}  // namespace venturi::execute
