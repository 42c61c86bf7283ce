// The measured unit: caches, a common start, the body, one agreement, one event.
#include <algorithm>
#include <cmath>

#include "execute/cache.hpp"
#include "execute/program.hpp"
#include "measure/merge.hpp"

namespace venturi::execute {
namespace {

std::vector<schema::Iteration> iterations(const Context& context) {
  std::vector<schema::Iteration> out;
  out.reserve(context.loops.size());
  for (const std::size_t slot : context.loops) {
    out.push_back({context.plan.slots[slot], context.slots[slot].integer()});
  }
  return out;
}

/// Seconds from hello to a moment on rank 0's clock.
double since_hello(const Context& context, std::int64_t ns) {
  const std::int64_t hello = static_cast<std::int64_t>(context.hello_ns);
  return static_cast<double>(std::max<std::int64_t>(0, ns - hello)) / base::kNsPerS;
}

std::int64_t common_ns(const Context& context, std::uint64_t own_ns) {
  return static_cast<std::int64_t>(own_ns) + context.clock_offset_ns;
}

void announce(Context& context, const schema::Phase& phase) {
  schema::PhaseStarted event;
  event.path = phase.path;
  event.group = context.plan.groups.front().name;
  event.instance = context.plan.groups.front().instance;
  event.repetition = static_cast<std::int64_t>(context.repetition);
  event.iteration = iterations(context);
  event.at_s = since_hello(context, common_ns(context, context.clock.now_ns()));
  event.limit_s = phase.limit_s;
  context.report(std::move(event));
}

/// Opens the phase on all ranks at the same moment and starts to measure.
void begin(Context& context, const schema::Phase& phase) {
  // The largest clock is the epoch of the time lines; no rank starts before it.
  const auto latest =
      context.group.maximum(static_cast<std::uint64_t>(common_ns(context, context.clock.now_ns())));
  const auto epoch = static_cast<std::int64_t>(latest) - context.clock_offset_ns;
  context.clock.advance_to(context.clock.is_simulated() ? static_cast<std::uint64_t>(epoch) : 0);
  PhaseState state;
  state.plan = &phase;
  state.meter = std::make_unique<measure::Meter>(static_cast<std::uint64_t>(epoch));
  state.serial = context.next_serial++;
  if (phase.limit_s) context.limiter.emplace(context.group, context.clock, phase.bound_s);
  comm::Counters& counters = context.group.own_counters();
  counters.bytes = 0;
  counters.operations = 0;
  counters.active = 1;
  context.measured = true;
  context.group.synchronise(context.clock);
  state.start_ns = context.clock.now_ns();
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

/// Merges the ranks and reports.
void conclude(Context& context, PhaseState phase, const measure::Span& span,
              schema::StoppedBy stopped_by) {
  std::int64_t first_start_ns = 0;
  schema::PhaseFinished event = measure::merge(context.group, *phase.meter, span, first_start_ns);
  const bool failed = context.group.maximum(static_cast<std::uint64_t>(context.has_trouble())) != 0;
  const CacheVerdict cache = judge_cache(context, phase);
  event.persisted = judge_persistence(context, phase);
  event.path = phase.plan->path;
  event.group = context.plan.groups.front().name;
  event.instance = context.plan.groups.front().instance;
  event.repetition = static_cast<std::int64_t>(context.repetition);
  event.iteration = iterations(context);
  event.at_s = since_hello(context, first_start_ns);
  event.stopped_by = failed ? schema::StoppedBy::kError : stopped_by;
  event.cache = cache.state;
  event.cache_reason = cache.reason;
  context.report(std::move(event));
  if (!context.phases.empty()) context.phases.back().meter->merge(*phase.meter);
}

/// After a limit cut the phase short: how far each rank came with what it made.
void settle_reach(Context& context, const schema::Phase& phase) {
  for (const std::size_t file : data_files(phase.body)) {
    context.files[file].reach.settle(context.group);
  }
}

/// What was read is in memory from now on.
void settle_residency(Context& context) {
  for (FileState& file : context.files) {
    const bool cached = file.read_in_phase && !file.storage->traits().bypasses_cache;
    const bool known =
        file.residency == Residency::kStorage || file.residency == Residency::kPartly;
    if (cached && known) file.residency = Residency::kMemory;
    file.read_in_phase = false;
  }
}

}  // namespace

void run_phase(Context& context, const schema::Phase& phase) {
  context.agree_or_throw();
  if (phase.cache == schema::CachePolicy::kDrop) {
    // Ranks that still write would make what was dropped come back.
    context.wait();
    drop_caches(context, data_files(phase.body));
  }
  context.clock.resync();
  announce(context, phase);
  begin(context, phase);
  run_steps(context, phase.body);
  const std::uint64_t end_ns = context.clock.now_ns();
  auto stopped_by = schema::StoppedBy::kWork;
  if (context.limiter) stopped_by = context.limiter->finish(context.meter().operations());
  context.limiter.reset();
  if (stopped_by != schema::StoppedBy::kWork) settle_reach(context, phase);
  context.group.own_counters().active = 0;
  // While this rank waits for the others the phase still makes progress.
  context.wait();
  PhaseState ended = std::move(context.phases.back());
  context.phases.pop_back();
  const measure::Span span{common_ns(context, ended.start_ns), common_ns(context, end_ns)};
  conclude(context, std::move(ended), span, stopped_by);
  settle_residency(context);
  context.agree_or_throw();
}

}  // namespace venturi::execute
