// Offsets and counts stay within 63 bits; where they would not, the plan is refused.
#pragma once

#include <cstdint>
#include <limits>

#include "base/error.hpp"

namespace venturi::pattern {

inline constexpr auto kMostBytes =
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

/// Throws base::Error (exit 2).
[[noreturn]] inline void beyond() {
  throw base::plan_error("pattern", "an offset is negative or beyond 2^63 - 1 bytes");
}

inline void checked_add(std::int64_t& to, std::int64_t what) {
  if (__builtin_add_overflow(to, what, &to)) beyond();
}

/// From the first to the last of `count` > 0 offsets.
inline std::int64_t checked_reach(std::uint64_t count, std::int64_t stride) {
  std::int64_t reach = 0;
  if (count > kMostBytes ||
      __builtin_mul_overflow(static_cast<std::int64_t>(count - 1), stride, &reach)) {
    beyond();
  }
  return reach;
}

inline std::uint64_t checked_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > kMostBytes) {
    throw base::plan_error("pattern", "the number of requests does not fit into 63 bits");
  }
  return product;
}

}  // namespace venturi::pattern
