// Timing work on all ranks, and the sizes that are measured.
#include "kernel/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace venturi::kernel {
namespace {

/// No work is done more often in one sample.
constexpr std::uint64_t kMostRepeats = 1U << 30U;

double timed(const Environment& environment, std::uint64_t repeats, const Work& work) {
  const std::uint64_t begin = environment.clock.now_ns();
  work(repeats);
  return base::seconds(environment.clock.now_ns() - begin);
}

/// Samples of this rank, each after `meet`.
template <class Meet>
std::vector<double> samples_of(const Environment& environment, std::uint64_t samples,
                               std::uint64_t repeats, const Work& work, const Meet& meet) {
  std::vector<double> taken_s(samples);
  for (double& one : taken_s) {
    environment.tick();
    meet();
    one = timed(environment, repeats, work);
  }
  return taken_s;
}

}  // namespace

std::uint64_t repeats_for(const Environment& environment, double least_s, const Work& work) {
  std::uint64_t repeats = 1;
  while (repeats < kMostRepeats) {
    environment.tick();
    double taken_s = timed(environment, repeats, work);
    environment.group.reduce(std::span(&taken_s, 1), comm::Reduction::kMinimum);
    if (taken_s >= least_s) break;
    // A time that the clock hardly sees says little of how many are needed.
    const double factor = taken_s > 0.0 ? 1.2 * least_s / taken_s : 10.0;
    const double wanted = std::ceil(static_cast<double>(repeats) * std::clamp(factor, 1.1, 10.0));
    repeats = std::min(kMostRepeats, static_cast<std::uint64_t>(wanted));
  }
  return repeats;
}

std::vector<double> slowest_seconds(const Environment& environment, std::uint64_t samples,
                                    std::uint64_t repeats, const Work& work) {
  std::vector<double> taken_s = samples_of(environment, samples, repeats, work,
                                           [&] { environment.group.start(environment.clock); });
  environment.group.reduce(std::span(taken_s), comm::Reduction::kMaximum);
  return taken_s;
}

std::vector<double> own_seconds(const Environment& environment, std::uint64_t samples,
                                std::uint64_t repeats, const Work& work) {
  return samples_of(environment, samples, repeats, work, [] {});
}

std::vector<std::uint64_t> spaced_sizes(std::uint64_t least, std::uint64_t most,
                                        std::uint64_t count, std::uint64_t unit) {
  std::vector<std::uint64_t> sizes;
  const double ratio = static_cast<double>(most) / static_cast<double>(least);
  for (std::uint64_t i = 0; i < count; ++i) {
    const double share = count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 1.0;
    const double size = static_cast<double>(least) * std::pow(ratio, share);
    const auto whole = static_cast<std::uint64_t>(size + 0.5) / unit * unit;
    sizes.push_back(std::clamp(i + 1 == count ? most : whole, least, most));
  }
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

double middle(std::vector<double> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

schema::KernelSeries series_of(const std::string& name, const std::string& unit,
                               schema::KernelStatistic statistic,
                               std::vector<schema::KernelAxis> axes) {
  schema::KernelSeries series;
  series.name = name;
  series.unit = unit;
  series.better = unit.ends_with("/s") ? schema::Better::kHigher : schema::Better::kLower;
  series.statistic = statistic;
  series.axes = std::move(axes);
  return series;
}

schema::KernelSeries single(const std::string& name, const std::string& unit,
                            std::vector<double> samples) {
  schema::KernelSeries series = series_of(name, unit, schema::KernelStatistic::kMedian, {});
  series.points.push_back({{}, std::move(samples), name});
  return series;
}

}  // namespace venturi::kernel
