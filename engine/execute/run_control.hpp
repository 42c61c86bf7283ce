// When a rank stops: trouble, limits, signals, and the waits in which ranks learn of each other's.
#pragma once

#include <cstdint>
#include <new>
#include <optional>

#include "base/error.hpp"
#include "execute/error_agreement.hpp"
#include "execute/footprint.hpp"
#include "execute/limiter.hpp"
#include "execute/measurement.hpp"
#include "execute/rank_view.hpp"
#include "execute/signals.hpp"
#include "payload/stamp.hpp"

namespace venturi::execute {

/// From when until when something was done.
struct Span {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

/// Whether one rank goes on, and how it waits.
class RunControl {
 public:
  RunControl(const RankView& view, Measurement& measurement);
  RunControl(const RunControl&) = delete;
  RunControl& operator=(const RunControl&) = delete;
  ~RunControl();

  Signals signals;
  std::optional<Limiter> limiter;

  /// Nothing is to be done but waiting with the others: something failed or the limit was reached.
  [[nodiscard]] bool idle() const noexcept { return failed() || (limiter && limiter->stopped()); }
  /// Something failed: not even what ends a piece of work, such as a sync or a close, is done.
  [[nodiscard]] bool failed() const noexcept { return problem_.has_value() || halted_; }
  [[nodiscard]] bool has_problem() const noexcept { return problem_.has_value(); }
  /// All ranks know that one has trouble, since the same wait.
  [[nodiscard]] bool all_know_of_failure() const noexcept { return all_halted_; }
  [[nodiscard]] bool goes_on_after_errors() const noexcept {
    return !measurement_.phases.empty() &&
           measurement_.phases.back().plan->on_error == schema::OnError::kGoOn;
  }

  // Between operations

  /// Progress, signals, an aborted group, ranks that failed. Cheap; looks once a millisecond, and
  /// says whether it did, because that takes time.
  bool tick(std::uint64_t now_ns) {
    if (measurement_.clock.is_simulated()) now_ns = base::monotonic_ns();
    if (now_ns - last_tick_ns_ < kTickNs) return false;
    last_tick_ns_ = now_ns;
    view_.group.poll();
    look_at_others();
    return true;
  }
  /// A sign of life for the process that watches; a rank that is only waiting for its storage
  /// gives none.
  void beat() noexcept {
    comm::Counters& mine = view_.group.own_counters();
    mine.beats.store(mine.beats.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// What is called while something is in flight: like `poll`, but no sign of life.
  void poll_in_flight();
  /// The same, at most once a millisecond.
  void tick_in_flight(std::uint64_t now_ns) {
    if (now_ns - last_tick_ns_ < kTickNs) return;
    last_tick_ns_ = now_ns;
    poll_in_flight();
  }
  /// After operations: counts and ticks, and stops at the limit. Whether that may have taken long.
  bool after_operations(std::uint64_t now_ns, std::uint64_t bytes, std::uint64_t operations) {
    last_end_ns_ = now_ns;
    measurement_.count(bytes, operations);
    const bool polled = tick(now_ns);
    const bool was_running = limiter && limiter->running();
    check_limit(now_ns);
    return polled || (was_running && !limiter->running());
  }
  /// Waits for the agreement if the limit was reached.
  void check_limit(std::uint64_t now_ns) {
    if (limiter) limiter->check(now_ns, measurement_.meter().operations());
  }

  // Trouble

  /// This rank cannot go on. The others of its group do nothing more once they see it between two
  /// operations; what it was they learn at the next agreement. The first problem counts.
  void set_problem(base::Problem problem);
  /// An operation failed with an errno (0: without one).
  void fail_operation(measure::Fault fault, const char* hint);
  /// The same of a request, or an operation on an item: the phase may say that it is counted, and
  /// that the rank goes on with the next one.
  void fail_request(measure::Fault fault, const char* hint);
  /// Data was not what was written; the run goes on.
  void fail_verification(measure::Fault fault, const payload::Finding& finding);
  /// The trouble came in a call that a library makes for all sharers of a file, which may hold the
  /// others: from here on this rank does not wait for them for ever.
  void note_left_alone() noexcept {
    if (problem_ && alone_since_ns_ == 0) alone_since_ns_ = base::monotonic_ns();
  }
  /// Does something that may find the plan or the target wrong on this rank alone. That becomes
  /// trouble, because the others may be waiting for this rank; a broken group still ends it.
  template <class Action>
  void guard(const Action& action) {
    try {
      action();
    } catch (const base::Broken&) {
      throw;
    } catch (const base::Error& error) {
      set_problem(error.problem());
    } catch (const std::bad_alloc&) {
      set_problem({.code = "plan",
                   .message = "not enough memory for one request",
                   .exit_code = base::kExitPlan});
    }
  }

  // All ranks

  /// All ranks of the group throw RunFailed if one has trouble. Collective.
  void agree_or_throw();
  /// The same for all ranks of the run; `mine` is what went wrong in this rank's group.
  void agree_all_or_throw(const std::optional<base::Problem>& mine = std::nullopt);
  /// Its two halves, where more is to be learned by the same call: `largest` of all ranks.
  [[nodiscard]] std::optional<base::Problem> agree_all(std::uint64_t& largest) {
    return agree(view_.world, problem_, largest);
  }
  void throw_on_all(std::optional<base::Problem> problem);
  /// Waits for all ranks; if one has trouble, all are idle from here on, because they may rely on
  /// what that rank did not do.
  void wait();

  // Time

  /// Sleeps or advances the simulated clock; ends early with an exception when the run does.
  /// Throws base::Error (exit 2) unless 0 <= seconds <= 10^9.
  Span pause(double seconds);
  /// Computes until so long after `begin_ns`, as an application does: what lay in the processor's
  /// caches is displaced.
  Span spin(std::uint64_t begin_ns, double seconds);
  /// The same for a step. It begins at the end of the operation before it: what the engine did
  /// since then is computing, too.
  Span compute(double seconds);
  /// Spends the time between two requests at work, as an application does: what follows a sleep
  /// finds a processor that idled, and meanwhile the kernel had one to write back with. Where there
  /// are more ranks than processors, or for more than a second, a long one sleeps.
  Span think(double seconds);
  /// The same from `begin_ns` on, the end of an operation.
  Span think(std::uint64_t begin_ns, double seconds);

 private:
  /// The end of the operation before, or now where that is long ago.
  [[nodiscard]] std::uint64_t since_operation() const;

  static constexpr std::uint64_t kTickNs = 1'000'000;
  /// From the end of an operation to the beginning of a step: what lies further back was not spent
  /// on that step.
  static constexpr std::uint64_t kMostBetweenStepsNs = 2'000;

  /// Completes what is known of a failure; the reason in words.
  std::string explain(measure::Fault& fault) const;
  void poll();
  void end_if_left_alone() const;
  /// Halts this rank if another one of its group has failed. Not to be called while it waits: what
  /// comes behind a wait is done by all ranks or by none.
  void look_at_others();
  /// Ranks of other nodes do not see this one's counters.
  void tell_other_nodes();

  const RankView& view_;
  Measurement& measurement_;
  Footprint footprint_;
  std::optional<base::Problem> problem_;
  bool halted_ = false;
  bool all_halted_ = false;
  /// 0: the others are not known to be anywhere else than here.
  std::uint64_t alone_since_ns_ = 0;
  std::uint64_t last_tick_ns_ = 0;
  /// The operation, or the computing, before the current step ended then.
  std::uint64_t last_end_ns_ = 0;
  /// There are as many processors as ranks here.
  bool has_processor_ = false;
};

}  // namespace venturi::execute
