// Rows of a histogram: which hold something, adding them, and writing them as a document.
#include "measure/histogram.hpp"

namespace venturi::measure {

// Rows outside of the extremes are empty, and looking at them would cost time.
std::array<bool, Histogram::kRows> Histogram::rows() const noexcept {
  std::array<bool, kRows> found{};
  if (!is_ready()) return found;
  const std::size_t last = bucket_of(max_ns_) / kRowBuckets;
  for (std::size_t i = bucket_of(min_ns_) / kRowBuckets; i <= last; ++i) {
    const std::span<const std::uint64_t> counts = row(i);
    found[i] = std::any_of(counts.begin(), counts.end(), [](std::uint64_t n) { return n != 0; });
  }
  return found;
}

void Histogram::merge(const Histogram& other) {
  const std::array<bool, kRows> filled = other.rows();
  for (std::size_t i = 0; i < kRows; ++i) {
    if (!filled[i]) continue;
    if (!is_ready()) prepare();
    const std::span<const std::uint64_t> theirs = other.row(i);
    for (std::size_t at = 0; at < kRowBuckets; ++at) {
      if (theirs[at] != 0) counts_[i * kRowBuckets + at] += theirs[at];
    }
  }
  min_ns_ = std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
}

schema::Histogram Histogram::document() const {
  schema::Histogram out;
  out.bits = kBits;
  const std::array<bool, kRows> filled = rows();
  for (std::size_t i = 0; i < kRows; ++i) {
    if (filled[i]) append_row(i, row(i), out);
  }
  if (!out.bucket.empty()) {
    out.min_ns = static_cast<std::int64_t>(min_ns_);
    out.max_ns = static_cast<std::int64_t>(max_ns_);
  }
  return out;
}

void append_row(std::size_t row, std::span<const std::uint64_t> counts, schema::Histogram& out) {
  for (std::size_t at = 0; at < counts.size(); ++at) {
    if (counts[at] == 0) continue;
    out.bucket.push_back(static_cast<std::int64_t>(row * Histogram::kRowBuckets + at));
    out.count.push_back(static_cast<std::int64_t>(counts[at]));
  }
}

}  // namespace venturi::measure
