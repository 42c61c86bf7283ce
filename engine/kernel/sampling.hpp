// Timing one piece of work on all ranks at once, sample by sample.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernel/kernel.hpp"

namespace venturi::kernel {

/// Work that is done so often in a row.
using Work = std::function<void(std::uint64_t repeats)>;

/// How often the work must be done so that it takes `least_s` on the quickest rank; the same on
/// all ranks, and at least 1. Collective.
std::uint64_t repeats_for(const Environment& environment, double least_s, const Work& work);

/// The seconds of each sample on the slowest rank: all ranks start each one together. The same on
/// all ranks. Collective.
std::vector<double> slowest_seconds(const Environment& environment, std::uint64_t samples,
                                    std::uint64_t repeats, const Work& work);

/// The same of one rank alone, while nobody waits for it: no start together.
std::vector<double> own_seconds(const Environment& environment, std::uint64_t samples,
                                std::uint64_t repeats, const Work& work);

/// Sizes from `least` to `most`, equal steps of their logarithm, rounded down to a multiple of
/// `unit`; without doubles. `least` and `most` are multiples of it.
std::vector<std::uint64_t> spaced_sizes(std::uint64_t least, std::uint64_t most,
                                        std::uint64_t count, std::uint64_t unit);

/// The upper median of at least one value.
double middle(std::vector<double> values);

/// A series with nothing in it yet, of which one number names a point.
schema::KernelSeries series_of(const std::string& name, const std::string& unit,
                               schema::KernelStatistic statistic,
                               std::vector<schema::KernelAxis> axes);

/// A series of one point, which is the figure of the same name: the median of its samples.
schema::KernelSeries single(const std::string& name, const std::string& unit,
                            std::vector<double> samples);

}  // namespace venturi::kernel
