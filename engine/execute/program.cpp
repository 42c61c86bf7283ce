// The interpreter of control: it is slow compared to the leaves, and that does not matter.
#include "execute/program.hpp"

#include <algorithm>
#include <set>
#include <variant>

#include "execute/step.hpp"

namespace venturi::execute {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

void run_for(Context& context, const schema::For& loop) {
  const std::uint64_t count = context.evaluator.count(loop.count, context.slots, "for.count");
  const bool must_wait = waits(context.plan, loop.body);
  const auto slot = static_cast<std::size_t>(loop.variable);
  context.loops.push_back(slot);
  for (std::uint64_t i = 0; i < count && (must_wait || !context.idle()); ++i) {
    context.slots[slot] = static_cast<std::int64_t>(i);
    run_steps(context, loop.body);
  }
  context.loops.pop_back();
  context.slots[slot] = std::int64_t{0};
}

void run_compute(Context& context, const schema::Compute& step) {
  if (context.idle()) return;
  const double seconds = context.evaluator.seconds(step.seconds, context.slots, "compute.seconds");
  const std::uint64_t begin = context.clock.now_ns();
  if (step.mode == schema::ComputeMode::kSleep) {
    context.pause(seconds);
  } else {
    context.spin(seconds);
  }
  const std::uint64_t end = context.clock.now_ns();
  context.meter().add_compute(end - begin);
  context.after_operations(end, 0, 0);
}

void run_step(Context& context, const schema::Step& step) {
  std::visit(
      Overloaded{
          [&](const schema::For& loop) { run_for(context, loop); },
          [&](const schema::When& when) {
            if (!context.evaluator.value(when.condition, context.slots, "when").is_zero()) {
              run_steps(context, when.body);
            }
          },
          [&](const schema::Phase& phase) { run_phase(context, phase); },
          [&](const schema::Barrier&) { context.wait(); },
          [&](const schema::Compute& leaf) { context.guard([&] { run_compute(context, leaf); }); },
          [&](const schema::Transfer& leaf) {
            context.guard([&] { run_transfer(context, leaf); });
          },
          [&](const schema::Manage& leaf) { run_manage(context, leaf); },
          [&](const schema::Items& leaf) { context.guard([&] { run_items(context, leaf); }); },
          [&](const schema::Sync& leaf) { context.guard([&] { run_sync(context, leaf); }); },
      },
      step.value);
}

bool step_waits(const schema::Plan& plan, const schema::Step& step) {
  return std::visit(Overloaded{
                        [&](const schema::For& loop) { return waits(plan, loop.body); },
                        [&](const schema::When& when) { return waits(plan, when.body); },
                        [](const schema::Phase&) { return true; },
                        [](const schema::Barrier&) { return true; },
                        [&](const schema::Manage& leaf) {
                          return manage_waits(plan.files[static_cast<std::size_t>(leaf.file)],
                                              leaf.verb);
                        },
                        [](const auto&) { return false; },
                    },
                    step.value);
}

void collect(const std::vector<schema::Step>& steps, std::set<std::size_t>& out) {
  for (const schema::Step& step : steps) {
    std::visit(
        Overloaded{
            [&](const schema::For& loop) { collect(loop.body, out); },
            [&](const schema::When& when) { collect(when.body, out); },
            [&](const schema::Phase& phase) { collect(phase.body, out); },
            [&](const schema::Transfer& leaf) { out.insert(static_cast<std::size_t>(leaf.file)); },
            [&](const schema::Items& leaf) { out.insert(static_cast<std::size_t>(leaf.file)); },
            [](const auto&) {},
        },
        step.value);
  }
}

}  // namespace

void run_steps(Context& context, const std::vector<schema::Step>& steps) {
  for (const schema::Step& step : steps) run_step(context, step);
}

bool waits(const schema::Plan& plan, const std::vector<schema::Step>& steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [&](const schema::Step& step) { return step_waits(plan, step); });
}

std::vector<std::size_t> data_files(const std::vector<schema::Step>& steps) {
  std::set<std::size_t> found;
  collect(steps, found);
  return {found.begin(), found.end()};
}

}  // namespace venturi::execute
