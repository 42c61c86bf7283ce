// What every step of a program needs: the rank, its clock, its files, and what is measured now.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/clock.hpp"
#include "comm/group.hpp"
#include "execute/damage_log.hpp"
#include "execute/error_agreement.hpp"
#include "execute/file_set.hpp"
#include "execute/footprint.hpp"
#include "execute/limiter.hpp"
#include "execute/manifest.hpp"
#include "execute/phase_state.hpp"
#include "execute/signals.hpp"
#include "execute/target.hpp"
#include "pattern/expression.hpp"
#include "schema/event.hpp"

namespace venturi::execute {

/// Takes an event; called on rank 0 only. Throws base::Broken when nobody listens any more.
using Report = std::function<void(const schema::Event&)>;

/// The state of one rank during one run.
class Context {
 public:
  /// Which of the plan's groups a rank belongs to.
  struct Part {
    const schema::Group* plan = nullptr;
    std::uint64_t instance = 0;
  };

  /// `the_group` are the ranks of the part, `the_world` those of the whole run.
  Context(const schema::Plan& the_plan, const Part& the_part, comm::Group& the_group,
          comm::Group& the_world, base::Clock& the_clock, Report report);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  const schema::Plan& plan;
  const Part part;
  /// The ranks that run the same program together; ranks in a plan's program are theirs.
  comm::Group& group;
  /// All ranks, those of other groups, too.
  comm::Group& world;
  base::Clock& clock;
  Signals signals;
  WriteCounter writes;
  pattern::Slots slots;
  pattern::Evaluator evaluator;
  std::vector<FileState> files;
  std::optional<Manifest> manifest;
  std::optional<Limiter> limiter;
  /// On the first rank of each node.
  std::optional<Target> target;
  /// Where the plan asks for it.
  std::optional<measure::OperationLog> operation_log;
  std::vector<PhaseState> phases;
  /// Slots of the loops around the current step.
  std::vector<std::size_t> loops;
  base::Buffer read_buffer;
  /// Where in these the next request comes whose step moves through memory.
  std::uint64_t write_at = 0;
  std::uint64_t read_at = 0;
  /// Of a read of a step some of whose reads get new memory; from 1 on it is that one's turn.
  double fresh_due = 0.0;
  std::uint64_t repetition = 0;
  std::uint64_t next_serial = 1;
  std::uint64_t hello_ns = 0;
  std::int64_t clock_offset_ns = 0;
  /// Errors after which this rank went on.
  std::uint64_t passed_errors = 0;
  /// A phase has begun: from here on failures are failures of the measurement.
  bool measured = false;
  /// Ranks remove items that others made, so what this rank made may be gone.
  bool removes_others = false;
  /// Some file is verified, so writes are numbered.
  bool verifies = false;
  /// Some phase drops caches, so paths must be remembered.
  bool remembers_paths = false;

