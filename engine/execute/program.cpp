// The interpreter of control: it is slow compared to the leaves, and that does not matter.
#include "execute/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <type_traits>
#include <variant>

#include "backend/table.hpp"
#include "execute/step.hpp"
#include "pattern/name.hpp"
#include "payload/halo.hpp"

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
  const auto goes_on = [&] {
    if (!must_wait) return !context.idle();
    if (context.all_know_of_failure()) return false;
    return !context.limiter || !context.limiter->ended_together();
  };
  for (std::uint64_t i = 0; i < count && goes_on(); ++i) {
    context.slots[slot] = static_cast<std::int64_t>(i);
    run_steps(context, loop.body);
  }
  context.loops.pop_back();
  context.slots[slot] = std::int64_t{0};
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
  const std::uint64_t begin = context.clock.now_ns();
  if (step.mode == schema::ComputeMode::kSleep) {
    context.pause(seconds);
  } else {
    context.spin(seconds);
  }
  const std::uint64_t end = context.clock.now_ns();
  context.meter().add_compute(end - begin);
  context.note_pause(begin, end, false);
  context.after_operations(end, 0, 0);
}

/// The name of a signal for the current slots. Throws base::Error (exit 2) if it has none.
std::string signal_name(Context& context, const std::vector<schema::PathPart>& parts) {
  std::string name;
  pattern::render_path(parts, context.slots, context.evaluator, name);
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

/// The file entry that a leaf is about, for the log of operations.
void note_file(Context& context, const schema::Step& step) {
  std::visit(Overloaded{
                 [&](const schema::Transfer& leaf) { context.note_file(leaf.file); },
                 [&](const schema::Manage& leaf) { context.note_file(leaf.file); },
                 [&](const schema::Items& leaf) { context.note_file(leaf.file); },
                 [&](const schema::Sync& leaf) { context.note_file(leaf.file); },
                 [](const auto&) {},
             },
             step.value);
}

void run_step(Context& context, const schema::Step& step) {
  note_file(context, step);
  std::visit(
      Overloaded{
          [&](const schema::For& loop) { run_for(context, loop); },
          [&](const schema::When& when) {
            if (!context.evaluator.value(when.condition, context.slots, "when").is_zero()) {
              run_steps(context, when.body);
            }
          },
          [&](const schema::Phase& phase) { run_phase(context, phase); },
          [&](const schema::Repeat& repeat) { run_repeat(context, repeat); },
          [&](const schema::Barrier&) { context.meet(); },
          [&](const schema::Signal& leaf) { run_signal(context, leaf); },
          [&](const schema::Wait& leaf) { run_wait(context, leaf); },
          [&](const schema::Compute& leaf) { context.guard([&] { run_compute(context, leaf); }); },
          [&](const schema::Transfer& leaf) {
            context.guard([&] { run_transfer(context, leaf); });
          },
          [&](const schema::Manage& leaf) { run_manage(context, leaf); },
          [&](const schema::Items& leaf) { context.guard([&] { run_items(context, leaf); }); },
          [&](const schema::Find& leaf) { run_find(context, leaf); },
          [&](const schema::Exec& leaf) { run_exec(context, leaf); },
          [&](const schema::Sync& leaf) { context.guard([&] { run_sync(context, leaf); }); },
      },
      step.value);
}

bool step_waits(const schema::Plan& plan, const schema::Step& step) {
  return std::visit(Overloaded{
                        [&](const schema::For& loop) { return waits(plan, loop.body); },
                        [&](const schema::When& when) { return waits(plan, when.body); },
                        [](const schema::Phase&) { return true; },
                        [&](const schema::Repeat& repeat) { return waits(plan, repeat.body); },
                        [](const schema::Barrier&) { return true; },
                        [](const schema::Wait&) { return true; },
                        [](const schema::Find&) { return true; },
                        [](const schema::Exec&) { return true; },
                        [&](const schema::Manage& leaf) {
                          return manage_waits(plan.files[static_cast<std::size_t>(leaf.file)],
                                              leaf.verb);
                        },
                        [&](const schema::Transfer& leaf) {
                          return is_together(plan, leaf) || meets_first(plan, leaf);
                        },
                        [](const auto&) { return false; },
                    },
                    step.value);
}

/// Calls a function with every step, those inside of others, too.
template <class Look>
void for_each(const std::vector<schema::Step>& steps, const Look& look) {
  for (const schema::Step& step : steps) {
    std::visit(Overloaded{
                   [&](const schema::For& loop) { for_each(loop.body, look); },
                   [&](const schema::When& when) { for_each(when.body, look); },
                   [&](const schema::Repeat& repeat) { for_each(repeat.body, look); },
                   [&](const schema::Phase& phase) {
                     look(phase);
                     for_each(phase.body, look);
                   },
                   [&](const auto& leaf) { look(leaf); },
               },
               step.value);
  }
}

/// The files of the leaves of some kinds.
template <class... Kinds, class Predicate>
std::vector<std::size_t> files_where(const std::vector<schema::Step>& steps,
                                     const Predicate& wanted) {
  std::set<std::size_t> found;
  const auto note = [&](const auto& leaf) {
    if (wanted(leaf)) found.insert(static_cast<std::size_t>(leaf.file));
  };
  for_each(steps, [&](const auto& leaf) {
    if constexpr ((std::is_same_v<std::decay_t<decltype(leaf)>, Kinds> || ...)) note(leaf);
  });
  return {found.begin(), found.end()};
}

constexpr bool is_removal(schema::ItemVerb verb) noexcept {
  return verb == schema::ItemVerb::kUnlink || verb == schema::ItemVerb::kRmdir;
}

constexpr auto kAny = [](const auto&) { return true; };

}  // namespace

