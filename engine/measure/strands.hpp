// Operations of several kinds, one after the other: what each kind has in common is added up.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "measure/meter.hpp"

namespace venturi::measure {

/// As `Meter::Series` for operations of different kinds, where each may begin later than the one
/// before ended. The meter is complete after `settle`.
class Strands {
 public:
  explicit Strands(Meter& meter) noexcept : meter_(meter) {}
  Strands(const Strands&) = delete;
  Strands& operator=(const Strands&) = delete;
  ~Strands() { settle(); }

  /// One operation; `end_ns` is no earlier than `begin_ns`. Throws std::bad_alloc at the first of a
  /// kind.
  void add(schema::OperationKind kind, std::uint64_t begin_ns, std::uint64_t end_ns,
           std::uint64_t bytes) {
    std::optional<Meter::Series>& series = series_[static_cast<std::size_t>(kind)];
    if (series && series->only_counts(end_ns)) [[likely]] {
      return series->count(begin_ns, end_ns, bytes);
    }
    add_rarely(kind, begin_ns, end_ns, bytes);
  }
  void settle() noexcept {
    while (used_count_ > 0) used_[--used_count_]->reset();
  }

 private:
  /// Kept apart, so that counting needs no memory of its own.
  [[gnu::noinline, gnu::cold]] void add_rarely(schema::OperationKind kind, std::uint64_t begin_ns,
                                               std::uint64_t end_ns, std::uint64_t bytes) {
    std::optional<Meter::Series>& series = series_[static_cast<std::size_t>(kind)];
    if (!series) {
      series.emplace(meter_, kind, begin_ns);
      used_[used_count_++] = &series;
    }
    series->add_since(begin_ns, end_ns, OperationLog::kNoOffset, bytes);
  }

  Meter& meter_;
  std::array<std::optional<Meter::Series>, kKinds> series_;
  std::array<std::optional<Meter::Series>*, kKinds> used_{};
  std::size_t used_count_ = 0;
};

}  // namespace venturi::measure
