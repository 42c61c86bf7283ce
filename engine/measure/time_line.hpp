// What was completed when: bins whose width doubles as the phase grows longer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "schema/event.hpp"

namespace venturi::measure {

/// At most 256 bins from an epoch on; starts at 10 ms a bin.
class TimeLine {
 public:
  static constexpr std::size_t kBins = 256;
  static constexpr std::uint64_t kFirstWidthNs = 10'000'000;

  /// What happened in one bin.
  struct Bin {
    std::uint64_t bytes_written = 0;
    std::uint64_t bytes_read = 0;
    std::uint64_t operations = 0;

    void add(schema::OperationKind kind, std::uint64_t count, std::uint64_t bytes) noexcept {
      operations += count;
      if (kind == schema::OperationKind::kWrite) {
        bytes_written += bytes;
      } else if (kind == schema::OperationKind::kRead) {
        bytes_read += bytes;
      }
    }
  };

  explicit TimeLine(std::uint64_t epoch_ns = 0) noexcept
      : epoch_ns_(epoch_ns), begin_ns_(epoch_ns), end_ns_(epoch_ns + kFirstWidthNs) {}

  /// The bin in which something ended at `ns`; times before the epoch count at the epoch.
  Bin& at(std::uint64_t ns) noexcept {
    if (!is_at(ns)) move_to(ns);
    return bins_[current_];
  }
  /// Whether that is the bin of the time before.
  [[nodiscard]] bool is_at(std::uint64_t ns) const noexcept {
    return ns < end_ns_ && ns >= begin_ns_;
  }
  /// When the bin of the time before ends.
  [[nodiscard]] std::uint64_t end_ns() const noexcept { return end_ns_; }
  /// Makes bins at least this wide.
  void widen_to(std::uint64_t width_ns) noexcept {
    while (width_ns_ < width_ns) fold();
  }
  /// Adds another line, wherever its epoch is.
  void merge(const TimeLine& other) noexcept;

  [[nodiscard]] std::uint64_t width_ns() const noexcept { return width_ns_; }
  [[nodiscard]] std::uint64_t epoch_ns() const noexcept { return epoch_ns_; }
  [[nodiscard]] std::array<Bin, kBins>& bins() noexcept { return bins_; }

 private:
  void move_to(std::uint64_t ns) noexcept;
  void fold() noexcept;

  std::uint64_t epoch_ns_;
  std::uint64_t begin_ns_;
  std::uint64_t end_ns_;
  std::uint64_t width_ns_ = kFirstWidthNs;
  std::size_t current_ = 0;
  std::array<Bin, kBins> bins_{};
};

}  // namespace venturi::measure
