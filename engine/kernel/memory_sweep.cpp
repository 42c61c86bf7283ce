// Memory bandwidth over sizes of arrays, from the first cache to memory: FILL, COPY, DAXPY and SUM,
// with the bytes that STREAM 2 counts for them (J. D. McCalpin, stream2.f, revision 0.1, 1999).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/buffer.hpp"
#include "kernel/memory_loops.hpp"
#include "kernel/processor.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/sampling.hpp"
#include "kernel/table.hpp"

namespace venturi::kernel {

const Description& memory_sweep_description();
const Description& memory_sweep_description() {
  static const Description description{
      .about = "memory bandwidth over sizes of arrays: FILL, COPY, DAXPY and SUM",
      .likeness = "STREAM 2 class",
      .figures = {{"fill", "B/s", "storing to the largest arrays"},
                  {"copy", "B/s", "copying between the largest arrays"},
                  {"daxpy", "B/s", "b += q a on the largest arrays"},
                  {"sum", "B/s", "adding up the largest arrays"}},
      .options = {{"least", "bytes", "4 KiB", "the smallest array", "512 B or more", 512.0},
                  {"most", "bytes", "0",
                   "the largest array of a rank; 0: all ranks of a node together have 4 times its "
                   "last-level caches",
                   "0 or more bytes"},
                  {"sizes", "integer", "16", "so many sizes, in equal steps of their logarithm",
                   "1 to 256", 1.0, 256.0},
                  {"samples", "integer", "10", "so many samples of each size and loop",
                   "1 to 10000", 1.0, 10000.0},
                  {"sample_s", "real", "0.002", "a sample takes at least so long, in seconds",
                   "0.0001 to 60", 0.0001, 60.0},
                  kRanksOption,
                  kDamageOption},
  };
  return description;
}

namespace {

constexpr std::uint64_t kUnitBytes = kLoopElements * sizeof(double);
/// Between the two arrays, so that they do not compete for the same lines of a cache.
constexpr std::size_t kPadElements = 40;
constexpr double kFill = 3.0;
constexpr double kFactor = 0.5;
constexpr double kFrom = 2.0;

/// One loop: the bytes that it counts for an element, and what must be in the arrays behind it.
struct Loop {
  const char* name;
  double bytes_per_element;
};
constexpr std::array<Loop, 4> kLoops{
    {{"fill", 8.0}, {"copy", 16.0}, {"daxpy", 24.0}, {"sum", 8.0}}};

/// The two arrays of one size and what is done with them.
class Arrays {
 public:
  Arrays(const MemoryLoops& loops, std::byte* memory, std::uint64_t bytes)
      : loops_(loops),
        elements_(bytes / sizeof(double)),
        a_(reinterpret_cast<double*>(memory)),
        b_(a_ + elements_ + kPadElements) {}

  [[nodiscard]] Work work(std::size_t loop) {
    switch (loop) {
      case 0:
        return [this](std::uint64_t n) {
          while (n-- > 0) loops_.fill(b_, kFill, elements_);
        };
      case 1:
        return [this](std::uint64_t n) {
          while (n-- > 0) loops_.copy(b_, a_, elements_);
        };
      case 2:
        return [this](std::uint64_t n) {
          added_ += n;
          while (n-- > 0) loops_.daxpy(b_, a_, kFactor, elements_);
        };
      default:
        return [this](std::uint64_t n) {
          while (n-- > 0) sum_ = loops_.sum(a_, elements_);
        };
    }
  }
  /// What each loop begins with.
  void prepare() {
    loops_.fill(a_, kFrom, elements_);
    loops_.fill(b_, 0.0, elements_);
    added_ = 0;
  }
  void damage() {
    b_[elements_ / 2] += 1.0;
    sum_ += 1.0;
  }