void run_steps(Context& context, const std::vector<schema::Step>& steps) {
  for (const schema::Step& step : steps) run_step(context, step);
}

bool waits(const schema::Plan& plan, const std::vector<schema::Step>& steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [&](const schema::Step& step) { return step_waits(plan, step); });
}

bool has_waits(const std::vector<schema::Step>& steps) {
  bool found = false;
  for_each(steps, [&](const auto& leaf) {
    found |= std::is_same_v<std::decay_t<decltype(leaf)>, schema::Wait>;
  });
  return found;
}

void reserve_arrays(Context& context, const std::vector<schema::Step>& steps) {
  for_each(steps, [&](const auto& leaf) {
    if constexpr (std::is_same_v<std::decay_t<decltype(leaf)>, schema::Transfer>) {
      if (!leaf.halo) return;
      const payload::HaloCursor array(*leaf.halo, context.evaluator, context.slots);
      context.cells(context.plan.files[static_cast<std::size_t>(leaf.file)], array.array_bytes());
    }
  });
}

bool is_together(const schema::Plan& plan, const schema::Transfer& step) {
  return step.collective ||
         backend::moves_together(plan.files[static_cast<std::size_t>(step.file)]);
}

void refuse_some(const schema::File& file, const schema::Transfer& step) {
  if (step.collective || file.sharing == schema::Sharing::kRank) return;
  const backend::Description& about = backend::description_of(file.interface);
  const bool mpi_helps = !about.needs_mpi && *about.shared_through != '\0';
  throw base::plan_error(
      fmt::format("files.{}", file.name),
      fmt::format("{}{} moves data of a shared file with all its ranks at once, and here only some "
                  "of them would",
                  to_string(file.interface), mpi_helps ? " without MPI" : ""),
      fmt::format(
          "{}give these ranks files of their own ('shared: rank'), or use another interface",
          mpi_helps ? "run it with --on openmpi or --on mpich, " : ""));
}

bool meets_first(const schema::Plan& plan, const schema::Transfer& step) {
  return backend::shows_places(plan.files[static_cast<std::size_t>(step.file)]);
}

bool has_collective(const schema::Plan& plan, const std::vector<schema::Step>& steps) {
  const auto inside = [&](const auto& step) { return has_collective(plan, step.body); };
  return std::any_of(steps.begin(), steps.end(), [&](const schema::Step& step) {
    return std::visit(Overloaded{
                          [&](const schema::For& loop) { return inside(loop); },
                          [&](const schema::When& when) { return inside(when); },
                          [&](const schema::Phase& phase) { return inside(phase); },
                          [&](const schema::Transfer& leaf) { return is_together(plan, leaf); },
                          [](const auto&) { return false; },
                      },
                      step.value);
  });
}

std::vector<std::size_t> data_files(const std::vector<schema::Step>& steps) {
  return files_where<schema::Transfer, schema::Items>(steps, kAny);
}

std::vector<std::size_t> used_files(const std::vector<schema::Step>& steps) {
  return files_where<schema::Transfer, schema::Items, schema::Manage, schema::Sync>(steps, kAny);
}

std::vector<std::size_t> made_directories(const std::vector<schema::Step>& steps) {
  return files_where<schema::Manage>(
      steps, [](const schema::Manage& leaf) { return leaf.verb == schema::NameVerb::kMkdir; });
}

std::vector<std::size_t> removed_files(const std::vector<schema::Step>& steps) {
  return files_where<schema::Manage, schema::Items>(steps, [](const auto& leaf) {
    if constexpr (std::is_same_v<std::decay_t<decltype(leaf)>, schema::Manage>) {
      return leaf.verb == schema::NameVerb::kUnlink;
    } else {
      return std::any_of(leaf.verbs.begin(), leaf.verbs.end(), is_removal);
    }
  });
}

bool removes_others(const std::vector<schema::Step>& steps) {
  bool found = false;
  for_each(steps, [&](const auto& leaf) {
    if constexpr (std::is_same_v<std::decay_t<decltype(leaf)>, schema::Items>) {
      constexpr auto kRank = static_cast<std::int64_t>(schema::Slot::kRank);
      const bool is_own = leaf.owner.size() == 1 && leaf.owner[0].integer == kRank &&
                          leaf.owner[0].operator_ == schema::Operator::kVariable;
      found |= !is_own && std::any_of(leaf.verbs.begin(), leaf.verbs.end(), is_removal);
    }
  });
  return found;
}

std::vector<std::size_t> linked_files(const std::vector<schema::Step>& steps) {
  return files_where<schema::Items>(steps, [](const schema::Items& leaf) {
    return std::any_of(leaf.verbs.begin(), leaf.verbs.end(), [](schema::ItemVerb verb) {
      return verb == schema::ItemVerb::kLink || verb == schema::ItemVerb::kSymlink;
    });
  });
}

std::vector<std::size_t> moving_windows(const std::vector<schema::Step>& steps) {
  return files_where<schema::Items>(steps, [](const schema::Items& leaf) {
    return leaf.counted_from != schema::CountedFrom::kStart;
  });
}

bool drops_caches(const std::vector<schema::Step>& steps) {
  bool found = false;
  for_each(steps, [&](const auto& leaf) {
    if constexpr (std::is_same_v<std::decay_t<decltype(leaf)>, schema::Phase>) {
      found |= leaf.cache == schema::CachePolicy::kDrop;
    }
  });
  return found;
}

}  // namespace venturi::execute
