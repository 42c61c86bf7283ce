// Latencies to three digits in log-linear buckets: 1024 for each power of two; merging is adding.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/lazy_array.hpp"
#include "schema/event.hpp"

namespace venturi::measure {

/// Recording costs a few instructions; a bucket is at most 1/1024 of its values wide. Only the
/// pages of buckets that hold something take memory: two for each power of two.
class Histogram {
 public:
  static constexpr unsigned kBits = 10;
  /// Buckets of a row, which holds the values of a power of two (the first, all small ones).
  static constexpr std::size_t kRowBuckets = std::size_t{1} << kBits;
  static constexpr std::size_t kRows = 64 - kBits + 1;
  static constexpr std::size_t kBuckets = kRowBuckets * kRows;

  /// Bucket i < 2048 holds the value i; above, bucket i begins at
  /// (1024 + i % 1024) << (i / 1024 - 1).
  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t ns) noexcept {
    // The highest bit's number; written so that it takes one instruction.
    const unsigned highest = 63U ^ static_cast<unsigned>(std::countl_zero(ns | kRowBuckets));
    const unsigned shift = highest - kBits;
    return (std::size_t{shift} << kBits) + static_cast<std::size_t>(ns >> shift);
  }

  /// Throws std::bad_alloc.
  void record(std::uint64_t ns) {
    if (!is_ready()) [[unlikely]]
      prepare();
    count(ns);
  }
  /// The same once the histogram is ready.
  void count(std::uint64_t ns) noexcept {
    ++counts_[bucket_of(ns)];
    min_ns_ = std::min(min_ns_, ns);
    max_ns_ = std::max(max_ns_, ns);
  }
  /// For loops that count by themselves: the buckets, which are made if need be, and the extremes
  /// of what was counted. Throws std::bad_alloc.
  [[nodiscard]] std::uint64_t* counts() {
    if (!is_ready()) prepare();
    return &counts_[0];
  }
  void widen(std::uint64_t least_ns, std::uint64_t most_ns) noexcept {
    min_ns_ = std::min(min_ns_, least_ns);
    max_ns_ = std::max(max_ns_, most_ns);
  }
  [[nodiscard]] bool is_ready() const noexcept { return counts_.is_made(); }
  /// Takes the address space of all buckets. Throws std::bad_alloc.
  void prepare() { counts_.make(); }
  void merge(const Histogram& other);

  /// Whether there is something in each row.
  [[nodiscard]] std::array<bool, kRows> rows() const noexcept;
  /// The counts of a row, not of one that is empty.
  [[nodiscard]] std::span<const std::uint64_t> row(std::size_t row) const noexcept {
    return counts_.values().subspan(row * kRowBuckets, kRowBuckets);
  }
  /// 2^63 - 1 if nothing was recorded.
  [[nodiscard]] std::uint64_t min_ns() const noexcept { return min_ns_; }
  [[nodiscard]] std::uint64_t max_ns() const noexcept { return max_ns_; }

  /// The document's form: only buckets that hold something.
  [[nodiscard]] schema::Histogram document() const;

 private:
  base::LazyArray<std::uint64_t, kBuckets> counts_;
  // Not the greatest unsigned number: MPICH 4.0 finds minima as if numbers were signed.
  std::uint64_t min_ns_ = std::numeric_limits<std::int64_t>::max();
  std::uint64_t max_ns_ = 0;
};

/// Appends the buckets of a row that hold something.
void append_row(std::size_t row, std::span<const std::uint64_t> counts, schema::Histogram& out);

}  // namespace venturi::measure
