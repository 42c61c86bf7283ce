// The histogram as a document.
#include "measure/histogram.hpp"

namespace venturi::measure {

schema::Histogram Histogram::document() const {
  schema::Histogram out;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (counts_[i] == 0) continue;
    out.bucket.push_back(static_cast<std::int64_t>(i));
    out.count.push_back(static_cast<std::int64_t>(counts_[i]));
  }
  if (!out.bucket.empty()) {
    out.min_ns = static_cast<std::int64_t>(min_ns_);
    out.max_ns = static_cast<std::int64_t>(max_ns_);
  }
  return out;
}

}  // namespace venturi::measure