  /// Compares with the closed form, which doubles hold exactly.
  void check(std::size_t loop) const {
    const std::array<double, 3> wanted{kFill, kFrom, static_cast<double>(added_) * kFactor * kFrom};
    if (loop == 3) {
      const double all = kFrom * static_cast<double>(elements_);
      if (sum_ == all) return;
      throw wrong_value(fmt::format("memory_sweep: SUM of {} bytes is {:.17g}, not {:.17g}",
                                    elements_ * sizeof(double), sum_, all));
    }
    for (std::size_t i = 0; i < elements_; ++i) {
      if (b_[i] == wanted[loop]) continue;
      throw wrong_value(
          fmt::format("memory_sweep: {} of {} bytes left {:.17g} in element {}, not "
                      "{:.17g}",
                      kLoops[loop].name, elements_ * sizeof(double), b_[i], i, wanted[loop]));
    }
  }

 private:
  const MemoryLoops& loops_;
  std::size_t elements_;
  double* a_;
  double* b_;
  std::uint64_t added_ = 0;
  double sum_ = 0.0;
};

std::uint64_t largest(const Environment& environment, const std::vector<Cache>& caches) {
  const std::uint64_t told = environment.settings.bytes("most");
  if (told > 0) return told / kUnitBytes * kUnitBytes;
  const auto& nodes = environment.group.placement().node_of_rank;
  std::vector<std::uint64_t> ranks(environment.group.placement().hosts.size());
  for (const std::size_t node : nodes) ++ranks[node];
  const std::uint64_t most = *std::max_element(ranks.begin(), ranks.end());
  return environment.group.minimum(4 * last_level_bytes(caches) / most / kUnitBytes * kUnitBytes);
}

void sweep(const Environment& environment, schema::KernelResult& out) {
  const Pinned pinned(environment.group);
  const std::vector<Cache> caches = data_caches();
  const MemoryLoops& loops = memory_loops();
  const std::uint64_t samples = environment.settings.integer("samples");
  const std::uint64_t least = environment.settings.bytes("least") / kUnitBytes * kUnitBytes;
  const std::uint64_t most = std::max(least, largest(environment, caches));
  note_memory(caches, out);
  out.facts.push_back({"instructions", loops.level});
  for (const Loop& loop : kLoops) {
    out.series.push_back(
        series_of(loop.name, "B/s", schema::KernelStatistic::kMax, {{"array", "B"}}));
  }
  base::Buffer memory;
  environment.together([&] { memory.reserve(2 * most + kPadElements * sizeof(double)); });
  for (const std::uint64_t bytes :
       spaced_sizes(least, most, environment.settings.integer("sizes"), kUnitBytes)) {
    Arrays arrays(loops, memory.data(), bytes);
    for (std::size_t loop = 0; loop < kLoops.size(); ++loop) {
      arrays.prepare();
      const Work work = arrays.work(loop);
      const std::uint64_t repeats =
          repeats_for(environment, environment.settings.real("sample_s"), work);
      schema::KernelPoint point;
      point.at = {static_cast<std::int64_t>(bytes)};
      const double moved = static_cast<double>(bytes / sizeof(double)) *
                           kLoops[loop].bytes_per_element * static_cast<double>(repeats) *
                           static_cast<double>(out.ranks);
      for (const double taken_s : slowest_seconds(environment, samples, repeats, work)) {
        point.samples.push_back(moved / taken_s);
      }
      if (environment.settings.boolean("damage")) arrays.damage();
      environment.together([&] { arrays.check(loop); });
      if (bytes == most) point.figure = kLoops[loop].name;
      out.series[loop].points.push_back(std::move(point));
    }
  }
}

}  // namespace

const Entry& memory_sweep_entry();
const Entry& memory_sweep_entry() {
  static const Entry entry{[](const Environment& environment, schema::KernelResult& out) {
    measure_on(environment, out, [&](const Environment& ranks) { sweep(ranks, out); });
  }};
  return entry;
}

}  // namespace venturi::kernel
