// Memory latency over sizes: a chain through all lines of an array in random order, of which each
// load needs the one before it.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/buffer.hpp"
#include "base/random.hpp"
#include "kernel/processor.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/sampling.hpp"
#include "kernel/table.hpp"

namespace venturi::kernel {

const Description& memory_chase_description();
const Description& memory_chase_description() {
  static const Description description{
      .about = "memory latency over sizes of arrays: loads that depend on each other",
      .likeness = "pointer chase",
      .figures = {{"load", "s", "one load from the largest array"}},
      .options = {{"least", "bytes", "4 KiB", "the smallest array", "128 B or more", 128.0},
                  {"most", "bytes", "0",
                   "the largest array of a rank; 0: 4 times the last-level caches of the node",
                   "0 to 128 GiB", 0.0, 0x1p37},
                  {"sizes", "integer", "12", "so many sizes, in equal steps of their logarithm",
                   "1 to 256", 1.0, 256.0},
                  {"samples", "integer", "10", "so many samples of each size", "1 to 10000", 1.0,
                   10000.0},
                  {"loads", "integer", "50000", "so many loads in a sample", "100 to 1000000000",
                   100.0, 1e9},
                  {"ranks", "word", "one",
                   "which ranks measure: all at the same moment, or the first one alone",
                   "all|one"},
                  kDamageOption},
  };
  return description;
}

namespace {

/// One link of the chain fills a line of the cache.
struct alignas(64) Line {
  Line* next = nullptr;
};

/// Links all lines to one cycle in random order (Sattolo).
void link(Line* lines, std::uint64_t count, std::uint64_t key, std::vector<std::uint32_t>& order) {
  order.resize(count);
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  for (std::uint64_t i = count - 1; i > 0; --i) {
    std::swap(order[i], order[base::uniform(key, i, i)]);
  }
  for (std::uint64_t i = 0; i < count; ++i) lines[i].next = &lines[order[i]];
}

/// Follows the chain once around: it comes through all lines and back to the first.
void check(const Line* lines, std::uint64_t count) {
  const Line* at = lines;
  std::uint64_t steps = 0;
  do {
    at = at->next;
    ++steps;
  } while (at != lines && steps <= count);
  if (steps == count) return;
  throw wrong_value(
      fmt::format("memory_chase: the chain of {} lines came back after {}", count, steps));
}

void measure(const Environment& environment, schema::KernelResult& out) {
  const Pinned pinned(environment.group);
  const std::vector<Cache> caches = data_caches();
  note_memory(caches, out);
  const std::uint64_t told = environment.settings.bytes("most");
  const std::uint64_t least = environment.settings.bytes("least") / sizeof(Line) * sizeof(Line);
  const std::uint64_t wanted = told > 0 ? told : 4 * last_level_bytes(caches);
  const std::uint64_t most =
      std::max(least, environment.group.minimum(wanted) / sizeof(Line) * sizeof(Line));
  const std::uint64_t loads = environment.settings.integer("loads");
  out.series.push_back(series_of("load", "s", schema::KernelStatistic::kMedian, {{"array", "B"}}));
  base::Buffer memory;
  std::vector<std::uint32_t> order;
  environment.together([&] {
    memory.reserve(most);
    order.reserve(most / sizeof(Line));
  });
  auto* lines = reinterpret_cast<Line*>(memory.data());
  const std::uint64_t key = base::combine(environment.seed, base::key_of("memory_chase"));
  for (const std::uint64_t bytes :
       spaced_sizes(least, most, environment.settings.integer("sizes"), sizeof(Line))) {
    const std::uint64_t count = bytes / sizeof(Line);
    link(lines, count, key, order);
    if (environment.settings.boolean("damage")) lines[count / 2].next = &lines[count / 2];
    environment.together([&] { check(lines, count); });
    Line* volatile end = lines;
    const Work chase = [&](std::uint64_t n) {
      Line* at = end;
      while (n-- > 0) at = at->next;
      end = at;
    };
    schema::KernelPoint point;
    point.at = {static_cast<std::int64_t>(bytes)};
    for (const double taken_s :
         slowest_seconds(environment, environment.settings.integer("samples"), loads, chase)) {
      point.samples.push_back(taken_s / static_cast<double>(loads));
    }
    if (bytes == most) point.figure = "load";
    out.series.back().points.push_back(std::move(point));
  }
}

}  // namespace

const Entry& memory_chase_entry();
const Entry& memory_chase_entry() {
  static const Entry entry{[](const Environment& environment, schema::KernelResult& out) {
    measure_on(environment, out, [&](const Environment& ranks) { measure(ranks, out); });
  }};
  return entry;
}

}  // namespace venturi::kernel
