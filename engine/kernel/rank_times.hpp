// What each rank took for the same work, so that a slow one has a name.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/sampling.hpp"

namespace venturi::kernel {

/// Times work on all ranks, as `slowest_seconds` does, and keeps each rank's own time beside what
/// its thread had of a processor: the rest it waited for one.
class RankTimes {
 public:
  /// The seconds of each sample on the slowest rank; the same on all ranks. Collective.
  std::vector<double> slowest_seconds(const Environment& environment, std::uint64_t samples,
                                      std::uint64_t repeats, const Work& work);
  /// Forgets the first sample, which does not count.
  void forget_first();
  /// Adds the times of all ranks to a result, and where each of them ran. Of many ranks the medians
  /// alone. Nothing for one rank. Collective.
  void note(const Environment& environment, schema::KernelResult& out) const;

 private:
  std::vector<double> taken_s_;
  std::vector<double> processor_s_;
};

}  // namespace venturi::kernel
