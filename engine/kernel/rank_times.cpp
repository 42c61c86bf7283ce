// Each rank's own times beside the slowest of each sample.
#include "kernel/rank_times.hpp"

#include <ctime>
#include <span>

#include "kernel/processor.hpp"
#include "kernel/sampling.hpp"

namespace venturi::kernel {
namespace {

/// With more ranks, or more samples, the record keeps the median of a rank.
constexpr std::uint64_t kMostRanksWithSamples = 128;
constexpr std::uint64_t kMostSamples = 200;

/// What this thread had of a processor so far.
double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

schema::KernelSeries gathered(const Environment& environment, const std::string& name,
                              const std::vector<double>& own_s) {
  const bool keeps_all =
      environment.group.size() <= kMostRanksWithSamples && own_s.size() <= kMostSamples;
  const std::vector<double> kept = keeps_all ? own_s : std::vector<double>{middle(own_s)};
  schema::KernelSeries series =
      series_of(name, "s", schema::KernelStatistic::kMedian, {{"rank", ""}});
  for (const double mine_s : kept) {
    const std::vector<double> all_s = environment.group.gather(mine_s);
    series.points.resize(all_s.size());
    for (std::size_t rank = 0; rank < all_s.size(); ++rank) {
      series.points[rank].at = {static_cast<std::int64_t>(rank)};
      series.points[rank].samples.push_back(all_s[rank]);
    }
  }
  return series;
}

}  // namespace

std::vector<double> RankTimes::slowest_seconds(const Environment& environment,
                                               std::uint64_t samples, std::uint64_t repeats,
                                               const Work& work) {
  std::vector<double> taken_s;
  for (std::uint64_t sample = 0; sample < samples; ++sample) {
    environment.tick();
    environment.group.start(environment.clock);
    const double before_s = processor_seconds();
    const std::uint64_t begin = environment.clock.now_ns();
    work(repeats);
    const double own_s = base::seconds(environment.clock.now_ns() - begin);
    processor_s_.push_back(processor_seconds() - before_s);
    taken_s_.push_back(own_s);
    taken_s.push_back(own_s);
  }
  environment.group.reduce(std::span(taken_s), comm::Reduction::kMaximum);
  return taken_s;
}

void RankTimes::forget_first() {
  taken_s_.erase(taken_s_.begin());
  processor_s_.erase(processor_s_.begin());
}

void RankTimes::note(const Environment& environment, schema::KernelResult& out) const {
  if (environment.group.size() < 2) return;
  note_placement(environment.group, out);
  out.series.push_back(gathered(environment, "time of each rank", taken_s_));
  out.series.push_back(gathered(environment, "processor time of each rank", processor_s_));
}

}  // namespace venturi::kernel
