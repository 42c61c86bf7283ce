// Trouble of one rank and of all, and the ways to wait.
#include "execute/run_control.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/random.hpp"
#include "base/room.hpp"

namespace venturi::execute {
namespace {

/// What no signal is called.
constexpr std::uint64_t kFailedElsewhere = base::key_of(std::string_view("\0failed", 7));

/// Throws if SIGINT or SIGTERM is waiting; both are blocked, so nothing is torn.
void check_signals() {
  sigset_t waiting;
  if (sigpending(&waiting) != 0) return;
  if (sigismember(&waiting, SIGINT) == 0 && sigismember(&waiting, SIGTERM) == 0) return;
  throw base::Broken({.code = "interrupted",
                      .message = "a signal asked the engine to stop",
                      .exit_code = base::kExitInterrupted});
}

/// Operations for which storage may need room.
bool takes_room(schema::OperationKind kind) {
  using enum schema::OperationKind;
  return kind == kWrite || kind == kCreate || kind == kOpen || kind == kSync || kind == kClose ||
         kind == kCopy;
}

/// What can be known where the cause was lost: libraries say of a full disk that something failed,
/// or that less was written.
const char* likely_cause(const measure::Fault& fault, const std::string& directory) {
  const bool is_short = fault.error == 0 && fault.kind == schema::OperationKind::kWrite;
  const bool is_vague = is_short || fault.error == EIO;
  return is_vague && takes_room(fault.kind) && base::is_full(directory.c_str())
             ? " (the file system is full)"
             : "";
}

/// Seconds of waiting as nanoseconds. Throws base::Error (exit 2) for more than a clock can count.
std::uint64_t waiting_ns(double seconds) {
  constexpr double kMostS = 1e9;
  if (!(seconds >= 0.0 && seconds <= kMostS)) {
    throw base::plan_error(
        "seconds", fmt::format("a wait of {} s is not between 0 and {} s", seconds, kMostS));
  }
  return static_cast<std::uint64_t>(std::llround(seconds * base::kNsPerS));
}

}  // namespace

RunControl::RunControl(const RankView& view, Measurement& measurement)
    : signals(view.plan, view.world), view_(view), measurement_(measurement) {
  view_.group.set_poll([this] { poll(); });
  if (&view_.world != &view_.group) view_.world.set_poll([this] { poll(); });
  has_processor_ =
      view_.ranks_here() <= static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

RunControl::~RunControl() {
  view_.group.set_poll({});
  view_.world.set_poll({});
}

// Nobody can fetch the others out of the library, so the job has to end.
void RunControl::end_if_left_alone() const {
  constexpr double kPatienceS = 10.0;
  if (alone_since_ns_ == 0) return;
  const double waited_s = base::seconds(base::monotonic_ns() - alone_since_ns_);
  if (waited_s > (view_.plan.stall_s > 0.0 ? view_.plan.stall_s : kPatienceS))
    throw base::Broken(*problem_);
}

void RunControl::poll() {
  beat();
  end_if_left_alone();
  check_signals();
  measurement_.report_progress();
  if (comm::Notice notice; view_.world.rank() == 0 && view_.world.take_notice(notice)) {
    if (notice.is_warning) return measurement_.report(comm::warning_of<schema::Warning>(notice));
    measurement_.report(schema::Remark{std::move(notice.text)});
  }
}

void RunControl::poll_in_flight() {
  comm::Counters& mine = view_.group.own_counters();
  const std::uint64_t before = mine.beats.load(std::memory_order_relaxed);
  view_.world.poll();
  mine.beats.store(before, std::memory_order_relaxed);
}

void RunControl::set_problem(base::Problem problem) {
  if (problem_) return;
  if (measurement_.measured) {
    problem.exit_code = base::kExitFailed;
    if (problem.code == "target") problem.code = "io";
  }
  problem_ = std::move(problem);
  view_.group.own_counters().failed.store(1, std::memory_order_relaxed);
  signals.give_up();
  tell_other_nodes();
}

void RunControl::tell_other_nodes() {
  if (all_halted_) return;
  const auto first = static_cast<std::size_t>(view_.part.plan->first) +
                     view_.part.instance * static_cast<std::size_t>(view_.part.plan->ranks);
  for (std::size_t rank = 0; rank < view_.group.size(); ++rank) {
    const bool leads = view_.place_on_node(rank) == 0;
    if (leads && view_.group.node_of(rank) != view_.group.node())
      view_.world.tell(first + rank, kFailedElsewhere, 0);
  }
}

// A rank that is told of another node's failure shows it to its own node as if it were its own.
void RunControl::look_at_others() {
  if (failed()) return;
  std::atomic<std::uint64_t>& mine = view_.group.own_counters().failed;
  const bool is_told = view_.nodes() > 1 && view_.place_on_node(view_.group.rank()) == 0;
  if (is_told && view_.world.event_count(kFailedElsewhere).times > 0)
    mine.store(1, std::memory_order_relaxed);
  halted_ = std::ranges::any_of(view_.group.visible_counters(), [](const comm::Counters* counters) {
    return counters->failed.load(std::memory_order_relaxed) != 0;
  });
}

std::string RunControl::explain(measure::Fault& fault) const {
  const std::string said = fault.error != 0 ? std::strerror(fault.error) : fault.what;
  std::string reason = said + likely_cause(fault, view_.plan.directory);
  if (fault.what.empty() || fault.what == said) fault.what = reason;
  fault.at_ns = measurement_.clock.now_ns();
  return reason;
}

void RunControl::fail_request(measure::Fault fault, const char* hint) {
  if (!goes_on_after_errors()) return fail_operation(std::move(fault), hint);
  explain(fault);
  ++measurement_.passed_errors;
  measurement_.meter().fail(std::move(fault));
}

void RunControl::fail_operation(measure::Fault fault, const char* hint) {
  const std::string reason = explain(fault);
  const std::string where =
      measurement_.phases.empty() ? fault.path : measurement_.phases.back().plan->path;
  set_problem(
      {.code = measurement_.measured ? "io" : "target",
       .message = fmt::format("{} of {} failed on rank {} at offset {}: {}", to_string(fault.kind),
                              fault.path, view_.group.rank(), fault.offset, reason),
       .hint = hint,
       .where = where,
       .exit_code = measurement_.measured ? base::kExitFailed : base::kExitTarget});
  measurement_.meter().fail(std::move(fault));
}

void RunControl::fail_verification(measure::Fault fault, const payload::Finding& finding) {
  fault.at_ns = measurement_.clock.now_ns();
  fault.what = finding.what;
  fault.damage = finding.damage;
  fault.bytes = finding.bytes;
  fault.offset = finding.offset;
  ++measurement_.passed_errors;
  measurement_.note_damage(fault);
  measurement_.meter().fail(std::move(fault));
}

void RunControl::agree_or_throw() {
  auto problem = agree(view_.group, problem_);
  if (!problem) return;
  view_.group.own_counters().failed.store(1, std::memory_order_relaxed);
  throw RunFailed(std::move(*problem));
}

void RunControl::agree_all_or_throw(const std::optional<base::Problem>& mine) {
  throw_on_all(agree(view_.world, mine ? mine : problem_));
}

void RunControl::throw_on_all(std::optional<base::Problem> problem) {
  if (!problem) return;
  all_halted_ = true;
  view_.group.own_counters().failed.store(1, std::memory_order_relaxed);
  // What ranks of other nodes were told arrives before the ranks part.
  view_.world.forget_told();
  throw RunFailed(std::move(*problem));
}

void RunControl::wait() {
  std::array<std::uint64_t, 2> state{
      static_cast<std::uint64_t>(has_problem()),
      measurement_.clock.is_simulated() ? measurement_.clock.now_ns() : 0};
  view_.group.reduce(state, comm::Reduction::kMaximum);
  alone_since_ns_ = 0;
  all_halted_ |= state[0] != 0;
  halted_ |= all_halted_;
  measurement_.clock.advance_to(state[1]);
}

Span RunControl::pause(double seconds) {
  base::Clock& clock = measurement_.clock;
  const std::uint64_t wanted_ns = waiting_ns(seconds);
  const std::uint64_t begin = clock.now_ns();
  if (clock.is_simulated()) {
    clock.advance(wanted_ns);
    return {begin, clock.now_ns()};
  }
  constexpr double kSliceS = 0.01;
  const std::uint64_t end = begin + wanted_ns;
  std::uint64_t now = begin;
  while (now < end && !failed()) {
    const double left = std::min(base::seconds(end - now), kSliceS);
    const timespec slice{.tv_sec = 0, .tv_nsec = static_cast<long>(left * base::kNsPerS)};
    nanosleep(&slice, nullptr);
    tick(clock.now_ns());
    now = clock.now_ns();
  }
  return {begin, now};
}

Span RunControl::spin(std::uint64_t begin_ns, double seconds) {
  const base::Clock& clock = measurement_.clock;
  if (clock.is_simulated()) return pause(seconds);
  const std::uint64_t end = begin_ns + waiting_ns(seconds);
  std::uint64_t now = clock.now_ns();
  if (now >= end) return {begin_ns, now};
  for (footprint_.begin(); now < end && !failed(); now = clock.now_ns()) {
    footprint_.reach(now - begin_ns);
    tick(now);
  }
  return {begin_ns, now};
}

std::uint64_t RunControl::since_operation() const {
  const std::uint64_t now = measurement_.clock.now_ns();
  return now - last_end_ns_ <= kMostBetweenStepsNs ? last_end_ns_ : now;
}

Span RunControl::compute(double seconds) { return spin(since_operation(), seconds); }

Span RunControl::think(double seconds) { return think(since_operation(), seconds); }

Span RunControl::think(std::uint64_t begin_ns, double seconds) {
  constexpr double kShortS = 0.002;
  constexpr double kLongestWorkS = 1.0;
  const bool works = seconds <= kShortS || (has_processor_ && seconds <= kLongestWorkS);
  return works ? spin(begin_ns, seconds) : pause(seconds);
}

}  // namespace venturi::execute
