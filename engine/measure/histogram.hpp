// Latencies in log-linear buckets: 16 for each power of two, so merging is adding.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "schema/event.hpp"

namespace venturi::measure {

/// Recording costs a few instructions; the relative error of a value is at most 1/16.
class Histogram {
 public:
  static constexpr std::size_t kBuckets = 16 * 61;

  /// Bucket i < 16 holds the value i; above, bucket i begins at (16 + i % 16) << (i / 16 - 1).
  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t ns) noexcept {
    if (ns < 16) return static_cast<std::size_t>(ns);
    const auto power = static_cast<unsigned>(std::bit_width(ns)) - 1;
    return 16 * (power - 3) + static_cast<std::size_t>((ns >> (power - 4)) & 15U);
  }

  void record(std::uint64_t ns) noexcept {
    ++counts_[bucket_of(ns)];
    min_ns_ = std::min(min_ns_, ns);
    max_ns_ = std::max(max_ns_, ns);
  }
  void merge(const Histogram& other) noexcept {
    for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
    min_ns_ = std::min(min_ns_, other.min_ns_);
    max_ns_ = std::max(max_ns_, other.max_ns_);
  }

  [[nodiscard]] std::array<std::uint64_t, kBuckets>& counts() noexcept { return counts_; }
  /// 2^63 - 1 if nothing was recorded.
  [[nodiscard]] std::uint64_t min_ns() const noexcept { return min_ns_; }
  [[nodiscard]] std::uint64_t max_ns() const noexcept { return max_ns_; }
  void set_extremes(std::uint64_t min_ns, std::uint64_t max_ns) noexcept {
    min_ns_ = min_ns;
    max_ns_ = max_ns;
  }

  /// The document's form: only buckets that hold something.
  [[nodiscard]] schema::Histogram document() const;

 private:
  std::array<std::uint64_t, kBuckets> counts_{};
  // Not the greatest unsigned number: MPICH 4.0 finds minima as if numbers were signed.
  std::uint64_t min_ns_ = std::numeric_limits<std::int64_t>::max();
  std::uint64_t max_ns_ = 0;
};

}  // namespace venturi::measure
