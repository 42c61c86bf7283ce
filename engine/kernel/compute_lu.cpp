// Solving a dense system by LU on all ranks together.
#include <fmt/format.h>

#include <optional>

#include "kernel/linear_system.hpp"
#include "kernel/memory_loops.hpp"
#include "kernel/processor.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/sampling.hpp"
#include "kernel/table.hpp"

namespace venturi::kernel {

const Description& compute_lu_description();
const Description& compute_lu_description() {
  static const Description description{
      .about = "a dense system of equations, solved by LU with pivots on all ranks together",
      .likeness = "HPL class",
      .figures = {{"solve", "flop/s", "one system on all ranks that measure"}},
      .options = {{"n", "integer", "2000", "equations", "1 to 1000000", 1.0, 1e6},
                  {"block", "integer", "64", "columns of a block", "1 to 4096", 1.0, 4096.0},
                  {"samples", "integer", "3", "so many times", "1 to 1000", 1.0, 1000.0},
                  kRanksOption,
                  kDamageOption},
  };
  return description;
}

namespace {

/// Of HPL's residual; more is wrong.
constexpr double kMostResidual = 16.0;

void measure(const Environment& environment, schema::KernelResult& out) {
  const Pinned pinned(environment.group);
  const std::uint64_t n = environment.settings.integer("n");
  const std::uint64_t block = environment.settings.integer("block");
  std::optional<LinearSystem> system;
  environment.together([&] { system.emplace(environment, n, block); });
  const auto rows = static_cast<double>(n);
  const double operations = 2.0 / 3.0 * rows * rows * rows + 1.5 * rows * rows;
  schema::KernelPoint point;
  point.at = {static_cast<std::int64_t>(n)};
  point.figure = "solve";
  double worst = 0.0;
  for (std::uint64_t sample = 0; sample < environment.settings.integer("samples"); ++sample) {
    system->fill();
    const double taken_s =
        slowest_seconds(environment, 1, 1, [&](std::uint64_t) { system->solve(); })[0];
    point.samples.push_back(operations / taken_s);
    if (environment.settings.boolean("damage")) system->solution()[n / 2] += 1.0;
    const double residual = system->scaled_residual();
    environment.together([&] {
      if (residual < kMostResidual) return;
      throw wrong_value(fmt::format("compute_lu: the scaled residual is {:.3g}, not below {:g}",
                                    residual, kMostResidual));
    });
    worst = std::max(worst, residual);
  }
  out.facts.push_back({"instructions", memory_loops().level});
  out.facts.push_back({"grid", fmt::format("1 x {}", environment.group.size())});
  out.facts.push_back({"block, columns", std::to_string(block)});
  out.facts.push_back({"scaled residual", fmt::format("{:.3e}", worst)});
  schema::KernelSeries series =
      series_of("solve", "flop/s", schema::KernelStatistic::kMax, {{"rows", ""}});
  series.points.push_back(std::move(point));
  out.series.push_back(std::move(series));
}

}  // namespace

const Entry& compute_lu_entry();
const Entry& compute_lu_entry() {
  static const Entry entry{[](const Environment& environment, schema::KernelResult& out) {
    measure_on(environment, out, [&](const Environment& ranks) { measure(ranks, out); });
  }};
  return entry;
}

}  // namespace venturi::kernel
