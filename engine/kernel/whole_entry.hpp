// Entries of matrices that are whole numbers, so that sums of their products are exact in doubles.
#pragma once

#include <cstdint>

#include "base/random.hpp"

namespace venturi::kernel {

/// The greatest of them; the least is its negative.
inline constexpr std::uint64_t kMostEntry = 8;

/// Entry i of those of a key.
[[nodiscard]] inline double whole_entry(std::uint64_t key, std::uint64_t i) noexcept {
  return static_cast<double>(base::combine(key, i) % (2 * kMostEntry + 1)) -
         static_cast<double>(kMostEntry);
}

}  // namespace venturi::kernel
