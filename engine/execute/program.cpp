// The interpreter of control: it is slow compared to the leaves, and that does not matter.
#include "execute/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <variant>

#include "execute/row_run.hpp"
#include "execute/step.hpp"
#include "pattern/name.hpp"

namespace venturi::execute {
namespace {

void run_for(Context& context, const schema::For& loop) {
  const auto [first, count, columns] = context.turns_of(loop);
  const bool must_wait = waits(context.plan, loop.body);
  const auto slot = static_cast<std::size_t>(loop.variable);
  context.loops.push_back(slot);
  const auto goes_on = [&] {
    if (!must_wait) return !context.idle();
    if (context.all_know_of_failure()) return false;
    return !context.limiter || !context.limiter->ended_together();
  };
  RowRuns together(context.plan, loop, columns);
  const std::uint64_t end = first + count;
  for (std::uint64_t i = first; i < end && goes_on();) {
    context.slots[slot] = static_cast<std::int64_t>(i);
    columns.set(context.slots, i);
    const std::uint64_t done = together.run(context, i, end);
    if (done == 0) run_steps(context, loop.body);
    i += std::max<std::uint64_t>(done, 1);
  }
  context.loops.pop_back();
  context.slots[slot] = std::int64_t{0};
  columns.reset(context.slots);
}

/// Runs the body, and again until the phase is old enough; not when nothing could be done.
void run_repeat(Context& context, const schema::Repeat& repeat) {
  if (context.phases.empty()) return run_steps(context, repeat.body);
  const std::uint64_t end_ns =
      context.phases.back().start_ns +
      static_cast<std::uint64_t>(std::llround(repeat.at_least_s * base::kNsPerS));
  std::uint64_t before = 0;
  do {
    before = context.meter().operations();
    run_steps(context, repeat.body);
  } while (!context.idle() && context.meter().operations() > before &&
           context.clock.now_ns() < end_ns);
}

void run_compute(Context& context, const schema::Compute& step) {
  if (context.idle()) return;
  const double seconds = context.evaluator.seconds(step.seconds, context.slots, "compute.seconds");
  if (seconds == 0.0) return;
  const Span spent =
      step.mode == schema::ComputeMode::kSleep ? context.pause(seconds) : context.compute(seconds);
  context.meter().add_compute(spent.end_ns - spent.begin_ns);
  context.note_pause(spent.begin_ns, spent.end_ns, false);
  context.after_operations(spent.end_ns, 0, 0);
}

/// The name of a signal for the current slots. Throws base::Error (exit 2) if it has none.
std::string signal_name(RankView& view, const std::vector<schema::PathPart>& parts) {
  std::string name;
  pattern::render_path(parts, view.slots, view.evaluator, name);
  if (name.empty()) throw base::plan_error("signal", "a signal has a name");
  return name;
}

/// A rank that failed did not do what the signal says.
void run_signal(Context& context, const schema::Signal& step) {
  if (context.failed()) return;
  context.guard([&] {
    const std::string name = signal_name(context, step.name);
    context.signals.give(step.to, name, context.clock.now_ns());
  });
}

/// The first rank of the group listens, the others wait for it.
void run_wait(Context& context, const schema::Wait& step) {
  const std::uint64_t begin = context.clock.now_ns();
  context.guard([&] {
    if (context.group.rank() != 0 || context.failed()) return;
    const std::string name = signal_name(context, step.name);
    const std::uint64_t count = context.evaluator.count(step.count, context.slots, "wait.count");
    if (context.signals.await(name, count, context.clock) == Signals::End::kLiteral) return;
    context.set_problem(
        {.code = std::string(kFollows),
         .message = fmt::format("nobody will give the signal '{}' any more, because "
                                "another rank failed",
                                name)});
  });
  context.wait();
  const std::uint64_t end = context.clock.now_ns();
  context.meter().add_wait(end - begin);
  context.note_pause(begin, end, true);
}

void run_choose(Context& context, const schema::Choose& choice) {
  run_step(context, chosen_step(context, choice));
}

void run_when(Context& context, const schema::When& when) {
  if (context.evaluator.value(when.condition, context.slots, "when").is_zero()) return;
  run_steps(context, when.body);
}

void run_barrier(Context& context, const schema::Barrier& /*step*/) { context.meet(); }

/// Who turns what is wrong with a step on one rank alone into trouble of the group.
enum class Guard : std::uint8_t { kByInterpreter, kByItself };

/// What the interpreter knows of a kind of step.
template <class Kind>
struct StepEntry {
  void (*run)(Context&, const Kind&);
  Guard guard;
  /// Whether ranks wait for each other in it.
  bool (*waits)(const schema::Plan&, const Kind&);
};

constexpr auto kNever = [](const schema::Plan&, const auto&) { return false; };
constexpr auto kAlways = [](const schema::Plan&, const auto&) { return true; };
constexpr auto kInBody = [](const schema::Plan& plan, const auto& step) {
  return waits(plan, step.body);
};

bool transfer_waits(const schema::Plan& plan, const schema::Transfer& step) {
  return is_together(plan, step) || meets_first(plan, step);
}

bool name_waits(const schema::Plan& plan, const schema::Manage& step) {
  return manage_waits(plan.files[static_cast<std::size_t>(step.file)], step.verb);
}

/// Every kind of step once; a kind without a row does not compile.
constexpr std::tuple kSteps{
    StepEntry<schema::For>{run_for, Guard::kByItself, kInBody},
    StepEntry<schema::Choose>{run_choose, Guard::kByItself, kInBody},
    StepEntry<schema::When>{run_when, Guard::kByItself, kInBody},
    StepEntry<schema::Phase>{run_phase, Guard::kByItself, kAlways},
    StepEntry<schema::Repeat>{run_repeat, Guard::kByItself, kInBody},
    StepEntry<schema::Barrier>{run_barrier, Guard::kByItself, kAlways},
    StepEntry<schema::Signal>{run_signal, Guard::kByItself, kNever},
    StepEntry<schema::Wait>{run_wait, Guard::kByItself, kAlways},
    StepEntry<schema::Compute>{run_compute, Guard::kByInterpreter, kNever},
    StepEntry<schema::Transfer>{run_transfer, Guard::kByInterpreter, transfer_waits},
    StepEntry<schema::Manage>{run_manage, Guard::kByItself, name_waits},
    StepEntry<schema::Items>{run_items, Guard::kByInterpreter, kNever},
    StepEntry<schema::Find>{run_find, Guard::kByItself, kAlways},
    StepEntry<schema::Exec>{run_exec, Guard::kByItself, kAlways},
    StepEntry<schema::Kernel>{run_kernel, Guard::kByItself, kAlways},
    StepEntry<schema::Sync>{run_sync, Guard::kByInterpreter, kNever},
};

template <class Kind>
constexpr const StepEntry<Kind>& entry_of(const Kind& /*step*/) {
  return std::get<StepEntry<Kind>>(kSteps);
}

template <class Kind>
void run_one(Context& context, const Kind& step) {
  if constexpr (requires { step.file; }) context.note_file(step.file);
  const StepEntry<Kind>& entry = entry_of(step);
  if (entry.guard == Guard::kByItself) return entry.run(context, step);
  context.guard([&] { entry.run(context, step); });
}

}  // namespace

void run_steps(Context& context, const std::vector<schema::Step>& steps) {
  for (const schema::Step& step : steps) run_step(context, step);
}

void run_step(Context& context, const schema::Step& step) {
  std::visit([&](const auto& one) { run_one(context, one); }, step.value);
}

const schema::Step& chosen_step(RankView& view, const schema::Choose& choice) {
  const std::uint64_t number = view.evaluator.count(choice.number, view.slots, "choose.number");
  if (number < choice.body.size()) return choice.body[number];
  throw base::plan_error("choose.number", fmt::format("there is no step {}", number));
}

bool waits(const schema::Plan& plan, const std::vector<schema::Step>& steps) {
  return std::ranges::any_of(steps, [&](const schema::Step& step) {
    return std::visit([&](const auto& one) { return entry_of(one).waits(plan, one); }, step.value);
  });
}

}  // namespace venturi::execute
