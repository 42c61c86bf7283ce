// The option that says which ranks of a group measure.
#pragma once

#include "kernel/kernel.hpp"

namespace venturi::kernel {

/// All ranks at the same moment, for what a whole node has; or one, for what a core has.
inline constexpr backend::OptionInfo kRanksOption{
    "ranks", "word", "all", "which ranks measure: all at the same moment, or the first one alone",
    "all|one"};
/// A fault to inject, for tests of the tool and of its readers.
inline constexpr backend::OptionInfo kDamageOption{
    "damage", "boolean", "false",
    "spoils a value before the check, which then must fail the run: for tests", "true or false"};

/// Runs a measurement on all ranks, or on the first alone while the others wait; `ranks` is the
/// group of those that measure. Collective.
template <class Measure>
void measure_on(const Environment& environment, schema::KernelResult& out, const Measure& measure) {
  const bool alone = environment.settings.word("ranks") == "one";
  if (!alone) {
    out.ranks = static_cast<std::int64_t>(environment.group.size());
    return measure(environment);
  }
  out.ranks = 1;
  comm::Group part = environment.group.split(environment.group.rank() == 0 ? 0 : 1);
  // Each of the parts agrees by itself; the ranks meet again where the caller agrees.
  std::optional<base::Problem> problem;
  if (environment.group.rank() == 0) {
    const Environment own{part,
                          environment.clock,
                          environment.seed,
                          environment.settings,
                          environment.tick,
                          [&](const std::function<void()>& action) { action(); },
                          environment.make_file};
    try {
      measure(own);
    } catch (const base::Broken&) {
      throw;
    } catch (const base::Error& error) {
      problem = error.problem();
    } catch (const std::bad_alloc&) {
      problem = base::Problem{.code = "kernel", .message = "there is not enough memory for it"};
    }
  }
  environment.together([&] {
    if (problem) throw base::Error(*problem);
  });
}

}  // namespace venturi::kernel
