// Memory bandwidth by the rules of STREAM (J. D. McCalpin, version 5.10): each array has at least 4
// times the last-level caches, the first of the samples does not count, the best one does, and the
// arrays are compared with the closed form.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/buffer.hpp"
#include "kernel/memory_loops.hpp"
#include "kernel/processor.hpp"
#include "kernel/rank_times.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/sampling.hpp"
#include "kernel/table.hpp"

namespace venturi::kernel {

const Description& memory_triad_description();
const Description& memory_triad_description() {
  static const Description description{
      .about = "memory bandwidth of long arrays: copy, scale, add and triad",
      .likeness = "STREAM class",
      .figures = {{"copy", "B/s", "c = a"},
                  {"scale", "B/s", "b = q c"},
                  {"add", "B/s", "c = a + b"},
                  {"triad", "B/s", "a = b + q c"}},
      .options = {{"array", "bytes", "0",
                   "one array of a rank; 0: those of a node together have 4 times its last-level "
                   "caches, the least that STREAM's rules allow",
                   "0, or 512 B or more"},
                  {"samples", "integer", "10",
                   "so many samples that count, after one that does not", "9 to 250", 9.0, 250.0},
                  kRanksOption,
                  kDamageOption},
  };
  return description;
}

namespace {

constexpr std::uint64_t kUnitBytes = kLoopElements * sizeof(double);
constexpr std::size_t kPadElements = 40;
/// What STREAM multiplies by, and the relative error that it allows. Values grow by 15 with each
/// sample, so doubles hold those of some 260.
constexpr double kFactor = 3.0;
constexpr double kMostError = 1e-13;

struct Loop {
  const char* name;
  double bytes_per_element;
};
constexpr std::array<Loop, 4> kLoops{
    {{"copy", 16.0}, {"scale", 16.0}, {"add", 24.0}, {"triad", 24.0}}};

/// The three arrays, and three numbers that follow what happens to each element.
struct Arrays {
  std::size_t elements;
  std::array<double*, 3> of;
  std::array<double, 3> wanted{1.0, 2.0, 0.0};

  void run(const MemoryLoops& loops, std::size_t loop) {
    auto& [a, b, c] = of;
    auto& [wa, wb, wc] = wanted;
    switch (loop) {
      case 0:
        loops.copy(c, a, elements);
        wc = wa;
        return;
      case 1:
        loops.scale(b, c, kFactor, elements);
        wb = kFactor * wc;
        return;
      case 2:
        loops.add(c, a, b, elements);
        wc = wa + wb;
        return;
      default:
        loops.triad(a, b, c, kFactor, elements);
        wa = wb + kFactor * wc;
    }
  }
  void check() const {
    for (std::size_t array = 0; array < of.size(); ++array) {
      for (std::size_t i = 0; i < elements; ++i) {
        const double error = std::fabs(of[array][i] - wanted[array]);
        if (error <= kMostError * std::fabs(wanted[array])) continue;
        throw wrong_value(
            fmt::format("memory_triad: element {} of array {} is {:.17g}, not {:.17g}", i,
                        "abc"[array], of[array][i], wanted[array]));
      }
    }
  }
};

std::uint64_t array_bytes(const Environment& environment, const std::vector<Cache>& caches) {
  const std::uint64_t told = environment.settings.bytes("array");
  if (told > 0) return std::max(told / kUnitBytes, std::uint64_t{1}) * kUnitBytes;
  const auto& nodes = environment.group.placement().node_of_rank;
  std::vector<std::uint64_t> ranks(environment.group.placement().hosts.size());
  for (const std::size_t node : nodes) ++ranks[node];
  const std::uint64_t least = *std::min_element(ranks.begin(), ranks.end());
  const std::uint64_t unit = least * kUnitBytes;
  const std::uint64_t units = (4 * last_level_bytes(caches) + unit - 1) / unit;
  return environment.group.maximum(units * kUnitBytes);
}

void measure(const Environment& environment, schema::KernelResult& out) {
  const Pinned pinned(environment.group);
  const std::vector<Cache> caches = data_caches();
  const MemoryLoops& loops = memory_loops();
  const std::uint64_t bytes = array_bytes(environment, caches);
  const std::uint64_t samples = environment.settings.integer("samples");
  note_memory(caches, out);
  out.facts.push_back({"instructions", loops.level});
  base::Buffer memory;
  const std::size_t elements = bytes / sizeof(double);
  environment.together([&] { memory.reserve(3 * (bytes + kPadElements * sizeof(double))); });
  auto* first = reinterpret_cast<double*>(memory.data());
  Arrays arrays{elements,
                {first, first + elements + kPadElements, first + 2 * (elements + kPadElements)}};
  for (std::size_t array = 0; array < arrays.of.size(); ++array) {
    loops.fill(arrays.of[array], arrays.wanted[array], elements);
  }
  std::array<schema::KernelPoint, kLoops.size()> points;
  RankTimes times;  // of the last loop
  for (std::uint64_t sample = 0; sample <= samples; ++sample) {
    for (std::size_t loop = 0; loop < kLoops.size(); ++loop) {
      const Work work = [&](std::uint64_t) { arrays.run(loops, loop); };
      const double taken_s =
          (loop + 1 == kLoops.size() ? times.slowest_seconds(environment, 1, 1, work)
                                     : slowest_seconds(environment, 1, 1, work))[0];
      const double moved = static_cast<double>(elements) * kLoops[loop].bytes_per_element *
                           static_cast<double>(out.ranks);
      if (sample > 0) points[loop].samples.push_back(moved / taken_s);
    }
  }
  if (environment.settings.boolean("damage")) arrays.of[0][elements / 2] += 1.0;
  environment.together([&] { arrays.check(); });
  for (std::size_t loop = 0; loop < kLoops.size(); ++loop) {
    out.series.push_back(
        series_of(kLoops[loop].name, "B/s", schema::KernelStatistic::kMax, {{"array", "B"}}));
    points[loop].at = {static_cast<std::int64_t>(bytes)};
    points[loop].figure = kLoops[loop].name;
    out.series.back().points.push_back(std::move(points[loop]));
  }
  times.forget_first();
  times.note(environment, out);
}

}  // namespace

const Entry& memory_triad_entry();
const Entry& memory_triad_entry() {
  static const Entry entry{[](const Environment& environment, schema::KernelResult& out) {
    measure_on(environment, out, [&](const Environment& ranks) { measure(ranks, out); });
  }};
  return entry;
}

}  // namespace venturi::kernel
