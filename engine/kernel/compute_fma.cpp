// The peak of floating-point arithmetic: multiplying and adding in registers, in chains that do not
// wait for each other.
#include <fmt/format.h>

#include "kernel/memory_loops.hpp"
#include "kernel/processor.hpp"
#include "kernel/rank_times.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/sampling.hpp"
#include "kernel/table.hpp"

namespace venturi::kernel {

const Description& compute_fma_description();
const Description& compute_fma_description() {
  static const Description description{
      .about = "the peak of arithmetic on doubles: multiply and add in registers",
      .likeness = "peak of arithmetic",
      .figures = {{"multiply-add", "flop/s", "of all ranks that measure together"}},
      .options = {{"samples", "integer", "10", "so many samples", "1 to 10000", 1.0, 10000.0},
                  {"sample_s", "real", "0.02", "a sample takes at least so long, in seconds",
                   "0.0001 to 60", 0.0001, 60.0},
                  kRanksOption,
                  kDamageOption},
  };
  return description;
}

namespace {

/// x -> x / 2 + 1 / 2 comes to exactly 1 from any small start, in less rounds than these.
constexpr double kFactor = 0.5;
constexpr std::uint64_t kRounds = 1000;

void measure(const Environment& environment, schema::KernelResult& out) {
  const Pinned pinned(environment.group);
  const MemoryLoops& loops = memory_loops();
  out.facts.push_back({"instructions", loops.level});
  double sum = 0.0;
  const Work work = [&](std::uint64_t repeats) {
    sum = loops.multiply_add(kFactor, repeats * kRounds);
  };
  const std::uint64_t repeats =
      repeats_for(environment, environment.settings.real("sample_s"), work);
  schema::KernelSeries series =
      series_of("multiply-add", "flop/s", schema::KernelStatistic::kMax, {});
  schema::KernelPoint point;
  const double operations = static_cast<double>(repeats * kRounds) * loops.operations_per_round *
                            static_cast<double>(out.ranks);
  RankTimes times;
  for (const double taken_s :
       times.slowest_seconds(environment, environment.settings.integer("samples"), repeats, work)) {
    point.samples.push_back(operations / taken_s);
  }
  if (environment.settings.boolean("damage")) sum += 1.0;
  environment.together([&] {
    const double wanted = loops.operations_per_round / 2.0;
    if (sum == wanted) return;
    throw wrong_value(
        fmt::format("compute_fma: the sum of all lanes is {:.17g}, not {:.17g}", sum, wanted));
  });
  point.figure = "multiply-add";
  series.points.push_back(std::move(point));
  out.series.push_back(std::move(series));
  times.note(environment, out);
}

}  // namespace

const Entry& compute_fma_entry();
const Entry& compute_fma_entry() {
  static const Entry entry{[](const Environment& environment, schema::KernelResult& out) {
    measure_on(environment, out, [&](const Environment& ranks) { measure(ranks, out); });
  }};
  return entry;
}

}  // namespace venturi::kernel