  /// A moment of this rank on the first rank's clock.
  [[nodiscard]] std::int64_t common_ns(std::uint64_t own_ns) const noexcept {
    return static_cast<std::int64_t>(own_ns) + clock_offset_ns;
  }
  /// Seconds from hello to a moment on the first rank's clock.
  [[nodiscard]] double since_hello(std::int64_t ns) const noexcept {
    return base::seconds(static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, ns - static_cast<std::int64_t>(hello_ns))));
  }

  /// Time between two phases, in which the rank waited for signals or computed.
  void note_pause(std::uint64_t begin_ns, std::uint64_t end_ns, bool waits);
  /// Says what was noted since the last time, where several groups act.
  void report_pauses();

  /// What measures now: the innermost phase, or a meter that nobody reads.
  [[nodiscard]] measure::Meter& meter() noexcept {
    return phases.empty() ? *idle_meter_ : *phases.back().meter;
  }
  /// Nothing is to be done but waiting with the others: something failed or the limit was reached.
  [[nodiscard]] bool idle() const noexcept { return failed() || (limiter && limiter->stopped()); }

  /// Something failed: not even what ends a piece of work, such as a sync or a close, is done.
  [[nodiscard]] bool failed() const noexcept { return problem_.has_value() || halted_; }

  /// Rank 0 of each group reports.
  template <class Kind>
  void report(Kind event) {
    if (group.rank() != 0) return;
    const Reporting now(group.own_counters());
    report_(schema::Event{std::move(event)});
  }
  void warn(std::string what) { report(schema::Warning{std::move(what)}); }

  /// Between operations: progress, signals, an aborted group, ranks that failed. Cheap; looks once
  /// a millisecond, and says whether it did, because that takes time.
  bool tick(std::uint64_t now_ns) {
    if (clock.is_simulated()) now_ns = base::monotonic_ns();
    if (now_ns - last_tick_ns_ < kTickNs) return false;
    last_tick_ns_ = now_ns;
    group.poll();
    look_at_others();
    return true;
  }
  /// A sign of life for the process that watches; a rank that is only waiting for its storage
  /// gives none.
  void beat() noexcept {
    comm::Counters& mine = group.own_counters();
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
  /// The next progress event is due in half a second.
  void restart_progress() noexcept { last_progress_ns_ = base::monotonic_ns(); }
  /// Counts for the progress of the phase.
  void count(std::uint64_t bytes, std::uint64_t operations) noexcept;
  /// After operations: counts and ticks, and stops at the limit. Whether that may have taken long.
  bool after_operations(std::uint64_t now_ns, std::uint64_t bytes, std::uint64_t operations) {
    count(bytes, operations);
    const bool polled = tick(now_ns);
    const bool was_running = limiter && limiter->running();
    check_limit(now_ns);
    return polled || (was_running && !limiter->running());
  }
  /// Waits for the agreement if the limit was reached.
  void check_limit(std::uint64_t now_ns) {
    if (limiter) limiter->check(now_ns, meter().operations());
  }

  /// This rank cannot go on. The others of its group do nothing more once they see it between two
  /// operations; what it was they learn at the next agreement. The first problem counts.
  void set_problem(base::Problem problem);
  /// An operation failed with an errno (0: without one).
  void fail_operation(measure::Fault fault, const char* hint);
  /// The same of a request, or an operation on an item: the phase may say that it is counted, and
  /// that the rank goes on with the next one.
  void fail_request(measure::Fault fault, const char* hint);
  [[nodiscard]] bool goes_on_after_errors() const noexcept {
    return !phases.empty() && phases.back().plan->on_error == schema::OnError::kGoOn;
  }
  /// The trouble came in a call that a library makes for all sharers of a file, which may hold the
  /// others: from here on this rank does not wait for them for ever.
  void note_left_alone() noexcept {
    if (problem_ && alone_since_ns_ == 0) alone_since_ns_ = base::monotonic_ns();
  }
  /// Data was not what was written; the run goes on.
  void fail_verification(measure::Fault fault, const payload::Finding& finding);
  [[nodiscard]] bool has_problem() const noexcept { return problem_.has_value(); }
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
  /// All ranks of the group throw RunFailed if one has trouble. Collective.
  void agree_or_throw();
  /// The same for all ranks of the run; `mine` is what went wrong in this rank's group.
  void agree_all_or_throw(const std::optional<base::Problem>& mine = std::nullopt);
  /// Its two halves, where more is to be learned by the same call: `largest` of all ranks.
  [[nodiscard]] std::optional<base::Problem> agree_all(std::uint64_t& largest) {
    return agree(world, problem_, largest);
  }
  void throw_on_all(std::optional<base::Problem> problem);
  /// The same as `wait` in the middle of a phase whose limit others may reach before.
  void meet() {
    if (limiter) limiter->meet(meter().operations());
    wait();
    writes.meet();
  }
  /// Waits for all ranks; if one has trouble, all are idle from here on, because they may rely on
  /// what that rank did not do.
  void wait();
  /// All ranks know that one has trouble, since the same wait.
  [[nodiscard]] bool all_know_of_failure() const noexcept { return all_halted_; }

  /// Sleeps or advances the simulated clock; ends early with an exception when the run does.
  /// Throws base::Error (exit 2) unless 0 <= seconds <= 10^9.
  void pause(double seconds);
  /// Computes for so long, as an application does: what lay in the processor's caches is displaced.
  void spin(double seconds);
  /// Spends the time between two requests at work, as an application does: what follows a sleep
  /// finds a processor that idled, and meanwhile the kernel had one to write back with. Where there
  /// are more ranks than processors, or for more than a second, a long one sleeps.
  void think(double seconds);

  /// Makes expressions those of a rank: its number, its node, its place there.
  void take_place_of(std::uint64_t rank);
  /// The rank in whose place to act. Throws base::Error (exit 2) if there is no such rank.
  std::uint64_t owner_of(const schema::Expression& owner);
  /// The first rank of those that share the file with `rank`.
  [[nodiscard]] std::uint64_t first_sharer(const schema::File& file, std::uint64_t rank) const;
  /// Which of the sharers `rank` is, from 0.
  [[nodiscard]] std::uint64_t sharer_index(const schema::File& file, std::uint64_t rank) const;
  /// The path of the file for the current slots. Throws base::Error (exit 2) if it is unsafe.
  [[nodiscard]] std::string path_of(const schema::File& file) const;
  /// A key of the file's path with rank and node 0: what all ranks can count alike.
  [[nodiscard]] std::uint64_t family_key(const schema::File& file) const;
  /// What was written into the file of the current slots; null unless it is verified.
  History* history_of(FileState& file) const;
  /// The stamps of a path's content.
  [[nodiscard]] payload::Stamp stamp(const schema::File& file, std::uint64_t path_key,
                                     std::uint64_t generation, std::uint64_t write) const;
  /// The same of an open file.
  [[nodiscard]] payload::Stamp stamp(const schema::File& file, const OpenFile& open) const;
  /// Where the bytes of a file entry's writes come from; null where nobody keeps them, and where
  /// all requests write the same.
  payload::Stream* stream(FileState& file);
  /// At least `bytes` of memory that a stream fills.
  std::byte* writer(std::uint64_t bytes);
  /// At least `bytes` of incompressible (or as compressible as asked) data to write.
  std::byte* filler(const schema::File& file, std::uint64_t bytes);
  /// The same for an array of the application's, from which requests are packed.
  std::byte* cells(const schema::File& file, std::uint64_t bytes);
  /// At least `bytes` of memory to read into.
  std::byte* reader(std::uint64_t bytes);

  /// The operations that follow are on this file entry, for the log.
  void note_file(std::int64_t file) noexcept {
    if (operation_log) operation_log->set_file(static_cast<std::uint64_t>(file));
  }
  /// Another number at each call.
  std::uint64_t next_mark() noexcept { return ++marks_; }

  /// Data was written to, made persistent in, or read from a file.
  void note_write(FileState& file, OpenFile* open);
  /// So many bytes of an open file wait for a sync.
  void note_unsynced(OpenFile& open, std::uint64_t bytes) const;
  void note_sync(OpenFile* open, schema::SyncMode mode);
  void note_close(const OpenFile& open);
  void note_read(FileState& file, std::uint64_t owner);

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

  static constexpr std::uint64_t kTickNs = 1'000'000;
  static constexpr std::uint64_t kProgressNs = 500'000'000;

  /// Memory with made-up contents.
  struct Filled {
    base::Buffer memory;
    std::uint64_t bytes = 0;
    /// Compressibility and duplicates.
    std::pair<double, double> with;
  };

  /// Completes what is known of a failure; the reason in words.
  std::string explain(measure::Fault& fault) const;
  std::byte* fill(Filled& buffer, const schema::File& file, std::uint64_t bytes);
  void poll();
  void end_if_left_alone() const;
  void report_progress();
  /// Halts this rank if another one of its group has failed. Not to be called while it waits: what
  /// comes behind a wait is done by all ranks or by none.
  void look_at_others();
  /// Ranks of other nodes do not see this one's counters.
  void tell_other_nodes();

  Report report_;
  std::vector<schema::Pause> pauses_;
  Footprint footprint_;
  std::unique_ptr<measure::Meter> idle_meter_;
  std::optional<base::Problem> problem_;
  bool halted_ = false;
  bool all_halted_ = false;
  /// 0: the others are not known to be anywhere else than here.
  std::uint64_t alone_since_ns_ = 0;
  std::uint64_t last_tick_ns_ = 0;
  std::uint64_t last_progress_ns_ = 0;
  std::uint64_t marks_ = 0;
  DamageLog damage_log_;
  std::uint64_t run_key_;
  /// Of each rank, its place on its node; of each node, how many ranks it has.
  std::vector<std::uint32_t> place_on_node_;
  std::vector<std::uint32_t> ranks_of_node_;
  /// There are as many processors as ranks here.
  bool has_processor_ = false;
  Filled write_buffer_;
  Filled cells_;
};

/// While it lives, `rank`, `node` and the place on the node in expressions are another rank's.
class ActAs {
 public:
  ActAs(Context& context, std::uint64_t rank);
  ActAs(const ActAs&) = delete;
  ActAs& operator=(const ActAs&) = delete;
  ~ActAs();

 private:
  Context& context_;
  std::uint64_t before_;
};

}  // namespace venturi::execute
