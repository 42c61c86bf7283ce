// The measured unit: caches, a common start, the body, one agreement, one event.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "comm/watch.hpp"
#include "execute/cache.hpp"
#include "execute/cache_pressure.hpp"
#include "execute/program.hpp"
#include "execute/residency.hpp"
#include "measure/merge.hpp"

namespace venturi::execute {
namespace {

void announce(Context& context, const schema::Phase& phase) {
  schema::PhaseStarted event;
  event.path = phase.path;
  event.group = context.part.plan->name;
  event.instance = static_cast<std::int64_t>(context.part.instance);
  event.repetition = static_cast<std::int64_t>(context.repetition);
  event.iteration = iterations(context);
  event.at_s = context.since_hello(context.common_ns(context.clock.now_ns()));
  event.limit_s = phase.limit_s;
  context.report(std::move(event));
}

/// From here on the process that watches knows the phase and its deadline.
void be_watched(RankView& view, PhaseState& state) {
  comm::Counters& counters = view.group.own_counters();
  state.outer_deadline_ns = counters.deadline_ns;
  state.outer_doing = comm::doing_of(counters);
  comm::set_doing(counters, fmt::format("{}{}", comm::kPhaseWord, state.plan->path));
  if (!state.plan->deadline_s) return;
  const auto most_ns = static_cast<std::uint64_t>(*state.plan->deadline_s * base::kNsPerS);
  const std::uint64_t own = base::monotonic_ns() + most_ns;
  const std::uint64_t outer = state.outer_deadline_ns;
  counters.deadline_ns = outer == 0 ? own : std::min(own, outer);
}

/// The phase is over on all ranks.
void end_watch(Context& context, std::uint64_t outer_deadline_ns, const std::string& outer_doing) {
  comm::Counters& counters = context.group.own_counters();
  counters.deadline_ns = outer_deadline_ns;
  comm::set_doing(counters, context.phases.empty() ? "after a phase" : outer_doing);
}

/// Brings the caches into the state that the phase asks for; what it holds is held while the phase
/// runs. Collective.
std::unique_ptr<Occupation> prepare_caches(Context& context, const schema::Phase& phase) {
  if (phase.overfill_bytes > 0) {
    context.guard([&] { overfill(context, static_cast<std::uint64_t>(phase.overfill_bytes)); });
    context.agree_or_throw();
  }
  if (phase.cache == schema::CachePolicy::kDrop) {
    // Ranks that still write would make what was dropped come back.
    context.wait();
    drop_caches(context, data_files(phase.body));
  }
  std::unique_ptr<Occupation> occupation;
  if (phase.occupy_share > 0.0) {
    std::uint64_t bytes = 0;
    context.guard([&] { bytes = occupied_part(context, phase.occupy_share); });
    context.agree_or_throw();
    context.guard([&] { occupation = std::make_unique<Occupation>(context, bytes); });
    context.agree_or_throw();
  }
  return occupation;
}

/// Opens the phase on all ranks at the same moment and starts to measure.
void begin(Context& context, const schema::Phase& phase) {
  // The largest clock is the epoch of the time lines; no rank starts before it.
  const auto latest =
      context.group.maximum(static_cast<std::uint64_t>(context.common_ns(context.clock.now_ns())));
  const auto epoch = static_cast<std::int64_t>(latest) - context.clock_offset_ns;
  context.clock.advance_to(context.clock.is_simulated() ? static_cast<std::uint64_t>(epoch) : 0);
  if (context.verifies) context.writes.begin_phase(context.group.maximum(context.writes.number()));
  PhaseState state;
  state.plan = &phase;
  be_watched(context, state);
  if (context.target) state.target = context.target->facts();
  state.meter = std::make_unique<measure::Meter>(static_cast<std::uint64_t>(epoch));
  state.serial = context.next_serial++;
  if (phase.limit_s) {
    context.limiter.emplace(context.group, context.clock, phase.bound_s);
    if (has_collective(context.plan, phase.body)) context.limiter->only_together();
  }
  comm::Counters& counters = context.group.own_counters();
  counters.bytes = 0;
  counters.operations = 0;
  counters.active = 1;
  context.measured = true;
  context.group.start(context.clock);
  state.start_ns = context.clock.now_ns();
  if (context.operation_log) {
    state.meter->log_to(&*context.operation_log);
    context.operation_log->set_phase(state.serial, context.repetition);
  }
  if (!context.phases.empty()) context.phases.back().encloses = true;
  context.phases.push_back(std::move(state));
  context.restart_progress();
  if (phase.limit_s) context.limiter->begin(context.phases.back().start_ns, *phase.limit_s);
}

schema::SyncMode judge_persistence(Context& context, PhaseState& phase) {
  for (const FileState& file : context.files) {
    for (const OpenFile& open : file.open) {
      phase.unsynced |= open.unsynced_in >= phase.serial;
    }
  }
  const std::uint64_t mine = phase.unsynced ? strength(schema::SyncMode::kNone) : phase.weakest;
  const std::uint64_t strongest = strength(schema::SyncMode::kFsync);
  const std::uint64_t weakest = context.group.minimum(phase.wrote ? mine : strongest);
  const bool any_wrote = context.group.maximum(static_cast<std::uint64_t>(phase.wrote)) != 0;
  return any_wrote ? mode_of(weakest) : schema::SyncMode::kNone;
}

/// Looks at the target again. What changed is a problem, said by the node that sees it.
std::optional<base::Problem> look_at_target(Context& context, const schema::Phase& phase,
                                            const char* when) {
  if (!context.target) return std::nullopt;
  context.target->look();
  const std::string change = context.target->change();
  if (change.empty()) return std::nullopt;
  const std::string& host = context.group.placement().hosts[context.group.node()];
  return base::Problem{.code = "target_changed",
                       .message = fmt::format("the target changed {} the phase, seen from {}: {}",
                                              when, host, change),
                       .hint = "what the run made may be left on what was mounted before",
                       .where = phase.path,
                       .exit_code = base::kExitFailed};
}

/// The same on all ranks: how the target changed during the phase, or nothing. Collective.
std::string agree_on_change(Context& context, const schema::Phase& phase) {
  auto seen = agree(context.group, look_at_target(context, phase, "during"));
  if (!seen) return "";
  context.set_problem(*seen);
  return seen->message;
}

/// Merges the ranks and reports.
void conclude(Context& context, PhaseState phase, const measure::Span& span,
              schema::StoppedBy stopped_by) {
  std::int64_t first_start_ns = 0;
  schema::PhaseFinished event = measure::merge(context.group, *phase.meter, span, first_start_ns);
  const bool failed = context.group.maximum(static_cast<std::uint64_t>(context.has_problem())) != 0;
  if (!phase.encloses) event.servers = shares_of_servers(context, phase.file_work);
  const CacheVerdict cache = judge_cache(context, phase);
  event.flushed = judge_persistence(context, phase);
  event.kernels = std::move(phase.kernels);
  event.path = phase.plan->path;
  event.group = context.part.plan->name;
  event.instance = static_cast<std::int64_t>(context.part.instance);
  event.repetition = static_cast<std::int64_t>(context.repetition);
  event.iteration = iterations(context);
  event.at_s = context.since_hello(first_start_ns);
  event.stopped_by = failed ? schema::StoppedBy::kError : stopped_by;
  event.cache = cache.state;
  event.cache_reason = cache.reason;
  event.cached_share = cache.cached_share;
  event.target_before = phase.target;
  event.target_change = agree_on_change(context, *phase.plan);
  if (context.target) event.target_after = context.target->facts();
  context.report(std::move(event));
  if (!context.phases.empty()) context.phases.back().meter->merge(*phase.meter);
}

/// How far each rank came with what it made: to be known where a limit cut the phase short, and
/// where later windows are counted from what is there.
void settle_reach(Context& context, const schema::Phase& phase, bool was_cut) {
  for (const std::size_t index : data_files(phase.body)) {
    FileState& file = context.files[index];
    if (was_cut) {
      file.reach.settle(context.group);
    } else {
      file.reach.finish();
    }
    if (file.plan->tree && (was_cut || file.has_moving_windows)) {
      settle_all(context.group, file.item_reaches);
    }
  }
}

/// What was read is in memory from now on.
void settle_residency(RunFiles& run_files) {
  for (FileState& file : run_files.files) {
    const bool cached = file.read_in_phase && !file.storage->traits().bypasses_cache;
    const bool known =
        file.residency == Residency::kStorage || file.residency == Residency::kPartly;
    if (cached && known) file.residency = Residency::kMemory;
    file.read_in_phase = false;
  }
}

}  // namespace

std::vector<schema::Iteration> iterations(const RankView& view) {
  std::vector<schema::Iteration> out;
  out.reserve(view.loops.size());
  for (const std::size_t slot : view.loops) {
    out.push_back({view.plan.slots[slot], view.slots[slot].integer()});
  }
  return out;
}

void run_phase(Context& context, const schema::Phase& phase) {
  if (auto problem = look_at_target(context, phase, "before")) context.set_problem(*problem);
  context.guard([&] { reserve_arrays(context, phase.body); });
  context.agree_or_throw();
  std::unique_ptr<Occupation> occupation = prepare_caches(context, phase);
  const ToRead to_read = files_to_read(context, phase.body);
  // Between phases names may become something else; what is opened again is looked at again.
  for (FileState& file : context.files) file.trees.close_all(*file.plain);
  for (const std::size_t index : data_files(phase.body)) {
    context.files[index].tells_servers = context.files[index].plain->tells_servers();
  }
  context.clock.resync();
  announce(context, phase);
  begin(context, phase);
  context.phases.back().to_read = to_read;
  run_steps(context, phase.body);
  const std::uint64_t end_ns = context.clock.now_ns();
  auto stopped_by = schema::StoppedBy::kWork;
  if (context.limiter) stopped_by = context.limiter->finish(context.meter().operations());
  context.limiter.reset();
  settle_reach(context, phase, stopped_by != schema::StoppedBy::kWork);
  context.group.own_counters().active = 0;
  // While this rank waits for the others the phase still makes progress.
  context.wait();
  occupation.reset();
  PhaseState ended = std::move(context.phases.back());
  context.phases.pop_back();
  if (context.operation_log && !context.phases.empty()) {
    context.operation_log->set_phase(context.phases.back().serial, context.repetition);
  }
  const measure::Span span{context.common_ns(ended.start_ns), context.common_ns(end_ns),
                           ended.start_ns};
  const std::uint64_t outer_deadline_ns = ended.outer_deadline_ns;
  const std::string outer_doing = ended.outer_doing;
  conclude(context, std::move(ended), span, stopped_by);
  settle_residency(context);
  context.agree_or_throw();
  end_watch(context, outer_deadline_ns, outer_doing);
}

}  // namespace venturi::execute
