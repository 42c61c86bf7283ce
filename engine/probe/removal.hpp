// Taking away what a probe made, and nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probe/ring.hpp"

namespace venturi::probe {

/// What a removal came to.
struct Removal {
  std::uint64_t removed = 0;
  /// Names in the own directory that this probe did not make; at most 100.
  std::vector<std::string> left;
  std::uint64_t left_count = 0;
  /// Why nothing or not all was removed; empty: all is gone.
  std::string why;
};

/// Removes each file of the pool and the data file that bears this ring's key, the marker, and then
/// the directory. What does not bear the key stays.
Removal remove_made(Ring& ring);

}  // namespace venturi::probe
